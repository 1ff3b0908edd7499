"""Reads rows by the schema of their table version: columns, handle key and value parsers."""

from __future__ import annotations

import binascii
from collections.abc import Iterable
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import EventColumn, Image, Value
from ticdc_producer.model.mysql_type import LOBS, STRINGS, TYPES, type_names
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.simple.avro_envelope import AvroCell, cell_text
from ticdc_producer.protocols.simple.envelope import (
    IndexJSON,
    RowJSON,
    SchemaColumnJSON,
    TableSchema,
    TimestampJSON,
)
from ticdc_producer.protocols.value_parsers import Parser, parser_for

_UNSPECIFIED = "unspecified"  # columns of a view, which has no rows
_BYTES = type_names(STRINGS | LOBS, binary=True)
_TIMESTAMP = "timestamp"
_Cell: TypeAlias = str | TimestampJSON


class TableReader:
    """Reads the rows of one table version.

    :param schema: the table schema in a DDL or BOOTSTRAP message.
    :raises DecodeError: for a column whose type is not a MySQL type.
    """

    def __init__(self, schema: TableSchema) -> None:
        key = _handle_key(schema.indexes)
        self.columns = {column.name: _event_column(column, column.name in key) for column in schema.columns}
        self._readers = {column.name: _reader(column) for column in schema.columns}
        self._texts = {
            name: read for name, read in self._readers.items() if self.columns[name].type != _TIMESTAMP
        }
        self._latest: tuple[tuple[str, ...], tuple[EventColumn, ...]] = (), ()

    def event_columns(self, row: RowJSON) -> tuple[EventColumn, ...]:
        """The columns of a row, in the order of the row. The result for the last order is cached.

        :raises DecodeError: for a column that the table does not have.
        """
        names, columns = tuple(row), self.columns
        if names != self._latest[0]:
            self._latest = names, tuple([columns[self._known(name)] for name in names])
        return self._latest[1]

    def image(self, row: RowJSON) -> Image:
        """The values of a row.

        :raises DecodeError: for a column that the table does not have, or a value that its type does not
            allow.
        """
        image: dict[str, Value] = {}
        texts, name = self._texts, ""
        try:
            for name, cell in row.items():
                read = texts.get(name)
                if read is not None and cell.__class__ is str:
                    image[name] = read(cell)
                else:
                    image[name] = self._other(self._known(name), cell)
        except BadValue as bad:
            raise _error(bad.code, f"{bad.expected} in column {name!r}") from None
        return image

    def _known(self, name: str) -> str:
        if name not in self.columns:
            raise _error("COLUMN", f"columns of the table; {name!r} is none")
        return name

    def _other(self, name: str, cell: _Cell | AvroCell | None) -> Value:
        """Convert NULL, a TIMESTAMP or an Avro value.

        :raises BadValue: for any other value.
        """
        if cell is None:
            return None
        if isinstance(cell, AvroCell):
            return cell_text(self.columns[name].type, cell, self._readers[name])
        if name in self._texts:
            raise BadValue("a string", "VALUE")
        if isinstance(cell, str):
            raise BadValue("a location and a value", "VALUE")
        return self._readers[name](cell.value)


def _error(code: str, expected: str) -> DecodeError:
    return DecodeError(f"SIMPLE-{code}", expected, part="value", byte=0)


def _handle_key(indexes: Iterable[IndexJSON]) -> frozenset[str]:
    """The columns of the handle key: the primary key, else the best unique index without NULLs.

    An index called ``primary`` with the columns of another unique index is not the primary key: TiCDC adds
    it.
    """
    unique = [index for index in indexes if index.unique and not index.nullable and not index.primary]
    others = [index.columns for index in unique]
    primary = [index for index in indexes if index.primary]
    own = [index for index in primary if index.name != "primary" or index.columns not in others]
    best = own or sorted(unique, key=lambda index: len(index.columns))
    return frozenset(best[0].columns) if best else frozenset()


def _event_column(column: SchemaColumnJSON, in_key: bool) -> EventColumn:
    kind = column.data_type
    flag = ColumnFlag.BINARY if kind.charset == "binary" else ColumnFlag(0)
    flag |= ColumnFlag.HANDLE_KEY if in_key else ColumnFlag(0)
    flag |= ColumnFlag.NULLABLE if column.nullable else ColumnFlag(0)
    flag |= ColumnFlag.UNSIGNED if kind.unsigned else ColumnFlag(0)
    return EventColumn(column.name, _type_text(column), int(flag))


_SIGNED = frozenset(spec.name for spec in TYPES.values() if spec.unsigned == "optional")


def _type_text(column: SchemaColumnJSON) -> str:
    name = column.data_type.mysql_type
    return f"{name} unsigned" if column.data_type.unsigned and name in _SIGNED else name


def _reader(column: SchemaColumnJSON) -> Parser:
    """The parser of the texts of a column; it raises ``BadValue``."""
    text = _type_text(column)
    if text in _BYTES:
        return _bytes
    if text == _UNSPECIFIED:
        return _unreadable
    try:
        return parser_for(text)
    except BadValue as bad:
        raise _error(bad.code, f"{bad.expected} of column {column.name!r}") from None


def _unreadable(_: str) -> bytes:
    raise BadValue("no value, since the column has no type,", "VALUE")


def _bytes(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # also raised for characters outside of ASCII
        raise BadValue("Base64", "BASE64") from None
