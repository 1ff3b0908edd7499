"""The hidden row ids (``_tidb_rowid``) of the rows of a large frame.

TiDB gives each inserted row the next id of its table, and a row that moves to another partition a new one.
The number of ids that are taken before a position follows from counts by range of commits, which are few,
and from the order of the positions in a range. A row retains its id when its handle key changes: each such
change is linked to the change that brought the row to the former key, until all links end at a known id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part, Sides
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Numbers, first_of_groups
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.scenario.columns.key_columns import stored_key
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, STARTS, VersionChanges
from ticdc_producer.scenario.frames.frame_histories import IN_ORDER, ROW, rows_before
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import frame_rows, located
from ticdc_producer.scenario.frames.image_values import image_values
from ticdc_producer.scenario.frames.rows import COLUMNS
from ticdc_producer.scenario.frames.version_rows import VersionRows, rows_by_version
from ticdc_producer.scenario.sql.store.allocator import ids_exhausted
from ticdc_producer.scenario.sql.store.followed_tables import FollowedTables

_TAKES, _USES, _ENTERS, _LEAVES = range(4)
"""What a change does: it takes an id for the row at its key; gives the AUTO_INCREMENT column a value; moves a
row to its key, or away from it."""
_RANGES = 4096
"""Ranges of commits, of all tables; a range of a table is counted in order by one task."""
_LAST_ID = (1 << 63) - 1

_AT = [
    ("table_id", pa.int64()),
    ("row_key", pa.binary()),
    ("commit_seq", pa.int64()),
    ("row_seq", pa.int64()),
]
_STEPS = pa.schema([*_AT, ("table_version", pa.int32()), ("table", pa.int64()), ("range", pa.int64()),
                    ("step", pa.int8()), ("used", pa.int64()), ("row_id", pa.int64()),
                    ("new_key", pa.binary())])  # fmt: skip
"""What changes do with ids. ``table`` is the logical id; ``used`` is the value of an AUTO_INCREMENT column with
the same counter; ``new_key`` is the key to which a row leaves."""
_LINKS = pa.schema([*_AT, ("table_version", pa.int32()), ("row_id", pa.int64()), ("from_commit", pa.int64()),
                    ("from_seq", pa.int64())])  # fmt: skip
"""Changes of a key, at the new key: the id of the row, or the position of the change that brought it to the
former key."""
_HASH = pa.field("position", pa.int64())
_GROUP = ("table", "range")
_Group: TypeAlias = tuple[int, int]
"""Table and range of commits."""


@dataclass(frozen=True)
class _Sum:
    """What consecutive changes do with a counter.

    :param taken: number of ids that they take.
    :param used: the highest value that one of them uses, less the ids taken before it; None: none does.
    """

    taken: int = 0
    used: int | None = None

    def after(self, last: int) -> int:
        """Return the last id after the changes, given that before them.

        >>> (_Sum(2) + _Sum(1, 9) + _Sum(1)).after(3), (_Sum(2) + _Sum(1, 9) + _Sum(1)).after(20)
        (11, 24)
        """
        return self.taken + (last if self.used is None else max(last, self.used))

    def __add__(self, other: _Sum) -> _Sum:
        used = [self.used] if self.used is not None else []
        used += [other.used - self.taken] if other.used is not None else []
        return _Sum(self.taken + other.taken, max(used, default=None))


def counted_tables(
    followed: FollowedTables,
    earlier: Iterable[FramePlan],
    unordered: Callable[[Collection[str]], Collection[str]],
) -> tuple[dict[int, int], frozenset[int], dict[str, str]]:
    """Return the tables whose rows get hidden row ids, and why those of others without a clustered key do not.

    :param followed: the tables of a frame, after its statements.
    :param earlier: the frames that filled some of them before.
    :param unordered: returns those of some names of tables of which two rows have one position.
    :return: by the id of a table the last id before the frame; those of these tables whose AUTO_INCREMENT
        column has the same counter; by the name of a table the reason.
    """
    filled_before = {number for plan in earlier for number in plan.table_ids}
    names: dict[int, set[str]] = {}
    tables: dict[int, TableInfo] = {}
    for entry in followed.entries:
        if entry.table is not None and entry.table.clustered_key is None and followed.fills(entry.table):
            tables[entry.table.table_id] = entry.table
            names.setdefault(entry.table.table_id, set()).add(entry.name[1])
    without_order = unordered({name for each in names.values() for name in each}) if names else ()
    counters, sharing, reasons = dict[int, int](), set[int](), dict[str, str]()
    for number, table in tables.items():
        ids, now = followed.counters[number]
        if names[number] & {*without_order}:
            reason = "two of its rows have one position: a column with the position of a row is needed"
        elif number in filled_before:
            reason = "an earlier large DataFrame has filled it"
        elif ids.cache != 1 and not all(_counts_signed(table.columns[i]) for i in table.auto_increment):
            reason = "the values of its AUTO_INCREMENT column are no signed integers"
        elif ids.shard_bits:
            reason = "it has SHARD_ROW_ID_BITS"
        elif ids != now:
            reason = "a statement of the DataFrame changes its counter"
        else:
            counters[number] = ids.last_row_id if ids.cache == 1 else ids.base
            sharing |= {number} if table.auto_increment and ids.cache != 1 else set()
            continue
        reasons[table.qualified_name] = reason
    return counters, frozenset(sharing), reasons


def _counts_signed(column: ColumnInfo) -> bool:
    """Return whether all values of a column are integers of 64 bits with a sign."""
    return column.type in INTEGERS and not (column.type == MySQLType.LONGLONG and column.unsigned)


@dataclass(frozen=True)
class RowIdStarts:
    """Where rows get their hidden row ids.

    :param rows: for ``frame_histories.complete`` (shape ``FRAME_CHANGES``).
    :param are_moved: whether the handle key of a row with an id changes.
    """

    rows: Dataset
    are_moved: bool


def row_id_starts(engine: Engine, plan: FramePlan, stack: ExitStack) -> RowIdStarts:
    """Return the ids that the changes of a frame give to rows.

    :param stack: removes the data stored for them.
    :raises ScenarioError: for rows that do not fit, and if all ids are used.
    """
    rows = frame_rows(engine, plan.frame, plan.columns, COLUMNS, only=_key_columns(plan))
    steps = located(rows.map(partial(_steps, plan), _STEPS), plan.file, plan.line)
    steps = stack.enter_context(steps.cached())
    counting = steps.map(_counting, _STEPS).shuffle(_GROUP, Order((*_GROUP, "commit_seq", "row_seq")))
    with translate_worker_errors():
        moves = any(steps.results(_has_moves))
        # Without values the sum of changes does not depend on their order.
        sums = (counting if plan.sharing else steps.map(_counting, _STEPS)).results(_sums)
    taken = counting.map(partial(_numbered, _last_ids(plan, sums)), _STEPS)
    starts = taken.map(_starts, FRAME_CHANGES)
    if moves:
        links = _resolved_links(engine, _links(engine, plan, steps, taken), stack)
        starts = starts.union(links.map(_starts, FRAME_CHANGES))
    return RowIdStarts(starts, moves)


def _key_columns(plan: FramePlan) -> set[str]:
    """Return the names of the columns of keys and of ids, in lower case."""
    tables = (plan.versions.table[version] for version in plan.versions_with_row_ids)
    return {table.columns[offset].name.lower() for table in tables for offset in _offsets(plan, table)}


def _offsets(plan: FramePlan, table: TableInfo) -> list[int]:
    ids = table.auto_increment if table.table_id in plan.sharing else ()
    return sorted({*stored_key(table).offsets, *ids})


def _steps(plan: FramePlan, batches: Batches) -> Batches:
    """Yield what the changes of a frame do with ids (shape ``_STEPS``)."""
    width = _width(plan)
    for batch in batches:
        for rows in rows_by_version(plan, batch):
            if rows.table.table_id in plan.row_ids:
                yield from _steps_of(plan, width, rows)


def _width(plan: FramePlan) -> int:
    """Return the number of commits in a range."""
    ranges = max(1, _RANGES // len(plan.row_ids))
    return max(1, -(-(plan.stop - plan.first_commit) // ranges))


def _steps_of(plan: FramePlan, width: int, rows: VersionRows) -> Iterator[pa.RecordBatch]:
    table, shares = rows.table, rows.table.table_id in plan.sharing
    chosen = np.flatnonzero(rows.exists & (rows.existed | (rows.ops == Op.INSERT) | shares))
    at, offsets = pa.array(chosen), _offsets(plan, table)
    existed, exists = rows.existed[chosen], rows.exists[chosen]
    images = (image_values(table, each.take(at), plan.mode, offsets) for each in (rows.before, rows.after))
    changes = VersionChanges(plan, table, rows.ops[chosen], existed, exists, *images)
    before, after = changes.old_values(offsets), changes.new_values(offsets)
    (old_keys, _, old_homes), (keys, _, homes), moved = changes.locations(before, after)
    retains = moved & (old_homes == homes)  # hidden row ids do not move between partitions
    takes = (changes.ops == Op.INSERT) | (moved & ~retains)
    used = _used(table, after) if shares else pa.nulls(len(chosen), pa.int64())
    flags = {_TAKES: takes, _USES: ~takes & shares, _ENTERS: retains, _LEAVES: retains}
    for step, has_step in flags.items():
        own = np.flatnonzero(has_step)
        if not len(own):
            continue
        commits, of_own = rows.commits[chosen][own], pa.array(own)
        columns = {
            "table_id": homes[own],
            "row_key": (old_keys if step == _LEAVES else keys).take(of_own),
            "commit_seq": commits,
            "row_seq": rows.seq[chosen][own],
            "table_version": np.full(len(own), table.version),
            "table": np.full(len(own), table.table_id),
            "range": (commits - plan.first_commit) // width,
            "step": np.full(len(own), step),
            "used": used.take(of_own),
            "row_id": pa.nulls(len(own)),
            "new_key": keys.take(of_own) if step == _LEAVES else pa.nulls(len(own)),
        }
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in _STEPS]
        yield pa.record_batch(arrays, schema=_STEPS)


def _used(table: TableInfo, values: Mapping[int, pa.Array]) -> pa.Array:
    """Return the values of the AUTO_INCREMENT column of a table."""
    (offset,) = table.auto_increment
    return values[offset].cast(pa.string()).cast(pa.int64())


def _has_moves(_part: Part, batches: Batches) -> bool:
    return any(pc.any(pc.equal(batch.column("step"), _LEAVES)).as_py() for batch in batches)


def _counting(batches: Batches) -> Batches:
    return (batch.filter(pc.less_equal(batch.column("step"), _USES)) for batch in batches)


def _groups(rows: pa.RecordBatch) -> Iterator[tuple[_Group, pa.RecordBatch]]:
    """Yield the rows of each group, which follow each other."""
    starts = np.flatnonzero(first_of_groups(rows, _GROUP))
    tables, ranges = (rows.column(name).to_numpy()[starts].tolist() for name in _GROUP)
    ends = [*starts.tolist()[1:], rows.num_rows]
    for table, number, start, end in zip(tables, ranges, starts.tolist(), ends, strict=False):
        yield (table, number), rows.slice(start, end - start)


def _sums(_part: Part, batches: Batches) -> dict[_Group, _Sum]:
    """Return what the changes of each table do in each range of commits.

    :param batches: with the columns of ``_STEPS``; of tables that share their counter in the order of changes.
    """
    sums = dict[_Group, _Sum]()
    for batch in batches:
        tables, ranges = (batch.column(name).to_numpy() for name in _GROUP)
        for group, rows in _groups(batch.take(pa.array(np.lexsort((ranges, tables))))):
            taken, used = _running(rows)
            highest = None if rows.column("used").null_count == rows.num_rows else int(used[-1])
            sums[group] = sums.get(group, _Sum()) + _Sum(int(taken[-1]), highest)
    return sums


_NOT_USED = -1 << 63


def _running(rows: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """Return ``_Sum.taken`` and ``_Sum.used`` up to each of the rows of a group."""
    takes = (rows.column("step").to_numpy() == _TAKES).astype(np.int64)
    taken = np.cumsum(takes)
    used = rows.column("used")
    if used.null_count == len(used):
        return taken, np.full(len(used), _NOT_USED)
    relative = pc.fill_null(used, 0).to_numpy() - (taken - takes)
    return taken, np.maximum.accumulate(
        np.where(used.is_valid().to_numpy(zero_copy_only=False), relative, _NOT_USED)
    )


def _last_ids(plan: FramePlan, sums: Iterable[Mapping[_Group, _Sum]]) -> dict[_Group, int]:
    """Return the last id before each range of commits."""
    totals = dict[_Group, _Sum]()
    for of_part in sums:
        for group, part in of_part.items():
            totals[group] = totals.get(group, _Sum()) + part
    last, before = dict(plan.row_ids), dict[_Group, int]()
    for table, number in sorted(totals):
        before[table, number] = last[table]
        last[table] = totals[table, number].after(last[table])
    if any(each > _LAST_ID for each in last.values()):
        raise ids_exhausted().at(plan.file, plan.line)
    return before


def _numbered(before: Mapping[_Group, int], batches: Batches) -> Batches:
    """Yield changes that take ids, with the ids.

    >>> columns = {"table": [1, 1, 1], "range": [0, 0, 1], "step": [_TAKES] * 3, "row_id": [None] * 3}
    >>> columns["used"] = pa.array([None] * 3, pa.int64())
    >>> batches = [pa.record_batch(columns), pa.record_batch(columns).slice(2)]
    >>> [batch["row_id"].to_pylist() for batch in _numbered({(1, 0): 5, (1, 1): 20}, iter(batches))]
    [[6, 7, 21], [22]]

    :param before: the last id before each range.
    :param batches: with the columns of ``_STEPS``, in the order of the ranges and the positions.
    """
    known: dict[_Group, int] = {}
    for batch in batches:
        ids = [np.zeros(0, np.int64)]
        for group, rows in _groups(batch):
            taken, used = _running(rows)
            ids.append(taken + np.maximum(known.get(group, before[group]), used))
            known = {group: int(ids[-1][-1])}
        index = batch.schema.get_field_index("row_id")
        numbered = batch.set_column(index, pa.field("row_id", pa.int64()), pa.array(np.concatenate(ids)))
        yield numbered.filter(pc.equal(batch.column("step"), _TAKES))


def _starts(batches: Batches) -> Batches:
    """Yield rows with ids at their keys as starts (shape ``FRAME_CHANGES``).

    :param batches: with the columns that ``_STEPS`` and ``_LINKS`` have.
    """
    for batch in batches:
        count = batch.num_rows
        given = {name: batch.column(name) for name in (*IN_ORDER, "table_version", "row_id")}
        given["op"] = pa.repeat(pa.scalar(STARTS, pa.int8()), count)
        columns = [given.get(field.name, pa.nulls(count)).cast(field.type) for field in FRAME_CHANGES]
        yield pa.record_batch(columns, schema=FRAME_CHANGES)


def _links(engine: Engine, plan: FramePlan, steps: Dataset, taken: Dataset) -> Dataset:
    """Return the changes of keys (shape ``_LINKS``).

    :param steps: shape ``_STEPS``, like ``taken``, of which the ids are known.
    """
    before = rows_before(engine, plan).map(partial(_steps_before, plan), _STEPS)
    all_steps = taken.union(steps.map(_moving, _STEPS), before)
    by_row = all_steps.shuffle(ROW, Order((*IN_ORDER, "step")))
    return by_row.map_groups(_linked, ROW, _LINKS)


def _moving(batches: Batches) -> Batches:
    return (batch.filter(pc.not_equal(batch.column("step"), _TAKES)) for batch in batches)


def _steps_before(plan: FramePlan, batches: Batches) -> Batches:
    """Yield the rows before the frame as steps with ids.

    :param batches: shape ``FRAME_CHANGES``.
    """
    for batch in batches:
        own = np.isin(batch.column("table_version").to_numpy(), plan.versions_with_row_ids)
        rows = batch.filter(pa.array(own))
        given = {name: rows.column(name) for name in (*IN_ORDER, "table_version", "row_id")}
        given |= {"step": pa.repeat(pa.scalar(_TAKES, pa.int8()), rows.num_rows)}
        columns = [given.get(field.name, pa.nulls(rows.num_rows)).cast(field.type) for field in _STEPS]
        yield pa.record_batch(columns, schema=_STEPS)


def _linked(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the changes that move rows away from keys, with what brought the rows there.

    >>> at = {"table_id": [1] * 4, "row_key": [b"a"] * 4, "commit_seq": [3, 4, 5, 6], "row_seq": [0] * 4}
    >>> steps = at | {"table_version": [1] * 4, "step": [_TAKES, _LEAVES, _ENTERS, _LEAVES]}
    >>> steps |= {"row_id": [7, None, None, None], "new_key": [None, b"b", None, b"c"]}
    >>> linked = _linked(pa.record_batch(steps)).select(["row_key", "row_id", "from_commit"])
    >>> [[*row.values()] for row in linked.to_pylist()]
    [[b'b', 7, None], [b'c', None, 5]]

    :param rows: the steps of whole keys, in their order.
    """
    steps = rows.column("step").to_numpy()
    numbers, leaves = np.arange(len(steps)), np.flatnonzero(steps == _LEAVES)
    group = np.maximum.accumulate(np.where(first_of_groups(rows, ROW), numbers, 0))
    brought = np.maximum.accumulate(np.where(steps == _LEAVES, -1, numbers))[leaves]
    unknown = brought < group[leaves]  # a row that does not exist, which is an error of its change
    source = rows.take(pa.array(np.where(unknown, 0, brought)))
    ids = pc.if_else(pa.array(unknown), pa.scalar(0, pa.int64()), source.column("row_id").cast(pa.int64()))
    linked = rows.take(pa.array(leaves))
    follows = ids.is_null()
    columns = {
        **{name: linked.column(name) for name in ("table_id", "commit_seq", "row_seq", "table_version")},
        "row_key": linked.column("new_key"),
        "row_id": ids,
        "from_commit": pc.if_else(follows, source.column("commit_seq"), None),
        "from_seq": pc.if_else(follows, source.column("row_seq"), None),
    }
    return pa.record_batch([columns[field.name].cast(field.type) for field in _LINKS], schema=_LINKS)


