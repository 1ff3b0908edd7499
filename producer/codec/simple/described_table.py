"""A table version as its description tells it: columns, handle key, and how values are read."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable
from typing import TypeAlias

from producer.codec.simple.avro_cell import AvroCell, cell_text
from producer.codec.simple.envelope import ColumnJSON, IndexJSON, RowJSON, TableSchema, TimestampJSON
from producer.codec.text_values import BadValue, Reader, reader_of
from producer.errors import DecodeError
from producer.model.event import EventColumn, Image, Value
from producer.model.flags import ColumnFlag

_UNSPECIFIED = "unspecified"  # columns of a view, which has no rows
_BYTES = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
_Cell: TypeAlias = str | TimestampJSON
CellReader: TypeAlias = Callable[[_Cell], bytes]
"""JSON value to canonical text; raises ``BadValue``."""


class DescribedTable:
    """What rows of one table version are read with.

    :param schema: as the message has it.
    :raises DecodeError: for a column of no MySQL type.
    """

    def __init__(self, schema: TableSchema) -> None:
        key = _handle_key(schema.indexes)
        self.columns = {column.name: _event_column(column, column.name in key) for column in schema.columns}
        self._readers = {column.name: _reader(column) for column in schema.columns}

    def shown(self, row: RowJSON) -> tuple[EventColumn, ...]:
        """The columns of a row, in its order.

        :raises DecodeError: for a column that the table has not.
        """
        try:
            return tuple([self.columns[name] for name in row])
        except KeyError as error:
            raise _error("COLUMN", f"columns of the table; {error} is none") from None

    def image(self, row: RowJSON) -> Image:
        """The values of a row.

        :raises DecodeError: for a column that the table has not, and a value that its type has not.
        """
        self.shown(row)
        return {name: self._value(name, cell) for name, cell in row.items()}

    def _value(self, name: str, cell: _Cell | AvroCell | None) -> Value:
        try:
            if isinstance(cell, AvroCell):
                return cell_text(self.columns[name].type, cell, self._readers[name])
            return None if cell is None else self._readers[name](cell)
        except BadValue as bad:
            raise _error(bad.code, f"{bad.expected} in column {name!r}") from None


def _error(code: str, expected: str) -> DecodeError:
    return DecodeError(f"SIMPLE-{code}", expected, part="value", byte=0)


def _handle_key(indexes: Iterable[IndexJSON]) -> frozenset[str]:
    """The columns of the handle key: the primary key, else the best unique index without NULLs.

    An index called ``primary`` that repeats another stands for no primary key.
    """
    unique = [index for index in indexes if index.unique and not index.nullable and not index.primary]
    others = [index.columns for index in unique]
    primary = [index for index in indexes if index.primary]
    own = [index for index in primary if index.name != "primary" or index.columns not in others]
    best = own or sorted(unique, key=lambda index: len(index.columns))
    return frozenset(best[0].columns) if best else frozenset()


def _event_column(column: ColumnJSON, in_key: bool) -> EventColumn:
    kind = column.data_type
    flag = ColumnFlag.BINARY if kind.charset == "binary" else ColumnFlag(0)
    flag |= ColumnFlag.HANDLE_KEY if in_key else ColumnFlag(0)
    flag |= ColumnFlag.NULLABLE if column.nullable else ColumnFlag(0)
    flag |= ColumnFlag.UNSIGNED if kind.unsigned else ColumnFlag(0)
    return EventColumn(column.name, _type_text(column), int(flag))


_SIGNED = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "decimal"})


def _type_text(column: ColumnJSON) -> str:
    name = column.data_type.mysql_type
    return f"{name} unsigned" if column.data_type.unsigned and name in _SIGNED else name


def _reader(column: ColumnJSON) -> CellReader:
    text = _type_text(column)
    if text in _BYTES:
        return _bytes
    try:
        read = _unreadable if text == _UNSPECIFIED else reader_of(text)
    except BadValue as bad:
        raise _error(bad.code, f"{bad.expected} of column {column.name!r}") from None
    return _timestamp(read) if text == "timestamp" else _text(read)


def _unreadable(_: str) -> bytes:
    raise BadValue("VALUE", "no value, since the column has no type,")


def _text(read: Reader) -> CellReader:
    def text(cell: _Cell) -> bytes:
        if isinstance(cell, TimestampJSON):
            raise BadValue("VALUE", "a string")
        return read(cell)

    return text


def _timestamp(read: Reader) -> CellReader:
    def timestamp(cell: _Cell) -> bytes:
        if isinstance(cell, str):
            raise BadValue("VALUE", "a location and a value")
        return read(cell.value)

    return timestamp


def _bytes(cell: _Cell) -> bytes:
    if isinstance(cell, TimestampJSON):
        raise BadValue("VALUE", "a string")
    try:
        return binascii.a2b_base64(cell, strict_mode=True)
    except ValueError:  # also of characters outside of ASCII
        raise BadValue("BASE64", "Base64") from None
