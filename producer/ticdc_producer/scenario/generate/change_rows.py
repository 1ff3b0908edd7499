"""Row changes as Arrow batches: row keys, and the images before and after each change.

Row keys have the same bytes as those of ``model.row_key``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.column_functions import Flags, operations
from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED
from ticdc_producer.model.row_key import encode_part, prefix
from ticdc_producer.model.shapes import CHANGE_LOG, IMAGE, ChangeBatch, TableRowsBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.arrays import Hashes, Longs
from ticdc_producer.scenario.generate.cells import CellSources, Expressions, cells, sources
from ticdc_producer.scenario.generate.draw import binary_array
from ticdc_producer.scenario.generate.partitions import partition_columns, physical_ids
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.row_history import RowChanges, Versions


def change_rows(
    plan: GeneratePlan, table: TableInfo, changes: RowChanges, expressions: Expressions, *, net: bool
) -> ChangeBatch:
    """Return changes with their images (shape ``CHANGE_LOG``), in the order of ``changes``.

    :param table: the version of the table at the changes; the row before is in this version, too, as TiCDC
        decodes it.
    :param net: omit updates that change no value.
    """
    columns = [DrawnValues(plan, column, changes, expressions) for column in columns_of(plan, table)]
    if net:
        unchanged = changes.existed & changes.exists
        for column in columns:
            unchanged &= column.unchanged()
        if unchanged.any():
            remaining = np.flatnonzero(~unchanged)
            changes, columns = changes.take(remaining), [column.take(remaining) for column in columns]
    return _change_log(plan, table, changes, columns)


def existing_rows(
    plan: GeneratePlan, table: TableInfo, rows: Longs, versions: Versions, expressions: Expressions
) -> TableRowsBatch:
    """Return rows that exist (shape ``TABLE_ROWS``), in the order of their numbers in ``rows``.

    :param table: the version of the table whose images are returned.
    :param versions: the changes that the values of the rows come from.
    """
    inserts = RowChanges.of_inserts(rows, versions)
    changes = change_rows(plan, table, inserts, expressions, net=False)
    images = [changes.column("row_key"), changes.column("after")]
    batch: TableRowsBatch = pa.record_batch(images, names=["row_key", "row"])
    return batch


def columns_of(plan: GeneratePlan, table: TableInfo) -> list[ColumnPlan]:
    """Return the columns of an image of a table version."""
    by_name = {column.column.name: column for column in plan.columns}
    return [by_name[column.name] for column in table.sent_columns]


class DrawnValues:
    """The values of a column before and after some changes; a value that remains is drawn once.

    :ivar offset: of the column in the plan.
    :ivar values: all values, in no order that matters.
    :ivar before: index of the value before each change, -1 if there is no row.
    :ivar after: index of the value after each change, -1 if there is no row.
    """

    def __init__(
        self, plan: GeneratePlan, column: ColumnPlan, changes: RowChanges, expressions: Expressions
    ) -> None:
        before, after = (
            sources(plan, column, changes.row, versions) for versions in (changes.before, changes.after)
        )
        remains = changes.existed & changes.exists & (before.version == after.version)
        if before.added is not None and after.added is not None:
            remains &= before.added == after.added
        new, old = np.flatnonzero(changes.exists), np.flatnonzero(changes.existed & ~remains)
        self.offset = column.offset
        self.values = cells(plan, column, _both(after, new, before, old), expressions)
        self.before, self.after = _value_indexes(old, new, remains)

    def take(self, indexes: Longs) -> DrawnValues:
        """Return the values of some of the changes."""
        taken = DrawnValues.__new__(DrawnValues)
        taken.offset, taken.values = self.offset, self.values
        taken.before, taken.after = self.before[indexes], self.after[indexes]
        return taken

    def of_rows(self, *, before: bool = False) -> pa.Array:
        """Return the values after the changes, for deleted rows those before them.

        :param before: return the values before the changes, for inserted rows those after them.
        """
        first, second = (self.before, self.after) if before else (self.after, self.before)
        return self.values.take(pa.array(np.where(first >= 0, first, second)))

    def unchanged(self) -> Flags:
        """Return whether the value before each change equals that after it; true if one does not exist."""
        unchanged = np.ones(len(self.before), bool)
        differing = np.flatnonzero((self.before != self.after) & (self.before >= 0) & (self.after >= 0))
        if len(differing):
            old, new = (self.values.take(pa.array(at[differing])) for at in (self.before, self.after))
            both_null = pc.and_(old.is_null(), new.is_null())
            equal = pc.if_else(both_null, True, pc.fill_null(pc.equal(old, new), False))
            unchanged[differing] = equal.to_numpy(zero_copy_only=False)
        return unchanged


def _value_indexes(old: Longs, new: Longs, remains: Flags) -> tuple[Longs, Longs]:
    """Return the index of the value before and after each change, -1 if there is none.

    The values are those after the changes, then those before them that do not remain.

    >>> before, after = _value_indexes(np.array([2]), np.array([0, 1]), np.array([False, True, False]))
    >>> before.tolist(), after.tolist()  # of an insert, an update and a delete
    ([-1, 1, 2], [0, 1, -1])

    :param old: the changes before which there is another value than after them.
    :param new: the changes after which there is a value.
    :param remains: whether the value before each change is the one after it.
    """
    after = np.full(len(remains), -1, np.int64)
    after[new] = np.arange(len(new))
    before = np.where(remains, after, -1)
    before[old] = len(new) + np.arange(len(old))
    return before, after


def _both(after: CellSources, new: Longs, before: CellSources, old: Longs) -> CellSources:
    """Return the sources of the values after some changes, then of those before some.

    >>> rows, versions = np.array([7, 8]), (np.array([3, 4]), np.array([0, 1]))
    >>> after, before = (CellSources(rows, of_side) for of_side in versions)  # an insert and an update
    >>> both = _both(after, np.array([0, 1]), before, np.array([1]))
    >>> both.row.tolist(), both.version.tolist()
    ([7, 8, 8], [3, 4, 1])

    :param new: the changes after which there is a value.
    :param old: the changes before which there is another value than after them.
    """
    added = None
    if after.added is not None and before.added is not None:
        added = np.concatenate([after.added[new], before.added[old]])
    return CellSources(
        np.concatenate([after.row[new], before.row[old]]),
        np.concatenate([after.version[new], before.version[old]]),
        added,
    )


def _change_log(
    plan: GeneratePlan, table: TableInfo, changes: RowChanges, values: Sequence[DrawnValues]
) -> ChangeBatch:
    """Build the change log; an update to another key has the old key in the ``old_`` columns.

    Here a row is inserted, and another one deleted and inserted again, which changes its hidden row id.

    >>> from types import SimpleNamespace
    >>> plan = SimpleNamespace(table=SimpleNamespace(clustered_key=None), partitioning=None, rows_move=True)
    >>> sides = (Versions(np.array(numbers), np.array([])) for numbers in ([0, 0], [4, 5]))
    >>> changes = RowChanges(*np.zeros((3, 2), int), np.array([False, True]), np.ones(2, bool), *sides)
    >>> values = {"values": pa.array([b"a", b"b"]), "before": np.array([-1, 0]), "after": np.array([0, 1])}
    >>> log = _change_log(plan, SimpleNamespace(version=0, table_id=1), changes, [SimpleNamespace(**values)])
    >>> [*log.select(["old_row_id", "row_id", "before", "after"]).to_pydict().values()]
    [[None, 1], [5, 6], [None, [b'a']], [[b'a'], [b'b']]]
    """
    existed, exists, rows = changes.existed, changes.exists, len(changes)
    hidden_ids = np.where(exists, changes.after.hidden_ids, changes.before.hidden_ids)
    keys, ids = _stored_under(plan, values, hidden_ids)
    tables, old_tables = _physical_ids(plan, table, values, rows)
    old_keys, old_ids, moved = pa.nulls(rows, pa.binary()), pa.nulls(rows, pa.int64()), np.zeros(rows, bool)
    if plan.rows_move:
        old_keys, old_ids = _stored_under(plan, values, changes.before.hidden_ids, before=True)
        differ = pc.fill_null(pc.not_equal(old_keys, keys), False).to_numpy(zero_copy_only=False)
        moved = existed & exists & differ
        old_keys, old_ids = (pc.if_else(pa.array(moved), of, None) for of in (old_keys, pa.array(old_ids)))
    columns = {
        "commit_seq": changes.commit,
        "row_seq": changes.position,
        "table_version": np.full(rows, table.version),
        "table_id": tables,
        "row_key": keys,
        "row_id": ids,
        "op": operations(existed, exists),
        "before": _images(values, [column.before for column in values], existed),
        "after": _images(values, [column.after for column in values], exists),
        "old_table_id": pc.if_else(pa.array(moved), pa.array(old_tables), None),
        "old_row_key": old_keys,
        "old_row_id": old_ids,
    }
    arrays = [pa.array(columns[field.name]).cast(field.type) for field in CHANGE_LOG]
    batch: ChangeBatch = pa.record_batch(arrays, schema=CHANGE_LOG)
    return batch


def _stored_under(
    plan: GeneratePlan,
    columns: Sequence[DrawnValues],
    hidden_ids: Longs,
    *,
    before: bool = False,
) -> tuple[pa.Array, Longs]:
    """Return row keys and integer handles after changes, for deleted rows before them.

    Without a clustered key a row has a hidden row id, which is new with each insert, and in each partition.

    :param before: return the keys before the changes; those of inserted rows are undefined.
    """
    key = plan.table.clustered_key
    if key is None:
        return int_keys(hidden_ids), hidden_ids
    values = {
        column.offset: column.of_rows(before=before) for column in columns if column.offset in key.offsets
    }
    return handles(plan.table, key, values)


def _physical_ids(
    plan: GeneratePlan, table: TableInfo, columns: Sequence[DrawnValues], rows: int
) -> tuple[Longs, Longs]:
    """Return the physical table ids of rows after changes, and before them.

    The ids of deleted rows after the change, and of inserted rows before it, are those of the other side.

    :param table: the version of the table.
    :param rows: number of changes.
    """
    if plan.partitioning is None:
        ids = np.full(rows, table.table_id)
        return ids, ids
    used = {column.offset for column in partition_columns(plan)}
    deciding = [column for column in columns if column.offset in used]
    after = {column.offset: column.of_rows() for column in deciding}
    if not plan.key_changes:
        ids = physical_ids(plan, table, after)
        return ids, ids
    both = {
        column.offset: pa.concat_arrays([after[column.offset], column.of_rows(before=True)])
        for column in deciding
    }
    ids = physical_ids(plan, table, both)
    return ids[:rows], ids[rows:]


def _images(columns: Sequence[DrawnValues], indexes: Sequence[Longs], present: Flags) -> pa.ListArray:
    """Build row images, NULL where no row is present.

    >>> from types import SimpleNamespace
    >>> columns = [SimpleNamespace(values=pa.array([b"a", b"b"])), SimpleNamespace(values=pa.array([b"1"]))]
    >>> _images(columns, [np.array([1, 0]), np.array([0, 0])], np.array([True, False])).to_pylist()
    [[b'b', b'1'], None]

    :param indexes: by column, the index of each row's value.
    """
    rows = np.flatnonzero(present)
    sources_of = np.empty((len(rows), len(columns)), np.int64)
    base = 0
    for number, (column, at) in enumerate(zip(columns, indexes, strict=True)):
        sources_of[:, number] = at[rows] + base
        base += len(column.values)
    values = pa.concat_arrays([column.values for column in columns]).take(pa.array(sources_of.ravel()))
    offsets = np.concatenate([[0], np.cumsum(present * len(columns))])
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), values, type=IMAGE, mask=pa.array(~present)
    )


_SIGN = np.uint64(1 << 63)
_INT, _UINT = 3, 4


def handles(table: TableInfo, key: IndexInfo, values: Mapping[int, pa.Array]) -> tuple[pa.Array, Longs]:
    """Return the row keys and the integer handles of rows; the handle is 0 if the key is not an integer.

    :param key: the table's clustered key.
    :param values: canonical values of the key columns, by offset.
    """
    first = key.offsets[0]
    rows = len(values[first])
    if len(key.offsets) == 1 and table.columns[first].type in INTEGERS:
        numbers = _numbers(table.columns[first], values[first])
        return int_keys(numbers), numbers.view(np.int64)
    lengths = key.lengths or (-1,) * len(key.offsets)
    parts = [
        _parts(table.columns[offset], values[offset], length)
        for offset, length in zip(key.offsets, lengths, strict=True)
    ]
    return pc.binary_join_element_wise(*parts, b""), np.zeros(rows, np.int64)


def int_keys(numbers: Longs | Hashes) -> pa.Array:
    """Encode signed numbers, or the same bits as unsigned numbers, as ``row_key.int_key`` does.

    >>> [key.hex() for key in int_keys(np.array([-1, 1])).to_pylist()]
    ['7fffffffffffffff', '8000000000000001']
    """
    return _eight_bytes(numbers.view(np.uint64) ^ _SIGN)


def _numbers(column: ColumnInfo, values: pa.Array) -> Longs | Hashes:
    kind = pa.uint64() if column.unsigned else pa.int64()
    numbers: Longs | Hashes = values.cast(pa.string()).cast(kind).to_numpy(zero_copy_only=False)
    return numbers


def _parts(column: ColumnInfo, values: pa.Array, length: int) -> pa.Array:
    """Encode one column of keys that have several columns or are not integers."""
    if column.type not in INTEGERS | NUMBERED:
        # Keys of other types are rare, and each type has an order of its own.
        texts = values.to_pylist()
        return pa.array([encode_part(column, prefix(column, text, length)) for text in texts], pa.binary())
    unsigned = column.unsigned or column.type in NUMBERED
    numbers = (
        values.cast(pa.string()).cast(pa.uint64() if unsigned else pa.int64()).to_numpy(zero_copy_only=False)
    )
    encoded = _eight_bytes(numbers) if unsigned else int_keys(numbers)
    flag = pa.scalar(bytes([_UINT if unsigned else _INT]), pa.binary())
    return pc.binary_join_element_wise(flag, encoded, b"")


def _eight_bytes(numbers: Longs | Hashes) -> pa.Array:
    """Encode numbers as 8 bytes each, big-endian."""
    data = numbers.astype(">u8").view(np.uint8)
    return binary_array(np.arange(len(numbers) + 1, dtype=np.int64) * 8, data)