def _resolved_links(engine: Engine, links: Dataset, stack: ExitStack) -> Dataset:
    """Follow the links until all ids are known; each round doubles the number of links that are followed.

    :param links: shape ``_LINKS``, like the result.
    """
    while True:
        links = stack.enter_context(links.cached())
        with translate_worker_errors():
            if not any(links.results(_is_open)):
                return links
        sides = {
            "links": links.map(partial(_with_position, ("from_commit", "from_seq")), _LINKS.append(_HASH)),
            "known": links.map(partial(_with_position, ("commit_seq", "row_seq")), _LINKS.append(_HASH)),
        }
        links = engine.grouped(sides, _HASH.name).map(_followed, _LINKS)


def _is_open(_part: Part, batches: Batches) -> bool:
    return any(batch.column("row_id").null_count for batch in batches)


def _with_position(names: tuple[str, str], batches: Batches) -> Batches:
    for batch in batches:
        position = [pc.fill_null(batch.column(name), 0) for name in ("table_id", *names)]
        hashes = xx_hash(batch.num_rows, *position)
        yield batch.append_column(_HASH, pa.array(hashes.view(np.int64)))


def _followed(groups: Iterator[Sides]) -> Batches:
    """Yield links that are followed once more (shape ``_LINKS``)."""
    for sides in groups:
        links, known = (sides[name].select(_LINKS.names) for name in ("links", "known"))
        is_open = links.column("row_id").is_null()
        yield links.filter(pc.invert(is_open))
        yield _joined(links.filter(is_open), known)


