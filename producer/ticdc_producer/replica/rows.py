"""The rows of a stream: read from decoded events, applied to the versions of their tables, moved as DDLs do.

Rows of one group are applied together: the newest change of each row decides, and a DDL moves the
remaining rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import (
    Flags,
    Numbers,
    flat_positions,
    of_partitions,
    row_codes,
    sorted_groups,
)
from ticdc_producer.model.event import MAX_EVENTS
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.replica.table_changes import ColumnChanges
from ticdc_producer.replica.versions import (
    NO_VERSION,
    ColumnMapping,
    Positions,
    RowMigration,
    TableHistory,
    TableName,
    Version,
)
from ticdc_producer.scenario.sql.definition.partition_columns import partitions_of_rows


def positions_of(images: pa.MapArray, names: Sequence[str]) -> list[Numbers]:
    """Return for each name where the value of each image is in the images' items; -1: it has no such column.

    >>> images = pa.array([[("id", b"1"), ("a", b"x")], [("id", b"2")]], pa.map_(pa.string(), pa.binary()))
    >>> [positions.tolist() for positions in positions_of(images, ["a", "id"])]
    [[1, -1], [0, 2]]
    """
    offsets = images.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    present = images.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.where(present, np.diff(offsets), 0)
    flat = flat_positions(offsets[:-1], lengths)
    row_of = np.repeat(np.arange(len(images)), lengths)
    keys = images.keys.take(pa.array(flat))
    codes = pc.fill_null(pc.index_in(keys, pa.array(names, pa.string())), -1).to_numpy()
    positions = []
    for name in names:
        at = np.full(len(images), -1)
        members = np.flatnonzero(codes == names.index(name))
        at[row_of[members]] = flat[members]
        positions.append(at)
    return positions


def columns_of(images: pa.MapArray, names: Sequence[str]) -> list[pa.Array]:
    """Return the values of some columns in each image; NULL where it has no such column.

    >>> images = pa.array([[("id", b"1"), ("a", b"x")], [("id", b"2")]], pa.map_(pa.string(), pa.binary()))
    >>> [column.to_pylist() for column in columns_of(images, ["a", "id"])]
    [[b'x', None], [b'1', b'2']]
    """
    return [images.items.take(pa.array(at, mask=at < 0)) for at in positions_of(images, names)]


def image_array(names: Sequence[str], columns: Sequence[pa.Array]) -> pa.MapArray:
    """Return images with the same names, from the values of their columns.

    >>> image_array(["id", "a"], [pa.array([b"1", b"2"]), pa.array([b"x", None])]).to_pylist()
    [[('id', b'1'), ('a', b'x')], [('id', b'2'), ('a', None)]]
    """
    rows, width = len(columns[0]), len(names)
    # With the columns one after the other, the values of one row are ``rows`` apart.
    order = (np.arange(rows)[:, None] + np.arange(width)[None, :] * rows).ravel()
    values = pa.concat_arrays([column.cast(pa.binary()) for column in columns]).take(pa.array(order))
    keys = pa.array(list(names), pa.string()).take(pa.array(np.tile(np.arange(width), rows)))
    return pa.MapArray.from_arrays(pa.array(np.arange(rows + 1) * width, pa.int32()), keys, values)


ROWS = pa.schema(
    [
        ("group", pa.int64()),
        ("version", pa.int64()),
        ("commit_ts", pa.int64()),
        ("deleted", pa.bool_()),
        ("topic", pa.string()),
        ("partition", pa.int64()),
        ("position", pa.int64()),
        ("image", pa.map_(pa.string(), pa.binary())),
    ]
)
"""Changes of rows: the new image, or of a deleted row the image that has its key.

