"""The changes of each row of a large frame, checked against each other and completed.

All changes of a row are together, in their order. A change has the row before from the change before it, in
the columns of its own version of the table.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, union
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags, Numbers, first_of_groups, fixed_bytes
from ticdc_producer.model.event import REWRITE, Op
from ticdc_producer.model.shapes import CHANGE_LOG, IMAGE, TABLE_ROWS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import handle_keys, stored_key
from ticdc_producer.scenario.columns.row_images import columns_of, images_of
from ticdc_producer.scenario.frames.frame_changes import (
    FRAME_CHANGES,
    frame_changes,
    image_text,
    inserts_before,
    taken_rows,
    with_row_ids,
)
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import frame_rows, located
from ticdc_producer.scenario.frames.row_ids.part_ids import PartStarts
from ticdc_producer.scenario.frames.rows import COLUMNS

ROW = ("table_id", "row_key")
IN_ORDER = (*ROW, "commit_seq", "row_seq")
_WITH_STARTS = (*IN_ORDER, "op")
_GENERATES = "the changes before this one leave other rows in the table"


def partial_changes(engine: Engine, plan: FramePlan, starts: PartStarts | None = None) -> Dataset:
    """Return the changes of a frame, and the rows before it (shape ``FRAME_CHANGES``), in no order.

    :param starts: see ``frame_changes.frame_changes``.
    """
    rows = frame_rows(engine, plan.frame, plan.columns, COLUMNS)
    changes = rows.map(partial(frame_changes, plan, starts), FRAME_CHANGES)
    return located(union([rows_before(engine, plan), changes]), plan.file, plan.line)


def rows_before(engine: Engine, plan: FramePlan) -> Dataset:
    """Return the rows that the tables of a frame had before (shape ``FRAME_CHANGES``), in no order."""
    rows = [engine.of_batches(taken_rows(plan), FRAME_CHANGES)]
    for earlier in plan.earlier:
        changes = partial_changes(engine, earlier)
        for table in earlier.tables_after(plan.first_commit):
            if table.table_id in plan.table_ids:
                left = stored_rows(changes, earlier, table, plan.first_commit)
                rows.append(left.map(partial(_inserts, plan, table), FRAME_CHANGES))
    return union(rows)


def _inserts(plan: FramePlan, table: TableInfo, batches: Batches) -> Batches:
    """Yield rows as inserts of the commit -1.

    :param batches: shape ``STORED_ROWS``.
    """
    for batch in batches:
        columns = columns_of(batch.column("row"), len(table.sent))
        yield inserts_before(plan, table, dict(zip(table.sent, columns, strict=True)), batch.num_rows)


def complete(changes: Dataset, plan: FramePlan) -> Dataset:
    """Return complete changes (shape ``CHANGE_LOG``): those of a row follow each other, in their order.

    :param changes: shape ``FRAME_CHANGES``, in any order, and the starts of the rows with hidden row ids.
    """
    by_row = changes.shuffle(ROW, Order(_WITH_STARTS if plan.row_ids else IN_ORDER))
    return by_row.map(partial(_completed, plan), CHANGE_LOG)


def _completed(plan: FramePlan, batches: Batches) -> Batches:
    """Complete consecutive batches. Only the last change of the previous batch is kept."""
    last, replaced = None, 0
    for batch in with_row_ids(plan, batches) if plan.row_ids else batches:
        if batch.num_rows:
            known = batch if last is None else pa.concat_batches([last, batch])
            start = known.num_rows - batch.num_rows
            replacements = None
            if plan.versions_with_hidden_ids:
                replacements = _replacements(known, replaced)[start:]
                replaced = int(replacements[-1])
            yield _with_previous(plan, known, start, replacements)
            last = batch.slice(batch.num_rows - 1)


def _replacements(changes: pa.RecordBatch, before: int) -> Numbers:
    """Return how many rows each transaction has inserted at a key that it had deleted, up to each change.

    >>> ops = np.array([Op.DELETE, Op.INSERT, Op.UPDATE, Op.INSERT], np.int8)
    >>> rows = {"table_id": [1, 1, 1, 1], "row_key": [b"a", b"a", b"a", b"b"], "commit_seq": [5, 5, 5, 5]}
    >>> changes = pa.record_batch(rows | {"op": ops})
    >>> _replacements(changes, 0).tolist(), _replacements(changes.slice(1), 1).tolist()
    ([0, 1, 1, 0], [1, 1, 0])

    :param changes: in ``IN_ORDER``.
    :param before: the number of the first change.
    """
    first = first_of_groups(changes, (*ROW, "commit_seq"))
    inserted = np.cumsum((changes.column("op").to_numpy() == Op.INSERT) & ~first)
    starts = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    replacements: Numbers = inserted - inserted[starts] + np.where(starts == 0, before, 0)
    return replacements


def _with_previous(
    plan: FramePlan, known: pa.RecordBatch, start: int, replacements: Numbers | None
) -> pa.RecordBatch:
    """Return changes with the rows before them, without the rows that were there before the frame.

    :param known: the changes, from ``start`` on, and the one before them.
    :param replacements: of the changes, see :func:`_replacements`; None: no table has hidden ids.
    """
    changes = known.slice(start)
    check = _Check(plan, known, start)
    before = check.checked_rows_before()
    count = changes.num_rows
    columns = {
        **{name: changes.column(name) for name in changes.schema.names},
        "op": pc.if_else(pa.array(check.rewrites()), pa.scalar(REWRITE, pa.int8()), changes.column("op")),
        "before": before,
        "row_key": _mutation_keys(plan, changes, replacements),
        "old_table_id": pa.nulls(count),
        "old_row_key": pa.nulls(count),
        "old_row_id": pa.nulls(count),
    }
    arrays = [columns[field.name].cast(field.type) for field in CHANGE_LOG]
    complete_changes = pa.record_batch(arrays, schema=CHANGE_LOG)
    given = pc.greater_equal(changes.column("commit_seq"), 0)
    return complete_changes if pc.all(given).as_py() else complete_changes.filter(given)


def _mutation_keys(plan: FramePlan, changes: pa.RecordBatch, replacements: Numbers | None) -> pa.Array:
    """Return the row keys of changes, by which a transaction's changes are collapsed and ordered.

    These are the keys of the hidden ids, where they are known. Where they are not, a row that a transaction
    inserts after it deleted one of the same handle key has a key of its own. TiDB gives it another id, and
    TiCDC sends a delete and an insert, not an update.
    """
    keys, ids = changes.column("row_key"), changes.column("row_id").to_numpy()
    hidden = np.isin(changes.column("table_version").to_numpy(), plan.versions_with_hidden_ids)
    known = (ids != 0) & (hidden | plan.canonical)
    if known.any():
        keys = pc.if_else(pa.array(known), handle_keys(ids), keys)
    if replacements is None:
        return keys
    again = hidden & ~known & (replacements > 0)
    if not again.any():
        return keys
    suffixes = pc.if_else(
        pa.array(again), fixed_bytes(replacements.astype(">u8")[:, None].view(np.uint8)), b""
    )
    return pc.binary_join_element_wise(keys, suffixes, b"")


class _Check:
    """Consecutive changes, in ``IN_ORDER``.

    :param start: number of the first change that is checked; the one before it is known.
    """

    def __init__(self, plan: FramePlan, changes: pa.RecordBatch, start: int) -> None:
        self.plan, self.changes, self.start = plan, changes, start
        self.own = changes.slice(start)
        self.previous = np.arange(start - 1, changes.num_rows - 1)
        self.first = first_of_groups(changes, ROW)[start:]

    def checked_rows_before(self) -> pa.ListArray:
        """Return the rows before the changes.

        :raises ScenarioError: for changes of a row that contradict each other.
        """
        same = ~first_of_groups(self.changes, IN_ORDER)[self.start :]
        if same.any():
            what = "two changes of one row have the same position in their transaction"
            raise self._error(what, same, "the column seq gives the order of the changes of one row")
        left = self.changes.column("after").is_valid().to_numpy(zero_copy_only=False)
        exists = left[self.previous] & ~self.first
        inserts = self.own.column("op").to_numpy() == Op.INSERT
        if (inserts & exists).any():
            raise self._duplicate(inserts & exists)
        if (~inserts & ~exists).any():
            raise self._error("the change of a row that does not exist", ~inserts & ~exists, _GENERATES)
        if self.plan.canonical:
            return self._with_given(exists)
        before = self._left_rows()
        self._check_given(before, exists)
        return before

    def rewrites(self) -> Flags:
        """Return which changes find a row that is stored with other columns than its table has now."""
        layouts, versions = self.plan.versions.layouts, self.changes.column("table_version").to_numpy()
        others = layouts[versions[self.previous]] != layouts[versions[self.start :]]
        flags: Flags = others & ~self.first & (self.own.column("op").to_numpy() != Op.INSERT)
        return flags

    def _with_given(self, exists: Flags) -> pa.ListArray:
        """Return the rows before with the values that the frame gives.

        They count where they differ: an upstream may have changed the row unseen, as ADD COLUMN with the time
        as DEFAULT does.
        """
        given, masks = self.own.column("before"), self.own.column("given")
        are_whole = masks.null_count == len(masks)
        present = given.is_valid().to_numpy(zero_copy_only=False)
        if are_whole and (present == exists).all():
            return given
        before, sent = self._left_rows(), exists & present
        if not sent.any():
            return before
        if are_whole:
            return pc.if_else(pa.array(sent), given, before)
        versions = self.own.column("table_version").to_numpy()
        images, order = [], []
        for version in np.unique(versions).tolist():
            rows = np.flatnonzero(versions == version)
            at, width = pa.array(rows), len(self.plan.versions.table[version].sent)
            flags = _flags(masks.take(at), width)
            lists = zip(columns_of(given.take(at), width), columns_of(before.take(at), width), strict=True)
            columns = {
                index: pc.if_else(pa.array(flags[index] & sent[rows]), of_frame, stored)
                for index, (of_frame, stored) in enumerate(lists)
            }
            images.append(images_of(columns, exists[rows]))
            order.append(rows)
        return pa.concat_arrays(images).take(pa.array(np.argsort(np.concatenate(order))))

    def _left_rows(self) -> pa.ListArray:
        """Return what the previous change of each row left, in the version of the change."""
        left = self.changes.column("after").take(pa.array(self.previous, mask=self.first))
        versions = self.changes.column("table_version").to_numpy().astype(np.int64)
        return self.plan.versions.converted(left, versions[self.previous], versions[self.start :])

    def _check_given(self, before: pa.ListArray, exists: Flags) -> None:
        """Check that the rows before that the frame gives are those that exist."""
        given = self.own.column("before")
        compared = exists & given.is_valid().to_numpy(zero_copy_only=False)
        versions = self.own.column("table_version").to_numpy()
        masks = self.own.column("given")
        differs = np.zeros(len(versions), bool)
        for version in np.unique(versions[compared]).tolist():
            rows = np.flatnonzero(compared & (versions == version))
            at, table = pa.array(rows), self.plan.versions.table[version]
            width = len(table.sent)
            lists = zip(columns_of(given.take(at), width), columns_of(before.take(at), width), strict=True)
            given_flags = _flags(masks.take(at), width)
            for index, (of_frame, stored) in enumerate(lists):
                plain = _without_blanks(stored) if table.sent[index] in table.padded else stored
                differs[rows] |= given_flags[index] & ~_same(of_frame, plain)
        if differs.any():
            row = int(np.flatnonzero(differs)[0])
            what = f"{self._table(row).qualified_name} holds {self._text(before, row)}"
            origin = self._origin(int(self.previous[row]))
            raise self._error(f"{what} {origin} and not the row before", differs, _GENERATES)

    def _table(self, row: int) -> TableInfo:
        return self.plan.versions.table[self.own.column("table_version")[row].as_py()]

    def _text(self, images: pa.ListArray, row: int) -> str:
        """Return an image as text, for messages."""
        return image_text(self._table(row), images[row].as_py())

    def _origin(self, change: int) -> str:
        """Return the transaction of a change as text, for messages."""
        return self.plan.origin(self.changes.column("commit_seq")[change].as_py())

    def _duplicate(self, wrong: Flags) -> ScenarioError:
        row = int(np.flatnonzero(wrong)[0])
        table, key = self._table(row), stored_key(self._table(row))
        image = self.own.column("after")[row].as_py()
        entry = "-".join(
            (image[table.sent.index(offset)] or b"").decode("utf-8", "backslashreplace")
            for offset in key.offsets
        )
        what = f"Duplicate entry {entry!r} for key '{table.name}.{key.index.name}': it is the key of "
        other = image_text(table, self._left_rows()[row].as_py())
        return self._error(f"{what}{other} {self._origin(int(self.previous[row]))}", wrong, "")

    def _error(self, what: str, wrong: Flags, hint: str) -> ScenarioError:
        """Return an error with the content of the first of some changes."""
        row = int(np.flatnonzero(wrong)[0])
        change = self.own.slice(row, 1).to_pylist()[0]
        table = self._table(row)
        images = [image_text(table, change[name]) for name in ("before", "after") if change[name] is not None]
        op = Op(change["op"]).name.lower()
        at = f"{op} {' → '.join(images)} in {table.qualified_name}"
        number = self.plan.numbering.text(change["commit_seq"])
        return ScenarioError(f"{what}, in the {at}, {number}", hint=hint)


def _flags(masks: pa.Array, width: int) -> list[Flags]:
    """Return whether each column of images is given.

    >>> [flags.tolist() for flags in _flags(pa.array([bytes([1, 0]), None]), 2)]
    [[True, True], [False, True]]
    """
    rows = len(masks)
    if masks.null_count == rows:
        return [np.ones(rows, bool)] * width
    filled = pc.fill_null(masks, b"\x01" * width)
    matrix = np.frombuffer(b"".join(filled.to_pylist()), np.uint8).reshape(rows, width).astype(bool)
    return [matrix[:, index] for index in range(width)]


def _same(left: pa.Array, right: pa.Array) -> Flags:
    """Return whether the values of each row are equal; NULL is equal to NULL."""
    both_null = pc.and_(left.is_null(), right.is_null())
    equal = pc.if_else(both_null, True, pc.fill_null(pc.equal(left, right), False))
    flags: Flags = equal.to_numpy(zero_copy_only=False)
    return flags


def _without_blanks(values: pa.Array) -> pa.Array:
    """Return texts without trailing blanks: statements do not see those of a DEFAULT of a CHAR column.

    A text may have bytes that are no UTF-8.

    >>> _without_blanks(pa.array([b"\\xff  ", None])).to_pylist()
    [b'\\xff', None]
    """
    return pc.ascii_rtrim(values.cast(pa.string(), safe=False), " ").cast(pa.binary())


_LEFT = pa.schema([
    ("table_id", pa.int64()), ("row_key", pa.binary()), ("commit_seq", pa.int64()), ("row_seq", pa.int64()),
    ("table_version", pa.int32()), ("row", IMAGE),
])  # fmt: skip


STORED_ROWS = pa.schema([field for field in _LEFT if not field.name.endswith("_seq")])
"""Rows of one version of a table, and the version in which they were stored."""


def rows_after(changes: Dataset, plan: FramePlan, table: TableInfo, commits: int | None) -> Dataset:
    """Return the rows of a table after some commits (shape ``TABLE_ROWS``), in no order.

    :param changes: shape ``FRAME_CHANGES``, in any order.
    :param table: the table as it is then.
    :param commits: number of commits of the whole history; None: all.
    """
    return stored_rows(changes, plan, table, commits).map(partial(_table_rows, table), TABLE_ROWS)


def stored_rows(changes: Dataset, plan: FramePlan, table: TableInfo, commits: int | None) -> Dataset:
    """Return the rows of a table after some commits (shape ``STORED_ROWS``), as ``rows_after``."""
    left = changes.map(partial(_left, table, commits), _LEFT)
    in_order = left.shuffle(ROW, Order(IN_ORDER))
    return in_order.map_groups(partial(_last_rows, plan, table), ROW, STORED_ROWS)


def _left(table: TableInfo, commits: int | None, batches: Batches) -> Batches:
    """Yield what each change leaves at its key."""
    ids = pa.array([part.id for part in table.partitions] or [table.table_id], pa.int64())
    for batch in batches:
        counts = pc.is_in(batch.column("table_id"), ids)
        if commits is not None:
            counts = pc.and_(counts, pc.less(batch.column("commit_seq"), commits))
        yield batch.filter(counts).rename_columns({"after": "row"}).select(_LEFT.names)


def _last_rows(plan: FramePlan, table: TableInfo, left: pa.RecordBatch) -> pa.RecordBatch:
    """Return the last row at each key, if there is one, in the columns of the table."""
    last = left.filter(pa.array(np.roll(first_of_groups(left, ROW), -1)))
    rows = last.filter(last.column("row").is_valid())
    versions = rows.column("table_version").to_numpy().astype(np.int64)
    images = plan.versions.converted(rows.column("row"), versions, np.full(len(versions), table.version))
    return rows.set_column(rows.schema.names.index("row"), "row", images).select(STORED_ROWS.names)


def _table_rows(table: TableInfo, batches: Batches) -> Batches:
    """Yield rows as statements read them.

    :param batches: shape ``STORED_ROWS``.
    """
    for rows in batches:
        images, keys = rows.column("row"), rows.column("row_key")
        if table.padded and rows.num_rows:
            columns = columns_of(images, len(table.sent))
            for offset in set(table.padded) & set(table.sent):
                index = table.sent.index(offset)
                columns[index] = _without_blanks(columns[index])
            images = images_of(dict(enumerate(columns)), np.ones(rows.num_rows, bool))
        if table.partitions:  # the rows of a partition follow each other
            numbers = rows.column("table_id").to_numpy().astype(">i8")
            homes = fixed_bytes(numbers.view(np.uint8).reshape(-1, 8))
            keys = pc.binary_join_element_wise(homes, keys, b"")
        yield pa.record_batch([keys, images], schema=TABLE_ROWS)
