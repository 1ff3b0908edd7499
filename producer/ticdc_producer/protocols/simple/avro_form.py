"""Reads messages in Simple's Avro encoding as they are, by their schema, into values of JSON.

The envelope has what a consumer needs of a message. Here every field is read. Source of the schema: tiflow
``pkg/sink/codec/simple/message.json``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from ticdc_producer.protocols.avro.field_reader import AvroCursor
from ticdc_producer.protocols.craft.wire import varint
from ticdc_producer.protocols.simple import envelope as layout

_FieldReader: TypeAlias = Callable[[AvroCursor], Any]


def avro_form(value: bytes) -> dict[str, object]:
    """Return the content of a message: ``message`` for its type, and the members of its payload.

    A row is a map, whose order means nothing. TiCDC writes it in random order.

    :raises DecodeError: if the bytes do not have the schema.
    """
    cursor = AvroCursor(value, "value", len(layout.MESSAGE), "SIMPLE")
    kind = [*_PAYLOADS][_index(cursor, len(_PAYLOADS))]
    if cursor.long() != [*_PAYLOADS].index(kind):
        raise cursor.error("TYPE", "the payload of the message's type")
    payload = _PAYLOADS[kind](cursor)
    cursor.end()
    return {"message": kind, **payload}


def _text(cursor: AvroCursor) -> str | dict[str, str]:
    """Read a string or bytes; what is not UTF-8 is an object with its hexadecimal digits."""
    content = cursor.length_prefixed()
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"bytes": content.hex()}


def _boolean(cursor: AvroCursor) -> bool | str:
    content = cursor.take(1)
    return content == b"\x01" if content <= b"\x01" else content.hex()


def _symbol(*symbols: str) -> _FieldReader:
    return lambda cursor: symbols[_index(cursor, len(symbols))]


def _index(cursor: AvroCursor, count: int) -> int:
    index = cursor.long()
    if not 0 <= index < count:
        raise cursor.error("UNION", f"an index of 0 … {count - 1}")
    return index


def _union(*branches: tuple[str, _FieldReader]) -> _FieldReader:
    """Return a reader of a union: an object with the name of the branch; null for the branch ``null``."""

    def read(cursor: AvroCursor) -> dict[str, Any] | None:
        name, of_branch = branches[_index(cursor, len(branches))]
        return None if name == "null" else {name: of_branch(cursor)}

    return read


def _optional(read: _FieldReader) -> _FieldReader:
    return lambda cursor: read(cursor) if cursor.branch() else None


def _record(**fields: _FieldReader) -> _FieldReader:
    return lambda cursor: {name: read(cursor) for name, read in fields.items()}


def _list(read: _FieldReader) -> _FieldReader:
    def items(cursor: AvroCursor) -> list[Any]:
        elements: list[Any] = []
        while count := cursor.long():
            if not 0 < count <= len(cursor.data) - cursor.position:
                raise cursor.error("BLOCK", "a number of items that the message can hold")
            elements += [read(cursor) for _ in range(count)]
        return elements

    return items


def _map(read: _FieldReader) -> _FieldReader:
    entries = _list(lambda cursor: (cursor.text(), read(cursor)))
    return lambda cursor: dict(entries(cursor))


_LONG: _FieldReader = AvroCursor.long
_ROW = _optional(_map(_union(
    ("null", _LONG), ("long", _LONG), ("float", AvroCursor.binary32), ("double", AvroCursor.binary64),
    ("string", _text), ("bytes", _text), ("Timestamp", _record(location=_text, value=_text)),
    ("UnsignedBigint", _record(value=_LONG)),
)))  # fmt: skip
_DATA_TYPE = _record(
    mysqlType=_text, charset=_text, collate=_text, length=_LONG, decimal=_optional(_LONG),
    elements=_optional(_list(_text)), unsigned=_optional(_boolean), zerofill=_optional(_boolean),
)  # fmt: skip
_COLUMN = _record(name=_text, dataType=_DATA_TYPE, nullable=_boolean, default=_optional(_text))
_INDEX = _record(name=_text, unique=_boolean, primary=_boolean, nullable=_boolean, columns=_list(_text))
_TABLE = _record(
    database=_text, table=_text, tableID=_LONG, version=_LONG, columns=_list(_COLUMN), indexes=_list(_INDEX)
)
_CHECKSUM = _record(version=_LONG, corrupted=_boolean, current=_LONG, previous=_LONG)
_VERSIONED = partial(_record, version=_LONG)
_PAYLOADS: dict[str, _FieldReader] = {
    "WATERMARK": _VERSIONED(commitTs=_LONG, buildTs=_LONG),
    "BOOTSTRAP": _VERSIONED(buildTs=_LONG, tableSchema=_TABLE),
    "DDL": _VERSIONED(
        type=_symbol(*layout.DDL_TYPES), sql=_text, commitTs=_LONG, buildTs=_LONG,
        tableSchema=_optional(_TABLE), preTableSchema=_optional(_TABLE),
    ),
    "DML": _VERSIONED(
        database=_text, table=_text, tableID=_LONG, type=_symbol(*layout.OP_NAMES), commitTs=_LONG,
        buildTs=_LONG, schemaVersion=_LONG, claimCheckLocation=_optional(_text),
        handleKeyOnly=_optional(_boolean), checksum=_optional(_CHECKSUM), data=_ROW, old=_ROW,
    ),
}  # fmt: skip
"""The readers of the payloads, by symbol of the message type: TiCDC numbers both alike."""


def without_build_ts(value: bytes) -> bytes:
    """Return a message without the number of its ``buildTs``; other bytes are returned as they are.

    The fields before it say where it is, so messages with equal results differ in this number alone.

    >>> head = layout.MESSAGE + bytes([0, 0, 2])  # a WATERMARK of version 1
    >>> without_build_ts(head + bytes([0x82, 0x01, 0x84, 0x05])) == head + bytes([0x82, 0x01])
    True
    """
    before = _BEFORE_BUILD_TS.get(value[:_HEAD_SIZE])
    if before is None:
        return value
    position, texts, longs = before
    try:
        for _ in range(texts):  # most of them have up to 63 bytes
            size = value[position]
            position = position + 1 + (size >> 1) if size < 0x80 else _after_long_text(value, position)
    except IndexError:
        return value
    numbers = longs.match(value, position)
    if numbers is None:
        return value
    start, end = numbers.span(1)
    return value[:start] + value[end:]


def _after_long_text(value: bytes, position: int) -> int:
    size = (value[position] & 0x7F) + (value[position + 1] << 7)
    if size >= 1 << 14:  # longer than 8,191 bytes: a DDL
        raise IndexError
    return position + 2 + (size >> 1)


def _longs(number: int) -> re.Pattern[bytes]:
    """Return the pattern of some numbers, and of the ``buildTs`` after them as a group."""
    long = rb"[\x80-\xff]*+[\x00-\x7f]"
    return re.compile(long * number + b"(" + long + b")")


def _head(kind: int) -> bytes:
    return layout.MESSAGE + varint(kind) * 2 + varint(layout.VERSION)


_HEAD_SIZE = len(_head(layout.DML))
_BEFORE_BUILD_TS: Mapping[bytes, tuple[int, int, re.Pattern[bytes]]] = {
    _head(layout.AVRO_WATERMARK): (_HEAD_SIZE, 0, _longs(1)),
    _head(layout.AVRO_BOOTSTRAP): (_HEAD_SIZE, 0, _longs(0)),
    _head(layout.DDL): (_HEAD_SIZE + 1, 1, _longs(1)),
    _head(layout.DML): (_HEAD_SIZE, 2, _longs(3)),
}
"""By head of the message the position of its first text, the number of texts, and the numbers after them."""