``group`` is equal for the changes that one row may have, also under other names and after other DDLs;
``version`` is the number of the version of its table."""
GROUP = ("group",)


@dataclass(frozen=True)
class Replica:
    """The tables of a downstream database.

    :param history: the followed tables.
    :param changes: converts values if the protocol allows it.
    :param exact: commit-ts are exact: a delete comes before an insert of the same commit-ts. Otherwise the
        position in the partition decides between events of one millisecond.
    """

    history: TableHistory
    changes: ColumnChanges
    exact: bool = True

    def final_rows(self, rows: pa.RecordBatch) -> Iterator[tuple[TableName, pa.RecordBatch]]:
        """Yield the rows of each table after all changes and DDLs.

        :param rows: shape ``ROWS``, in whole groups; in any order.
        :return: by table, shape ``ROWS`` without deleted rows, in no order.
        """
        arrived: dict[int, list[pa.RecordBatch]] = {}
        versions = rows.column("version").to_numpy()
        present = set(np.unique(versions).tolist())
        for number, version in self.history.followed.items():
            if number not in arrived and number not in present:
                continue
            moved = arrived.pop(number, [])
            own = rows.filter(pa.array(versions == number))
            remaining = self._newest(pa.concat_batches([*moved, own]), own.num_rows, version)
            if version.until is None:
                yield version.name, remaining
            for migration in version.migrations:
                rest = self._moved(remaining, version, migration)
                arrived.setdefault(migration.target, []).append(rest)

    def _newest(self, rows: pa.RecordBatch, own: int, version: Version) -> pa.RecordBatch:
        """Return the newest change of each row, without deleted rows and rows without a handle key.

        :param own: the number of changes after the DDL that began the version, which are newer than those
            before it, also if both are within one unit of time. They are the last ones.
        """
        key = self.key_of(version)
        if not key or not rows.num_rows:
            return rows.slice(0, 0)
        codes = row_codes(columns_of(rows.column("image"), key))
        ts, position = (rows.column(name).to_numpy() for name in ("commit_ts", "position"))
        deleted = rows.column("deleted").to_numpy(zero_copy_only=False)
        inserted = (~deleted).astype(np.int64)
        is_own = np.arange(len(codes)) >= len(codes) - own
        age = (ts, inserted, position) if self.exact else (is_own, ts, position, inserted)
        order, starts = sorted_groups([codes], *age)
        last = order[np.append(starts[1:], True)]
        return rows.take(pa.array(last[~deleted[last]]))

    def _moved(self, rows: pa.RecordBatch, version: Version, migration: RowMigration) -> pa.RecordBatch:
        if migration.partitions is not None:
            rows = rows.filter(
                pa.array(np.isin(self._partitions(rows, version), sorted(migration.partitions)))
            )
        if migration.columns is not None and rows.num_rows:
            images = self._converted(rows.column("image"), migration.columns)
            rows = rows.set_column(rows.schema.get_field_index("image"), ROWS.field("image"), images)
        numbers = pa.array(np.full(rows.num_rows, migration.target))
        return rows.set_column(rows.schema.get_field_index("version"), ROWS.field("version"), numbers)

    def _converted(self, images: pa.MapArray, mappings: Sequence[ColumnMapping]) -> pa.MapArray:
        sources = [mapping.source for mapping in mappings if mapping.source]
        by_source = dict(zip(sources, columns_of(images, sources), strict=True))
        columns = []
        for mapping in mappings:
            if not mapping.source:
                columns.append(pa.repeat(pa.scalar(mapping.constant, pa.binary()), len(images)))
            elif mapping.before is None or mapping.after is None:
                columns.append(by_source[mapping.source])
            else:
                convert = self.changes.converter(mapping.before, mapping.after)
                distinct = by_source[mapping.source].dictionary_encode()
                values = pa.array(map(convert, distinct.dictionary.to_pylist()), pa.binary())
                columns.append(values.take(distinct.indices))
        return image_array([mapping.name for mapping in mappings], columns)

    def _partitions(self, rows: pa.RecordBatch, version: Version) -> Numbers:
        """Return the partition of each row; -1 if no partition accepts it."""
        info, partitioning = version.definition.info, version.definition.partitioning
        if partitioning is None:
            return np.full(rows.num_rows, -1)
        used = partitioning.uses()
        visible = self.changes.fidelity.visible_name
        names = [visible(column.name) if column.name.lower() in used else "" for column in info.columns]
        columns = columns_of(rows.column("image"), names)
        return partitions_of_rows(partitioning, info, columns)

    def key_of(self, version: Version) -> list[str]:
        """Return the columns of a version's handle key as the messages name them."""
        return [self.changes.fidelity.visible_name(name) for name in version.definition.key]

    def groups(self, images: pa.MapArray, versions: Numbers) -> Numbers:
        """Return the group of each row, see ``ROWS``.

        Rows of a family whose handle key never changes are grouped by that key; a family of which it
        changes is one group.
        """
        groups = np.zeros(len(versions), np.int64)
        for number in np.unique(versions[versions != NO_VERSION]).tolist():
            rows, family = np.flatnonzero(versions == number), self.history.family_of(number)
            groups[rows] = family
            key = self.key_of(self.history.followed[number])
            if family in self.history.keyed_families and key:
                columns = columns_of(images.take(pa.array(rows)), key)
                groups[rows] = xx_hash(len(rows), family, *columns).view(np.int64)
        return groups


