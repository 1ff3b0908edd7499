"""A change log as plain objects, which strategies draw and codecs encode, and its schema ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.names import Part
from ticdc_producer.testing.state_diff import Cell, Rows, cell

if TYPE_CHECKING:
    from hypothesis.vendor.pretty import RepresentationPrinter


Image: TypeAlias = tuple[Value, ...]
"""Canonical texts of a row's values, in the order of ``table.sent_columns``."""
RowKey: TypeAlias = tuple[Value, ...]


class _PrettyRepr:
    """A base class with which Hypothesis prints the ``repr`` in failing examples, not every field."""

    __slots__ = ()

    def _repr_pretty_(self, printer: RepresentationPrinter, _cycle: bool) -> None:
        printer.text(repr(self))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RowChange(_PrettyRepr):
    """One net change of one row.

    :param before: old image; None for an insert.
    :param after: new image; None for a delete.
    """

    table: TableInfo
    op: Op
    before: Image | None = None
    after: Image | None = None

    @property
    def image(self) -> Image:
        """The new image, for a delete the old one."""
        image = self.before if self.after is None else self.after
        if image is None:
            raise ArgumentError("a change without images", argument="before")
        return image

    def __repr__(self) -> str:
        images = [named(self.table, image) for image in (self.before, self.after) if image is not None]
        return f"{self.op.label} {self.table.qualified_name} {' -> '.join(map(str, images))}"

    @property
    def physical_id(self) -> int:
        """The id of the table, or of the partition that contains the row."""
        return self.table.partitions[0].id if self.table.partitions else self.table.table_id


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Transaction(_PrettyRepr):
    """Changes with one commit-ts (TSO), in the order in which TiCDC sends them."""

    commit_ts: int
    changes: tuple[RowChange, ...]

    def __repr__(self) -> str:
        return f"{self.commit_ts}: {'; '.join(map(repr, self.changes))}"


@dataclass(frozen=True, kw_only=True, repr=False)
class ChangeLog(_PrettyRepr):
    """A history that starts with empty tables.

    :param transactions: transactions with increasing commit-ts.
    """

    tables: tuple[TableInfo, ...]
    transactions: tuple[Transaction, ...]

    def __repr__(self) -> str:
        return "\n".join([*map(_table_text, self.tables), *map(repr, self.transactions)])

    @cached_property
    def state(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → the rows at the end, each column → canonical text, bytes if that is not UTF-8,
        None for NULL.
        """
        rows: dict[str, dict[RowKey, Image]] = {table.qualified_name: {} for table in self.tables}
        for change in self.changes():
            apply(change, rows[change.table.qualified_name])
        return {
            table.qualified_name: [named(table, image) for image in rows[table.qualified_name].values()]
            for table in self.tables
        }

    def changes(self) -> Iterator[RowChange]:
        """Yield all changes, in order."""
        for transaction in self.transactions:
            yield from transaction.changes


def apply(change: RowChange, rows: dict[RowKey, Image]) -> None:
    """Apply a change to a table's rows."""
    key = row_key(change.table, change.image)
    if change.after is None:
        del rows[key]
    else:
        rows[key] = change.after


def row_key(table: TableInfo, image: Image) -> RowKey:
    """Return the handle key's values of a row.

    :raises ArgumentError: for a table without a handle key.
    """
    return tuple(image[index] for index in key_indexes(table))


def key_indexes(table: TableInfo) -> Sequence[int]:
    """Return the indexes of the handle key's columns in an image.

    :raises ArgumentError: for a table without a handle key.
    """
    if table.handle_index is None:
        hint = "TiCDC does not replicate it: give it a primary key"
        raise ArgumentError(f"table {table.qualified_name} has no handle key", argument="tables", hint=hint)
    return [table.sent.index(offset) for offset in table.handle_index.offsets]


def named(table: TableInfo, image: Image) -> dict[str, Cell]:
    """Return a row as column name → value."""
    names = [column.name for column in table.sent_columns]
    return dict(zip(names, map(cell, image), strict=True))


def _table_text(table: TableInfo) -> str:
    columns = ", ".join(f"{column.name!r} {column.type_name}" for column in table.columns)
    index = table.handle_index
    key = "no key" if index is None else f"{'primary' if index.primary else 'unique'} key"
    names = [repr(table.columns[offset].name) for offset in index.offsets] if index else []
    return f"{table.qualified_name} ({columns}; {' '.join([key, ', '.join(names)]).strip()})"


_IDS = 2**31 - 1
"""Ids are 32-bit integers that registries count from 1."""
_schemas: dict[int, str] = {}


class RegisteredIDs(Mapping[tuple[Part, str], int]):
    """The ids of a registry that registers a schema when its id is looked up."""

    def __init__(self) -> None:
        self._ids: dict[tuple[Part, str], int] = {}

    def __getitem__(self, entry: tuple[Part, str]) -> int:
        """Return the id of a schema.

        :raises ArgumentError: if another schema of this process has the id.
        """
        _, schema = entry
        number = crc32(schema.encode()) % _IDS + 1
        if _schemas.setdefault(number, schema) != schema:
            what = f"two schemas have the id {number}; draw another example"
            raise ArgumentError(what, argument="protocol")
        return self._ids.setdefault(entry, number)

    def __iter__(self) -> Iterator[tuple[Part, str]]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def avro_schema(number: int) -> str | None:
    """Return the schema of an id in a message that this process encoded; None for an unknown id."""
    return _schemas.get(number)
