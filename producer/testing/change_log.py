"""What was committed upstream, as plain objects: what the strategies draw and the codecs encode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from producer.errors import ArgumentError
from producer.model.event import Op, Value
from producer.model.table import TableInfo

Image: TypeAlias = tuple[Value, ...]
"""Canonical texts of a row's values, in the order of ``table.sent_columns``."""
RowKey: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """One net change of one row.

    :param before: None of an insert.
    :param after: None of a delete.
    """

    table: TableInfo
    op: Op
    before: Image | None = None
    after: Image | None = None

    @property
    def shown(self) -> Image:
        """The new image, of a delete the old one."""
        image = self.before if self.after is None else self.after
        if image is None:
            raise ArgumentError("a change without any image", argument="before")
        return image

    @property
    def physical_id(self) -> int:
        """The id of the table, or of the partition that the row lives in."""
        return self.table.partitions[0].id if self.table.partitions else self.table.table_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """Changes with one commit-ts (TSO), in the order in which TiCDC sends them."""

    commit_ts: int
    changes: tuple[RowChange, ...]


@dataclass(frozen=True, kw_only=True)
class ChangeLog:
    """A history that starts with empty tables.

    :param transactions: their commit-ts grow.
    """

    tables: tuple[TableInfo, ...]
    transactions: tuple[Transaction, ...]

    @cached_property
    def state(self) -> Mapping[str, list[dict[str, Value]]]:
        """``SCHEMA.TABLE`` to the rows at the end: column to canonical text, None for NULL."""
        kept: dict[str, dict[RowKey, Image]] = {table.qualified_name: {} for table in self.tables}
        for change in self.changes():
            apply(change, kept[change.table.qualified_name])
        return {
            table.qualified_name: [named(table, image) for image in kept[table.qualified_name].values()]
            for table in self.tables
        }

    def changes(self) -> Iterator[RowChange]:
        """All changes, in order."""
        for transaction in self.transactions:
            yield from transaction.changes


def apply(change: RowChange, rows: dict[RowKey, Image]) -> None:
    """Change a table's rows."""
    key = row_key(change.table, change.shown)
    if change.after is None:
        del rows[key]
    else:
        rows[key] = change.after


def row_key(table: TableInfo, image: Image) -> RowKey:
    """The handle key's values of a row.

    :raises ArgumentError: for a table without a handle key.
    """
    return tuple(image[place] for place in key_places(table))


def key_places(table: TableInfo) -> Sequence[int]:
    """Where the handle key's columns stand in an image.

    :raises ArgumentError: for a table without a handle key.
    """
    if table.handle_index is None:
        hint = "TiCDC does not replicate it: give it a primary key"
        raise ArgumentError(f"table {table.qualified_name} has no handle key", argument="tables", hint=hint)
    return [table.sent.index(offset) for offset in table.handle_index.offsets]


def named(table: TableInfo, image: Image) -> dict[str, Value]:
    """A row as column name to value."""
    return dict(zip((column.name for column in table.sent_columns), image, strict=True))