def row_changes(decoded: DecodedBatch, replica: Replica, until: int | None = None) -> pa.RecordBatch:
    """Return the changes of followed tables (shape ``ROWS``), in no order.

    An update that changes the handle key also deletes the row with the old key.

    :param decoded: shape ``DECODED``, in any order; other events than rows are ignored.
    :param until: only changes up to this commit-ts (TSO); None: all.
    """
    rows = decoded.filter(pc.fill_null(pc.equal(decoded.column("kind"), "row"), False))
    versions = _versions(rows, replica)
    selected = versions >= 0
    if until is not None:
        selected &= _numbers(rows, "commit_ts") <= until
    rows, versions = rows.filter(pa.array(selected)), versions[selected]
    deleted = pc.equal(rows.column("op"), "delete")
    images = pc.if_else(deleted, rows.column("before"), rows.column("after"))
    changes = _batch(rows, versions, deleted, images, replica)
    return pa.concat_batches([changes, *_left_keys(rows, versions, replica)])


def row_versions(
    replica: Replica, schema: pa.Array, table: pa.Array, commit_ts: Numbers, at: Positions
) -> tuple[Numbers, Flags]:
    """Return the number of the version of each row, and whether several are possible at its commit-ts.

    ``NO_VERSION``: the row is of another table. ``UNDECIDED``: the stream does not show which one it is.

    >>> from types import SimpleNamespace
    >>> table = {"schema": "s", "table": "t", "definition": None}
    >>> versions = [Version(number=0, since=5, until=9, **table), Version(number=1, since=9, **table)]
    >>> of_name = TableHistory(versions, exact=False).versions_of
    >>> replica = SimpleNamespace(history=SimpleNamespace(names=[("s", "t")], versions_of=of_name))
    >>> at = Positions([("topic", 0)], *np.zeros((2, 3), np.int64))
    >>> names = pa.array(["s", "s", "s"]), pa.array(["t", "t", "u"])
    >>> [column.tolist() for column in row_versions(replica, *names, np.array([8, 9, 9]), at)]
    [[0, -2, -1], [False, True, False]]
    """
    numbers, several = np.full(len(commit_ts), NO_VERSION), np.zeros(len(commit_ts), bool)
    for name in sorted(replica.history.names):
        same = (pc.equal(column, text) for column, text in zip((schema, table), name, strict=True))
        own = np.flatnonzero(pc.fill_null(reduce(pc.and_, same), False))
        possible = replica.history.versions_of(*name, commit_ts[own])
        numbers[own] = possible.of_rows(Positions(at.partitions, at.codes[own], at.positions[own]))
        several[own] = possible.first < possible.last
    return numbers, several


