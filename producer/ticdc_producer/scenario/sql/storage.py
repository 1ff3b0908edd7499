"""Rows of one table, under their places, and the entries of its unique indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.row_key import columns_key, handle_of, index_key, int_key
from ticdc_producer.model.sql_mode import shown_value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import RowImage
from ticdc_producer.scenario.sql.allocator import RowIds
from ticdc_producer.scenario.sql.foreign_key import ForeignKey
from ticdc_producer.scenario.sql.partitioning import Partitioning

Place: TypeAlias = tuple[int, bytes]
"""Physical table id and row key."""


@dataclass(frozen=True, slots=True)
class Row:
    """A stored row.

    :param table_id: the table, or the partition that the row lives in.
    :param key: what it is stored under, in order-preserving form.
    :param row_id: its integer handle, 0 under a common handle.
    :param values: canonical values, one per column of the table.
    """

    table_id: int
    key: bytes
    row_id: int
    values: tuple[Value, ...]

    @property
    def place(self) -> Place:
        return self.table_id, self.key


@dataclass(slots=True)
class Table:
    """A table and its rows.

    :param entries: per unique index (the primary key too): its key to the row's place.
    :param next_index_id: what the next index gets; ids are never used twice.
    :param holders: per columns that were asked for: places of the rows, by what these columns hold.
    """

    info: TableInfo
    ids: RowIds = field(default_factory=RowIds)
    partitioning: Partitioning | None = None
    next_index_id: int = 1
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    rows: dict[Place, Row] = field(default_factory=dict)
    entries: dict[str, dict[bytes, Place]] = field(default_factory=dict)
    holders: dict[tuple[int, ...], dict[bytes, set[Place]]] = field(default_factory=dict)

    def scan(self) -> list[Row]:
        """All rows in the order of their places."""
        return [self.rows[place] for place in sorted(self.rows)]

    @property
    def physical_ids(self) -> tuple[int, ...]:
        """The partitions' ids, or the table's own."""
        return tuple(partition.id for partition in self.info.partitions) or (self.info.table_id,)

    @property
    def has_hidden_id(self) -> bool:
        """Whether rows are stored under ``_tidb_rowid``."""
        return self.info.clustered_key is None

    def make_row(self, values: Sequence[Value], row_id: int = 0) -> Row:
        """The row under its key; ``row_id`` is used where the table has a hidden one.

        :raises ScenarioError: where no partition takes the row.
        """
        clustered, home = self.info.clustered_key, self._home(values)
        if clustered is None:
            handle = handle_of(row_id)  # an unsigned counter may have passed the signed range
            return Row(home, int_key(handle), handle, tuple(values))
        first = self.info.columns[clustered.offsets[0]]
        if len(clustered.offsets) == 1 and first.type in INTEGERS:
            handle = handle_of(int(values[clustered.offsets[0]] or 0))
            return Row(home, int_key(handle), handle, tuple(values))
        return Row(home, index_key(self.info.columns, clustered, values) or b"", 0, tuple(values))

    def _home(self, values: Sequence[Value]) -> int:
        if self.partitioning is None:
            return self.info.table_id
        return self.info.partitions[self.partitioning.locate(self.info, values)].id

    def conflict(
        self, values: Sequence[Value], ignoring: Place | None = None
    ) -> tuple[IndexInfo, Row] | None:
        """The first unique index in which these values meet another row, the primary key before all.

        :param ignoring: place of a row that does not count: the one being updated.
        """
        for index in self._unique_indexes():
            key = index_key(self.info.columns, index, values)
            holder = None if key is None else self.entries.get(index.name, {}).get(key)
            if holder is not None and holder != ignoring:
                return index, self.rows[holder]
        return None

    def rows_holding(self, offsets: tuple[int, ...], key: bytes) -> list[Row]:
        """The rows whose columns make a key, in the order of their places.

        :param key: what ``columns_key`` makes of columns of the same types.
        """
        if offsets not in self.holders:
            self.holders[offsets] = {}
            for row in self.rows.values():
                self._hold(offsets, row)
        return [self.rows[place] for place in sorted(self.holders[offsets].get(key, ()))]

    def _hold(self, offsets: tuple[int, ...], row: Row) -> None:
        key = columns_key(self.info.columns, offsets, row.values)
        if key is not None:
            self.holders[offsets].setdefault(key, set()).add(row.place)

    def _let_go(self, offsets: tuple[int, ...], row: Row) -> None:
        key = columns_key(self.info.columns, offsets, row.values)
        places = None if key is None else self.holders[offsets].get(key)
        if key is not None and places is not None:
            places.discard(row.place)
            if not places:
                del self.holders[offsets][key]

    def put(self, row: Row) -> None:
        """Store a row whose keys are free."""
        self.rows[row.place] = row
        for offsets in self.holders:
            self._hold(offsets, row)
        for index in self._unique_indexes():
            key = index_key(self.info.columns, index, row.values)
            if key is not None:
                self.entries.setdefault(index.name, {})[key] = row.place

    def remove(self, row: Row) -> None:
        """Take a stored row away."""
        del self.rows[row.place]
        for offsets in self.holders:
            self._let_go(offsets, row)
        for index in self._unique_indexes():
            key = index_key(self.info.columns, index, row.values)
            if key is not None:
                self.entries.get(index.name, {}).pop(key, None)

    def image(self, values: Sequence[Value]) -> RowImage:
        """The part of a row that reaches the sink."""
        return tuple(values[offset] for offset in self.info.sent)

    def duplicate(self, index: IndexInfo, values: Sequence[Value]) -> ScenarioError:
        """The error for a key that exists already."""
        shown = "-".join(
            shown_value((values[offset] or b"").decode("utf-8", "replace")) for offset in index.offsets
        )
        column = self.info.columns[index.offsets[0]].name
        what = f"Duplicate entry {shown!r} for key '{self.info.name}.{index.name}'"
        return ScenarioError(what, column=column, value=shown)

    def _unique_indexes(self) -> list[IndexInfo]:
        unique = [index for index in self.info.indexes if index.unique]
        return sorted(unique, key=lambda index: not index.primary)
