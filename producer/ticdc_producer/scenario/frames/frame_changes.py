"""Converts the rows of a large frame to changes, those of a table version at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers, fixed_bytes
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import read
from ticdc_producer.scenario.columns.key_columns import row_keys, stored_key
from ticdc_producer.scenario.columns.row_images import Values, images_of
from ticdc_producer.scenario.columns.value_columns import null_error
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.image_values import ImageValues, canonical_values, image_values
from ticdc_producer.scenario.frames.row_ids.part_ids import PartStarts, with_part_ids
from ticdc_producer.scenario.frames.rows import text_of
from ticdc_producer.scenario.frames.version_rows import rows_by_version
from ticdc_producer.scenario.sql.definition.partition_columns import partitions_of_rows

GIVEN = pa.field("given", pa.binary())
STARTS = -1
"""The operation of a row of ``FRAME_CHANGES`` that is no change: it has the hidden row id of the row that the
change at its position inserts or moves to its key."""
FRAME_CHANGES = pa.schema([*(f for f in CHANGE_LOG if not f.name.startswith("old_")), GIVEN])
"""Changes of rows at one key: an update that moves its row is a delete and an insert.

``before`` is the row as the frame gives it, NULL for an update without it; ``given`` has a byte for each of
its columns, 1 if the frame gives it; NULL: it gives all."""


def frame_changes(plan: FramePlan, starts: PartStarts | None, batches: Batches) -> Batches:
    """Yield the changes of rows of a frame (shape ``FRAME_CHANGES``).

    :param starts: the ids before its parts, which give ids to inserted rows; None: inserted rows have none.
    :param batches: rows of the frame, with the columns of ``frame_rows.frame_rows``.
    :raises ScenarioError: for a row that does not say what it does, and for values that do not fit.
    """
    read = canonical_values if plan.canonical else image_values
    of_versions = (rows for batch in batches for rows in rows_by_version(plan, batch))
    for rows in of_versions if starts is None else with_part_ids(plan, starts, batches):
        columns = (rows.before, rows.after)
        images = (read(rows.table, column, plan.mode, rows=rows.image_rows) for column in columns)
        changes = VersionChanges(plan, rows.table, rows.ops, rows.existed, rows.exists, *images)
        yield changes.batch(rows.commits, rows.seq, rows.row_ids)


def taken_rows(plan: FramePlan) -> Iterator[pa.RecordBatch]:
    """Yield the rows that SQL left in the tables as inserts of the commit -1 (shape ``FRAME_CHANGES``)."""
    for table, rows in plan.rows_before:
        ids, values = zip(*rows, strict=True)
        columns = [pa.array(column, pa.binary()) for column in zip(*values, strict=True)]
        given = np.array(ids, np.int64) if table.table_id in plan.row_ids else None
        yield inserts_before(plan, table, dict(enumerate(columns)), len(rows), given)


def inserts_before(
    plan: FramePlan, table: TableInfo, columns: Values, count: int, row_ids: Numbers | None = None
) -> pa.RecordBatch:
    """Return rows as inserts of the commit -1 (shape ``FRAME_CHANGES``).

    >>> from types import SimpleNamespace
    >>> from ticdc_producer.model.column import IndexInfo
    >>> from ticdc_producer.model.mysql_type import MySQLType
    >>> key = IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True)
    >>> columns = (ColumnInfo(name="id", type=MySQLType.LONG),)
    >>> table = TableInfo(schema="s", name="t", table_id=7, columns=columns, indexes=(key,))
    >>> plan, values = SimpleNamespace(partitioning={}, deletes_by_key=False), pa.array([b"1", b"2"])
    >>> rows = inserts_before(plan, table, {0: values}, 2, np.array([8, 9]))
    >>> rows.select(["commit_seq", "row_id", "before", "after"]).to_pydict()
    {'commit_seq': [-1, -1], 'row_id': [8, 9], 'before': [None, None], 'after': [[b'1'], [b'2']]}

    :param columns: by offset.
    :param row_ids: their hidden ids; None: they are not known.
    """
    none = np.zeros(count, bool)
    changes = VersionChanges(
        plan,
        table,
        np.full(count, int(Op.INSERT)),
        none,
        ~none,
        ImageValues({}, {}),
        ImageValues(columns, {}),
    )
    return changes.batch(np.full(count, -1), np.zeros(count, np.int64), row_ids)


def with_row_ids(plan: FramePlan, batches: Batches) -> Batches:
    """Yield changes with the hidden row ids of their rows: each has the last one that is given.

    >>> from types import SimpleNamespace
    >>> columns = {"op": [STARTS, Op.INSERT, Op.UPDATE, STARTS, Op.INSERT], "row_id": [7, 0, 0, 8, 0]}
    >>> columns |= {"table_version": [1] * 5}
    >>> batches = with_row_ids(SimpleNamespace(versions_with_row_ids=[1]), iter([pa.record_batch(columns)]))
    >>> [batch["row_id"].to_pylist() for batch in batches]
    [[7, 7, 8]]

    :param batches: with starts, or with the ids of inserted rows, in ``frame_histories.IN_ORDER``.
    """
    last = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        ops, ids = batch.column("op").to_numpy(), batch.column("row_id").to_numpy()
        own = np.isin(batch.column("table_version").to_numpy(), plan.versions_with_row_ids)
        at = np.maximum.accumulate(np.where(own & (ids != 0), np.arange(len(ids)), -1))
        following = np.where(at < 0, last, ids[at])
        last = int(following[-1])
        index = batch.schema.get_field_index("row_id")
        row_ids = pa.array(np.where(own, following, ids))
        yield batch.set_column(index, batch.schema.field(index), row_ids).filter(pa.array(ops != STARTS))


Locations: TypeAlias = tuple[pa.Array, pa.Array, Numbers]
"""The keys, the integer handles and the physical table ids of rows."""


@dataclass(frozen=True)
class VersionChanges:
    """Changes of the rows of one version of a table.

    :param before: the values of the rows before; NULL where ``existed`` is not set.
    """

    plan: FramePlan
    table: TableInfo
    ops: Numbers
    existed: Flags
    exists: Flags
    before: ImageValues
    after: ImageValues

    def batch(self, commits: Numbers, seq: Numbers, row_ids: Numbers | None = None) -> pa.RecordBatch:
        """Return the changes (shape ``FRAME_CHANGES``): first deletes, also those of rows that move.

        >>> from types import SimpleNamespace
        >>> from ticdc_producer.model.column import ColumnInfo, IndexInfo
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> keys = (IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True),)
        >>> columns = (ColumnInfo(name="id", type=MySQLType.LONG),)
        >>> table = TableInfo(schema="s", name="t", table_id=1, columns=columns, indexes=keys)
        >>> lists = ([None, b"2", b"3"], [b"1", b"2", b"9"])  # INSERT, UPDATE, and UPDATE of the key
        >>> images = [ImageValues({0: pa.array(values)}, {}) for values in lists]
        >>> flags, ops = (np.array([False, True, True]), np.ones(3, bool)), np.array([1, 2, 2])
        >>> plan = SimpleNamespace(partitioning={}, deletes_by_key=False)
        >>> changes = VersionChanges(plan, table, ops, *flags, *images)
        >>> for change in changes.batch(np.zeros(3, int), np.arange(3)).to_pylist():
        ...     print(change["row_seq"], Op(change["op"]).name, change["before"], change["after"])
        2 DELETE [b'3'] None
        0 INSERT None [b'1']
        1 UPDATE [b'2'] [b'2']
        2 INSERT None [b'9']

        :param row_ids: the hidden ids of the rows, if the frame gives them.
        :raises ScenarioError: for a column without a value, and for a row without a key.
        """
        before, after = self.old_values(self.table.sent), self.new_values(self.table.sent)
        (old_keys, old_ids, old_homes), (keys, ids, homes), moved = self.locations(before, after)
        if row_ids is not None and not stored_key(self.table).integer:
            old_ids = ids = pa.array(row_ids)
        leaves, stays = np.flatnonzero((self.existed & ~self.exists) | moved), np.flatnonzero(self.exists)
        rows = np.concatenate([leaves, stays])
        left = np.arange(len(rows)) < len(leaves)
        of_old = pa.array(left)
        op = np.where(moved[rows], np.where(left, int(Op.DELETE), int(Op.INSERT)), self.ops[rows])
        columns = {
            "commit_seq": commits[rows],
            "row_seq": seq[rows],
            "table_version": np.full(len(rows), self.table.version),
            "table_id": np.where(left, old_homes[rows], homes[rows]),
            "row_key": pc.if_else(of_old, old_keys.take(pa.array(rows)), keys.take(pa.array(rows))),
            "row_id": pc.if_else(of_old, old_ids.take(pa.array(rows)), ids.take(pa.array(rows))),
            "op": op,
            "before": images_of(before, self.existed[rows] & (left | ~moved[rows]), rows),
            "after": images_of(after, self.exists[rows] & ~left, rows),
            "given": self._given().take(pa.array(rows)),
        }
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in FRAME_CHANGES]
        return pa.record_batch(arrays, schema=FRAME_CHANGES)

    def locations(
        self, before: dict[int, pa.Array], after: dict[int, pa.Array]
    ) -> tuple[Locations, Locations, Flags]:
        """Return where the rows are before and after the changes, and which changes move their rows.

        :param before: values by offset, among them those of the key, like ``after``.
        :raises ScenarioError: for a row without a key or a partition.
        """
        old_keys, old_ids = self._keys(before, self.existed)
        keys, ids = self._keys(after, self.exists)
        old_homes, homes = self.homes(before, self.existed), self.homes(after, self.exists)
        same = pc.fill_null(pc.equal(old_keys, keys), False).to_numpy(zero_copy_only=False)
        moved = self.existed & self.exists & ~(same & (old_homes == homes))
        return (old_keys, old_ids, old_homes), (keys, ids, homes), moved

    def old_values(self, offsets: Sequence[int]) -> dict[int, pa.Array]:
        """Return the values of some columns of the rows before, NULL if they are not given."""
        none = pa.nulls(len(self.ops), pa.binary())
        return {offset: self.before.values.get(offset, none) for offset in offsets}

    def new_values(self, offsets: Sequence[int]) -> dict[int, pa.Array]:
        """Return the values of some columns of the rows after.

        A column without a value has its DEFAULT in an insert, and the value before in an update.
        """
        values: dict[int, pa.Array] = {}
        inserted = (self.ops == Op.INSERT) & self.exists
        for offset in offsets:
            column = self.after.values.get(offset, pa.nulls(len(self.ops), pa.binary()))
            lacking = self.after.missing.get(offset)
            if lacking is not None and (lasting := lacking & ~inserted).any():
                column = self._with_old_values(offset, column, lasting)
            if lacking is not None and (new := lacking & inserted).any():
                column = pc.if_else(pa.array(new), pa.scalar(self._default(offset), pa.binary()), column)
            definition = self.table.columns[offset]
            if (
                not definition.nullable
                and (column.is_null().to_numpy(zero_copy_only=False) & self.exists).any()
            ):
                raise self._no_null(offset)
            if definition.auto_increment or definition.auto_random:
                self._check_ids(definition, column, inserted)
            values[offset] = column
        return values

    def _check_ids(self, column: ColumnInfo, values: pa.Array, inserted: Flags) -> None:
        """Check that no inserted row takes an id of the table, as 0 does.

        Source: tidb ``InsertValues.lazyAdjustAutoIncrementDatum``.
        """
        if self.plan.canonical or not self.plan.mode.auto_value_on_zero:
            return
        zero = pc.fill_null(pc.equal(values, b"0"), False).to_numpy(zero_copy_only=False)
        if (zero & inserted).any():
            what = f"column {column.name!r} is 0: a large DataFrame gives the values that TiDB computes"
            hint = "give the id, or SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO' in a step before, for a row with 0"
            raise UnsupportedSQL(what, column=column.name, hint=hint)

    def _with_old_values(self, offset: int, column: pa.Array, rows: Flags) -> pa.Array:
        """Take the value before of a column that the row after does not have."""
        old, unknown = self.before.values.get(offset), self.before.missing.get(offset, ~self.existed)
        if old is None or (rows & (unknown | ~self.existed)).any():
            name = self.table.columns[offset].name
            what = f"an update of {self.table.qualified_name} has no value of column {name!r}"
            hint = "after or before has all columns in a DataFrame of more than 100,000 rows"
            raise UnsupportedSQL(what, column=name, hint=hint)
        return pc.if_else(pa.array(rows), old, column)

    def _default(self, offset: int) -> bytes | None:
        """Return the DEFAULT of a column.

        :raises ScenarioError: for a column that must have a value.
        """
        column = self.table.columns[offset]
        if column.auto_increment or column.auto_random or column.generated or column.default_expression:
            what = (
                f"column {column.name!r} has no value: a large DataFrame gives the values that TiDB computes"
            )
            raise UnsupportedSQL(what, column=column.name)
        if column.has_default:
            return column.default
        if column.nullable and not column.default_dropped:
            return None
        raise ScenarioError(f"Field {column.name!r} doesn't have a default value", column=column.name)

    def _no_null(self, offset: int) -> ScenarioError:
        return null_error(self.table.columns[offset])

    def _keys(self, values: dict[int, pa.Array], present: Flags) -> tuple[pa.Array, pa.Array]:
        """Return the keys and the integer handles of rows; NULL where there is no row."""
        if not present.any():
            return pa.nulls(len(present), pa.binary()), pa.nulls(len(present), pa.int64())
        key = stored_key(self.table)
        for offset in key.offsets:
            if (present & values[offset].is_null().to_numpy(zero_copy_only=False)).any():
                name = self.table.columns[offset].name
                raise ScenarioError(f"column {name!r} of the row's key has no value", column=name)
        return row_keys(key, values)

    def homes(self, values: dict[int, pa.Array], present: Flags) -> Numbers:
        """Return the physical table ids of rows: those of their partitions.

        >>> from types import SimpleNamespace
        >>> from ticdc_producer.model.column import ColumnInfo
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> from ticdc_producer.model.table import PartitionInfo
        >>> from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
        >>> parts = tuple(PartitionInfo(id=number, name=f"p{number}") for number in (100, 101))
        >>> columns = (ColumnInfo(name="id", type=MySQLType.LONG),)
        >>> table = TableInfo(schema="s", name="t", table_id=1, columns=columns, partitions=parts)
        >>> partitioning = Partitioning(kind="HASH", expression="id", count=2)
        >>> changes = VersionChanges(SimpleNamespace(partitioning={0: partitioning}), table, *[None] * 5)
        >>> changes.homes({0: pa.array([b"4", b"5", None])}, np.array([True, True, False])).tolist()
        [100, 101, 1]

        :raises ScenarioError: for a row without a partition.
        """
        partitioning = self.plan.partitioning.get(self.table.version)
        if partitioning is None or not present.any():
            return np.full(len(present), self.table.table_id)
        used = partitioning.uses()
        virtual = [c.name for c in self.table.columns if c.is_virtual and c.name.lower() in used]
        if virtual:
            what = f"{self.table.qualified_name} is partitioned by the virtual column {virtual[0]!r}"
            raise UnsupportedSQL(f"{what}: not supported in a large DataFrame", column=virtual[0])
        none = pa.nulls(len(present), pa.binary())
        columns = [values.get(offset, none) for offset in range(len(self.table.columns))]
        rows = pa.array(np.flatnonzero(present))
        parts = partitions_of_rows(partitioning, self.table, [column.take(rows) for column in columns])
        if (parts < 0).any():
            row = int(rows[int(np.flatnonzero(parts < 0)[0])].as_py())
            image = [values[offset][row].as_py() for offset in self.table.sent]
            what = f"table {self.table.qualified_name} has no partition for a row"
            raise ScenarioError(f"{what}: {image_text(self.table, image)}")
        homes = np.full(len(present), self.table.table_id)
        homes[present] = np.array([each.id for each in self.table.partitions], np.int64)[parts]
        return homes

    def _given(self) -> pa.Array:
        """Return which columns of the rows before are given (``GIVEN``)."""
        rows, sent = len(self.ops), self.table.sent
        absent = [offset for offset in sent if offset in self.before.missing]
        by_key = self.plan.deletes_by_key
        if not absent and not by_key:
            return pa.nulls(rows, pa.binary())
        given = np.ones((rows, len(sent)), np.uint8)
        if by_key:
            key = stored_key(self.table).offsets
            given[self.ops == Op.DELETE] = [offset in key for offset in sent]
        for offset in absent:
            given[:, sent.index(offset)] = ~self.before.missing[offset]
        partial = ~given.all(axis=1) & self.existed
        return pc.if_else(pa.array(partial), fixed_bytes(given), None)


def image_text(table: TableInfo, image: Sequence[Value]) -> str:
    """Return an image as text, for messages."""
    columns = zip(table.sent_columns, image, strict=True)
    return text_of({column.name: read(column, value) for column, value in columns if not column.hidden})