def _versions(rows: pa.RecordBatch, replica: Replica) -> Numbers:
    partitions, codes = list[tuple[str, int]](), np.zeros(rows.num_rows, np.int64)
    for number, (partition, own) in enumerate(of_partitions(rows)):
        partitions.append(partition)
        codes[own] = number
    at = Positions(partitions, codes, _offset_and_index(rows))
    schema, table = rows.column("schema"), rows.column("table")
    return row_versions(replica, schema, table, _numbers(rows, "commit_ts"), at)[0]


def _offset_and_index(rows: pa.RecordBatch) -> Numbers:
    return _numbers(rows, "offset") * MAX_EVENTS + _numbers(rows, "index")


def _left_keys(rows: pa.RecordBatch, versions: Numbers, replica: Replica) -> list[pa.RecordBatch]:
    """Return the deletions of the old keys of updates. An old image lacks columns that did not change.

    >>> from types import SimpleNamespace
    >>> from ticdc_producer.model.shapes import DECODED
    >>> functions = {"key_of": lambda _: ["a", "b"], "groups": lambda _, versions: versions}
    >>> replica = SimpleNamespace(history=SimpleNamespace(followed=[0]), **functions)
    >>> update = {"op": "update", "before": [("a", b"1")], "after": [("a", b"2"), ("b", b"5")]}
    >>> rows = pa.RecordBatch.from_pylist([update], DECODED)
    >>> [batch.column("image").to_pylist() for batch in _left_keys(rows, np.array([0]), replica)]
    [[[('a', b'1'), ('b', b'5')]]]
    """
    updates = np.flatnonzero(pc.and_(pc.equal(rows.column("op"), "update"), rows.column("before").is_valid()))
    batches = []
    for number in np.unique(versions[updates]).tolist():
        key = replica.key_of(replica.history.followed[number])
        own = pa.array(updates[versions[updates] == number])
        if not key:
            continue
        before, after = (columns_of(rows.column(image).take(own), key) for image in ("before", "after"))
        old = [pc.coalesce(*columns) for columns in zip(before, after, strict=True)]
        moved = pa.array(_changed_rows(old, after))
        if len(moved):
            updated = rows.take(own).take(moved)
            images = image_array(key, [column.take(moved) for column in old])
            gone = pa.array(np.ones(len(moved), bool))
            batches.append(_batch(updated, np.full(len(moved), number), gone, images, replica))
    return batches


def _changed_rows(old: Sequence[pa.Array], new: Sequence[pa.Array]) -> Numbers:
    """Return the numbers of the rows of which a column differs; NULL differs from no value.

    >>> old, new = (pa.array(values) for values in ([1, 2, None], [1, 9, 3]))
    >>> _changed_rows([old], [new]).tolist()
    [1]
    """
    differ = (pc.fill_null(pc.not_equal(*columns), False) for columns in zip(old, new, strict=True))
    flags = (column.to_numpy(zero_copy_only=False) for column in differ)
    return np.flatnonzero(reduce(np.logical_or, flags))


def _batch(
    rows: pa.RecordBatch, versions: Numbers, deleted: pa.Array, images: pa.MapArray, replica: Replica
) -> pa.RecordBatch:
    columns = {
        "group": replica.groups(images, versions),
        "version": versions,
        "commit_ts": _numbers(rows, "commit_ts"),
        "deleted": deleted,
        "topic": rows.column("topic"),
        "partition": _numbers(rows, "partition"),
        "position": _offset_and_index(rows),
        "image": images,
    }
    arrays = [pa.array(columns[field.name]).cast(field.type) for field in ROWS]
    return pa.record_batch(arrays, schema=ROWS)


def _numbers(rows: pa.RecordBatch, name: str) -> Numbers:
    numbers: Numbers = pc.fill_null(rows.column(name), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