def _joined(links: pa.RecordBatch, known: pa.RecordBatch) -> pa.RecordBatch:
    """Return links with the ends of the links at which they begin.

    >>> def links(commits, ids, sources):
    ...     columns = {"table_id": [1] * len(ids), "row_key": [b"k"] * len(ids), "commit_seq": commits}
    ...     columns |= {"row_seq": [0] * len(ids), "table_version": [1] * len(ids), "row_id": ids}
    ...     columns |= {"from_commit": sources, "from_seq": [0 if each else None for each in sources]}
    ...     return pa.RecordBatch.from_pydict(columns, schema=_LINKS)
    >>> joined = _joined(links([8, 9], [None] * 2, [6, 7]), links([6, 7], [3, None], [None, 5]))
    >>> joined.sort_by("commit_seq").select(["commit_seq", "row_id", "from_commit"]).to_pydict()
    {'commit_seq': [8, 9], 'row_id': [3, None], 'from_commit': [None, 5]}
    """
    own = pa.table(links.drop_columns(["row_id"]))
    ends = pa.table({
        "table_id": known.column("table_id"), "from_commit": known.column("commit_seq"),
        "from_seq": known.column("row_seq"), "row_id": known.column("row_id"),
        "next_commit": known.column("from_commit"), "next_seq": known.column("from_seq"),
    })  # fmt: skip
    at = ["table_id", "from_commit", "from_seq"]
    joined = own.join(ends, at, join_type="inner", use_threads=False).drop_columns(at[1:])
    joined = joined.rename_columns({"next_commit": "from_commit", "next_seq": "from_seq"}).select(
        _LINKS.names
    )
    (batch,) = joined.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], _LINKS)]
    return batch.cast(_LINKS)


def with_halves_in_order(batches: Batches) -> Batches:
    """Yield changes with positions that order the halves of one that moves its row: the delete comes first.

    :param batches: shape ``CHANGE_LOG``.
    """
    for batch in batches:
        seq, inserts = batch.column("row_seq").to_numpy(), batch.column("op").to_numpy() == Op.INSERT
        if len(seq) and max(abs(int(seq.min())), abs(int(seq.max()))) >= 1 << 62:
            raise ScenarioError("a position in a transaction is out of range: -2^62 to 2^62", column="seq")
        index = batch.schema.get_field_index("row_seq")
        yield batch.set_column(index, batch.schema.field(index), pa.array(seq * 2 + inserts))
