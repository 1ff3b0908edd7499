"""Rows of one table, under their keys, and the entries of its unique indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from producer.errors import ScenarioError
from producer.model.event import Value
from producer.model.mysql_type import INTEGERS
from producer.model.row_key import handle_of, index_key, int_key
from producer.model.sql_mode import shown_value
from producer.model.table import IndexInfo, TableInfo
from producer.scenario.history import RowImage
from producer.scenario.sql.allocator import RowIds


@dataclass(frozen=True, slots=True)
class Row:
    """A stored row.

    :param key: what it is stored under, in order-preserving form.
    :param row_id: its integer handle, 0 under a common handle.
    :param values: canonical values, one per column of the table.
    """

    key: bytes
    row_id: int
    values: tuple[Value, ...]


@dataclass(slots=True)
class Table:
    """A table and its rows.

    :param entries: per unique index (the primary key too): its key to the row's key.
    """

    info: TableInfo
    ids: RowIds = field(default_factory=RowIds)
    rows: dict[bytes, Row] = field(default_factory=dict)
    entries: dict[str, dict[bytes, bytes]] = field(default_factory=dict)

    def scan(self) -> list[Row]:
        """All rows in the order of their keys."""
        return [self.rows[key] for key in sorted(self.rows)]

    @property
    def has_hidden_id(self) -> bool:
        """Whether rows are stored under ``_tidb_rowid``."""
        return self.info.clustered_key is None

    def make_row(self, values: Sequence[Value], row_id: int = 0) -> Row:
        """The row under its key; ``row_id`` is used where the table has a hidden one."""
        clustered = self.info.clustered_key
        if clustered is None:
            return Row(int_key(row_id), row_id, tuple(values))
        first = self.info.columns[clustered.offsets[0]]
        if len(clustered.offsets) == 1 and first.type in INTEGERS:
            handle = handle_of(int(values[clustered.offsets[0]] or 0))
            return Row(int_key(handle), handle, tuple(values))
        return Row(index_key(self.info.columns, clustered, values) or b"", 0, tuple(values))

    def conflict(
        self, values: Sequence[Value], ignoring: bytes | None = None
    ) -> tuple[IndexInfo, Row] | None:
        """The first unique index in which these values meet another row, the primary key before all.

        :param ignoring: key of a row that does not count: the one being updated.
        """
        for index in self._unique_indexes():
            key = index_key(self.info.columns, index, values)
            holder = None if key is None else self.entries.get(index.name, {}).get(key)
            if holder is not None and holder != ignoring:
                return index, self.rows[holder]
        return None

    def put(self, row: Row) -> None:
        """Store a row whose keys are free."""
        self.rows[row.key] = row
        for index in self._unique_indexes():
            key = index_key(self.info.columns, index, row.values)
            if key is not None:
                self.entries.setdefault(index.name, {})[key] = row.key

    def remove(self, row: Row) -> None:
        """Take a stored row away."""
        del self.rows[row.key]
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
