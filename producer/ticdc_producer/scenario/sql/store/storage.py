"""The rows of a table by location, with its unique indexes and the secondary indexes of foreign keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec
from sqlglot import exp

from ticdc_producer.errors import RowConflict, ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.row_key import columns_key, handle_of, index_key, int_key
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode, display_value
from ticdc_producer.scenario.history import RowImage
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.store.allocator import RowIds
from ticdc_producer.scenario.sql.syntax.names import Temporary

RowLocation: TypeAlias = tuple[int, bytes]
"""Physical table id and row key."""
Keys: TypeAlias = list[tuple[IndexInfo, bytes | None]]
"""The keys of a row in the unique indexes; None if a key contains NULL."""


class Row(msgspec.Struct, frozen=True):
    """A stored row.

    :param table_id: physical id of the table, or of the partition that holds the row.
    :param key: order-preserving encoding of the row's key.
    :param row_id: its integer handle, 0 under a common handle.
    :param values: canonical values, one per column of the table.
    :param stored: the ids of the columns that it was stored with, which later DDL does not change; bytes,
        because the garbage collector would visit every row with a set.
    """

    table_id: int
    key: bytes
    row_id: int
    values: tuple[Value, ...]
    stored: bytes

    @property
    def location(self) -> RowLocation:
        return self.table_id, self.key


class RowSource(Protocol):
    """Rows of a table that are stored only when a statement needs them."""

    def load_selected(self, table: Table, where: exp.Expr | None, /) -> None:
        """Store the rows that a WHERE may select."""

    def load_conflicting(self, table: Table, rows: Iterable[Sequence[Value]], /) -> None:
        """Store the rows that may have a unique key in common with some rows."""


@dataclass(slots=True)
class Table:
    """A table and its rows.

    :param entries: per unique index, the primary key included: from index key to row location.
    :param next_index_id: id of the next index; ids are never reused.
    :param secondary_index: per tuple of column offsets, built at its first lookup: from key to row locations.
    :param source: the rows that are not stored yet; None: all rows are stored.
    :param temporary: the kind of a temporary table, whose rows are not replicated.
    :param ttl: the column of the TTL; empty without one.
    """

    info: TableInfo
    ids: RowIds = field(default_factory=RowIds)
    partitioning: Partitioning | None = None
    next_index_id: int = 1
    foreign_keys: list[ForeignKeyInfo] = field(default_factory=list)
    rows: dict[RowLocation, Row] = field(default_factory=dict)
    entries: dict[str, dict[bytes, RowLocation]] = field(default_factory=dict)
    secondary_index: dict[tuple[int, ...], dict[bytes, set[RowLocation]]] = field(default_factory=dict)
    source: RowSource | None = None
    temporary: Temporary = ""
    ttl: str = ""
    cached: bool = False

    def read(self, row: Row) -> list[Value]:
        """Return the values of a row as statements read them.

        A CHAR column that was added later is stored with the trailing blanks of its DEFAULT until the row is
        written again. TiCDC sees these blanks, statements do not.
        """
        values = list(row.values)
        for offset in self.info.padded:
            value = values[offset]
            values[offset] = None if value is None else value.rstrip(b" ")
        return values

    def scan(self) -> list[Row]:
        """Return all rows in the order of their locations."""
        return [self.rows[location] for location in sorted(self.rows)]

    def seen(self, rows: list[Row], mode: SQLMode) -> list[Row]:
        """Return the rows that statements see: not those that are deleted softly."""
        marked = self.info.soft_delete_offset if mode.soft_deletes else None
        return rows if marked is None else [row for row in rows if row.values[marked] is None]

    @property
    def physical_ids(self) -> tuple[int, ...]:
        """The partitions' ids, or the table's own."""
        if not self.info.partitions:
            return (self.info.table_id,)
        return tuple(partition.id for partition in self.info.partitions)

    @property
    def has_hidden_id(self) -> bool:
        """True if rows are stored under ``_tidb_rowid``."""
        return self.info.clustered_key is None

    def make_row(self, values: Sequence[Value], row_id: int = 0, stored: bytes | None = None) -> Row:
        """Make a row with its key; ``row_id`` is used only if the table has a hidden row id.

        :param stored: the ids of the columns that it was stored with; None: those of the table.
        :raises ScenarioError: if no partition accepts the row.
        """
        clustered, home = self.info.clustered_key, self.home(values)
        stored = self.info.stored_ids if stored is None else stored
        if clustered is None:
            handle = handle_of(row_id)  # an unsigned counter may have passed the signed range
            return Row(home, int_key(handle), handle, tuple(values), stored)
        first = self.info.columns[clustered.offsets[0]]
        if len(clustered.offsets) == 1 and first.type in INTEGERS:
            handle = handle_of(int(values[clustered.offsets[0]] or 0))
            return Row(home, int_key(handle), handle, tuple(values), stored)
        return Row(home, index_key(self.info.columns, clustered, values) or b"", 0, tuple(values), stored)

    def home(self, values: Sequence[Value]) -> int:
        """Return the id of the partition of a row, or of the table.

        :raises ScenarioError: if no partition accepts the row.
        """
        if self.partitioning is None:
            return self.info.table_id
        return self.info.partitions[self.partitioning.locate(self.info, values)].id

    def accepts(self, values: Sequence[Value]) -> bool:
        """Return whether the table has a partition for a row, or needs none."""
        return self.partitioning is None or self.partitioning.accepts(self.info, values)

    def conflict(
        self, values: Sequence[Value], ignoring: RowLocation | None = None
    ) -> tuple[IndexInfo, Row] | None:
        """Return the first unique index where another row has the same key, the primary key first.

        :param ignoring: location of the row that is being updated; it does not conflict with itself.
        """
        self.load_conflicting([values])
        return self._holder(self._keys(values), ignoring)

    def _keys(self, values: Sequence[Value]) -> Keys:
        columns = self.info.columns
        return [(index, index_key(columns, index, values)) for index in self.info.unique_indexes]

    def _holder(self, keys: Keys, ignoring: RowLocation | None = None) -> tuple[IndexInfo, Row] | None:
        """Return the first unique index where another row has one of some keys."""
        for index, key in keys:
            conflicting = None if key is None else self.entries.get(index.name, {}).get(key)
            if conflicting is not None and conflicting != ignoring:
                return index, self.rows[conflicting]
        return None

    def load_selected(self, where: exp.Expr | None) -> None:
        """Store the rows that a WHERE may select, if they are not stored yet."""
        if self.source is not None:
            self.source.load_selected(self, where)

    def load_conflicting(self, rows: Iterable[Sequence[Value]]) -> None:
        """Store the rows that may have a unique key in common with some rows, if they are not stored yet."""
        if self.source is not None:
            self.source.load_conflicting(self, rows)

    def rows_holding(self, offsets: tuple[int, ...], key: bytes) -> list[Row]:
        """Return the rows whose columns have a key, in the order of their locations.

        :param key: a result of ``columns_key`` for columns of the same types.
        """
        if offsets not in self.secondary_index:
            self.secondary_index[offsets] = {}
            for row in self.rows.values():
                self._index(offsets, row)
        return [self.rows[location] for location in sorted(self.secondary_index[offsets].get(key, ()))]

    def _index(self, offsets: tuple[int, ...], row: Row) -> None:
        key = columns_key(self.info.columns, offsets, row.values)
        if key is not None:
            self.secondary_index[offsets].setdefault(key, set()).add(row.location)

    def _unindex(self, offsets: tuple[int, ...], row: Row) -> None:
        key = columns_key(self.info.columns, offsets, row.values)
        locations = None if key is None else self.secondary_index[offsets].get(key)
        if key is not None and locations is not None:
            locations.discard(row.location)
            if not locations:
                del self.secondary_index[offsets][key]

    def insert(self, row: Row) -> tuple[IndexInfo, Row] | None:
        """Store a row, unless another row has one of its keys; return the result of ``conflict``."""
        self.load_conflicting([row.values])
        keys = self._keys(row.values)
        conflict = self._holder(keys)
        if conflict is None:
            self._put(row, keys)
        return conflict

    def put(self, row: Row) -> None:
        """Store a row; no other row has its keys."""
        self._put(row, self._keys(row.values))

    def put_moved(self, row: Row) -> None:
        """Store a row of partitions that are reorganized, in its new partition.

        Its hidden id changes if another row there uses it, which EXCHANGE PARTITION makes possible.
        Source: tidb ``reorgPartitionWorker`` (``pkg/ddl/partition.go``).
        """
        moved = self.make_row(row.values, row.row_id, row.stored)
        if self.has_hidden_id and moved.location in self.rows:
            moved = self.make_row(row.values, self.ids.take_row_id(), row.stored)
        self.put(moved)

    def _put(self, row: Row, keys: Keys) -> None:
        location = row.location
        self.rows[location] = row
        for offsets in self.secondary_index:
            self._index(offsets, row)
        for index, key in keys:
            if key is not None:
                self.entries.setdefault(index.name, {})[key] = location

    def clear(self) -> None:
        """Remove all rows."""
        for stored in (self.rows, self.entries, self.secondary_index):
            stored.clear()

    def remove(self, row: Row) -> None:
        """Remove a stored row."""
        del self.rows[row.location]
        for offsets in self.secondary_index:
            self._unindex(offsets, row)
        for index, key in self._keys(row.values):
            if key is not None:
                self.entries.get(index.name, {}).pop(key, None)

    def replace(self, old: Row, new: Row) -> tuple[IndexInfo, Row] | None:
        """Store a row in place of another, unless a third one has one of its keys.

        :return: the result of ``conflict``.
        """
        self.load_conflicting([new.values])
        if old.location != new.location or self.secondary_index or self.changes_key(old, new):
            conflict = self._holder(self._keys(new.values), old.location)
            if conflict is not None:
                return conflict
            self.remove(old)
            self.put(new)
        else:
            self.rows[new.location] = new
        return None

    def changes_key(self, old: Row, new: Row) -> bool:
        """Return whether two rows differ in a column of a unique index."""
        before, after = old.values, new.values
        return any(
            before[offset] != after[offset] for index in self.info.unique_indexes for offset in index.offsets
        )

    def image(self, values: Sequence[Value]) -> RowImage:
        """Return the part of a row that reaches the sink."""
        if len(self.info.sent) == len(values):
            return tuple(values)
        return tuple(values[offset] for offset in self.info.sent)

    def duplicate_error(self, index: IndexInfo, values: Sequence[Value]) -> ScenarioError:
        """Return the error for a key that exists already."""
        entry = "-".join(
            display_value((values[offset] or b"").decode("utf-8", "replace")) for offset in index.offsets
        )
        column = self.info.columns[index.offsets[0]].name
        what = f"Duplicate entry {entry!r} for key '{self.info.name}.{index.name}'"
        return RowConflict(what, column=column, value=entry)
