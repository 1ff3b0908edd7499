"""Decodes the columns and images of a row message, by the readers that its schema gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from typing import Any

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import EventColumn, Image, Op, RowEvent, Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.number_text import plain_text
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.debezium.column_reader import ColumnReader, FieldSchema, column_reader, digits
from ticdc_producer.protocols.debezium.message_json import ValueParts
from ticdc_producer.protocols.debezium.value_readers import JSONValue
from ticdc_producer.protocols.invalid_utf8 import Escapes

_IMAGES = ("after", "before")
_MAX_CACHED_SCHEMA_SIZE = 1 << 20  # in bytes; larger schemas are not cached


class _EnvelopeFieldJSON(msgspec.Struct):
    field: str
    fields: msgspec.Raw = msgspec.Raw(b"[]")


class _EnvelopeJSON(msgspec.Struct):
    fields: list[_EnvelopeFieldJSON]


_ENVELOPE = msgspec.json.Decoder(_EnvelopeJSON)
_FIELDS = msgspec.json.Decoder(list[FieldSchema])


@dataclass(frozen=True, slots=True, eq=False)
class RowReaders:
    """Readers of the columns by name, virtual columns included."""

    by_name: Mapping[str, ColumnReader]


def row_readers(schema: bytes, zone: tzinfo) -> RowReaders:
    """Readers of the columns that a schema describes.

    :raises BadValue: for a schema that is not the schema of a row.
    :raises msgspec.DecodeError: for a schema that does not parse.
    """
    return _cached_readers(schema, zone) if len(schema) <= _MAX_CACHED_SCHEMA_SIZE else _compile(schema, zone)


def _compile(schema: bytes, zone: tzinfo) -> RowReaders:
    found = {bytes(entry.fields) for entry in _ENVELOPE.decode(schema).fields if entry.field in _IMAGES}
    if len(found) != 1:
        raise BadValue("one row schema, that of before and after")
    entries: dict[str, FieldSchema] = {}  # TiCDC new architecture lists virtual columns twice
    for entry in _FIELDS.decode(found.pop()):
        if entries.setdefault(entry.field, entry) != entry:
            raise BadValue(f"column {entry.field!r} once")
    return RowReaders({name: column_reader(entry, zone) for name, entry in entries.items()})


_cached_readers = lru_cache(maxsize=256)(_compile)


Members = Mapping[str, JSONValue]
_HANDLE_KEY = int(ColumnFlag.HANDLE_KEY)
_MAX_CACHED_NAME_LENGTH = 1 << 16  # in characters; larger sets of names are not cached
_MAX_CACHED = 256
_INSERT, _, _DELETE = Op  # enum member lookup by attribute is slow
_DOUBLE = MySQLType.DOUBLE
Readers = RowReaders | None

_latest: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...], Readers, tuple[EventColumn, ...]]] = {}

_UNTYPED: Mapping[type, Callable[[Any], Value]] = {
    int: digits,
    bool: lambda json: b"1" if json else b"0",
    float: lambda json: plain_text(json, _DOUBLE),
    type(None): lambda _: None,
}
"""Converts the values of a message without a schema: numbers to digits, strings to text."""


def row_event(
    parts: ValueParts, op: Op, key: Members, key_escapes: Escapes | None, readers: Readers
) -> RowEvent:
    """Decode a row event.

    :param key: members of the message key.
    :param readers: readers of the columns; None if the message has no schema.
    :raises DecodeError: for images that do not fit the operation, the key or the schema.
    """
    before, after = _images(parts, op)
    image = before if after is None else after
    if image is None:
        raise _error(parts, "DEBEZIUM-ROW", "an image")
    _check_key(parts, key, key_escapes, image)
    source = parts.payload.source
    return RowEvent(
        commit_ts=source.commit_ts,
        schema=source.db,
        table=source.table,
        op=op,
        columns=_columns((source.db, source.table), tuple(image), tuple(key), readers),
        before=None if before is None else _image(parts, before, readers),
        after=None if after is None else _image(parts, after, readers),
    )


def _images(parts: ValueParts, op: Op) -> tuple[Members | None, Members | None]:
    """The two images, checked against the operation. An update may lack the old image."""
    before, after = parts.payload.before, parts.payload.after
    if op is _INSERT:
        if before is not None or not after:
            raise _error(parts, "DEBEZIUM-ROW", "columns in after alone for op c")
    elif op is _DELETE:
        if after is not None or not before:
            raise _error(parts, "DEBEZIUM-ROW", "columns in before alone for op d")
    elif not after or (before is not None and before.keys() != after.keys()):
        raise _error(parts, "DEBEZIUM-ROW", "columns in after, and the same in before, for op u")
    return before, after


def _check_key(parts: ValueParts, key: Members, key_escapes: Escapes | None, image: Members) -> None:
    marked = key_escapes is not None or parts.escapes is not None
    for name, value in key.items():
        other = image.get(name, value)
        if value is other or (value == other and type(value) is type(other) and not marked):
            continue
        if _comparable(value, key_escapes) != _comparable(other, parts.escapes):
            raise DecodeError("DEBEZIUM-KEY", f"the value's {name!r}", part="key", byte=0)


def _comparable(value: JSONValue, escapes: Escapes | None) -> object:
    """A form of the value for comparison: two parts of a message may escape the same bytes differently."""
    if not isinstance(value, str):
        return type(value), value
    return value.encode() if escapes is None else escapes.unescape(value.encode())


def _columns(
    table: tuple[str, str], names: tuple[str, ...], key: tuple[str, ...], readers: Readers
) -> tuple[EventColumn, ...]:
    """The columns of the event, cached by column names, key and schema.

    The number and size of cached entries are limited, because a message may contain any names.

    :param table: database and table; the next message of a table usually has the same columns.
    """
    latest = _latest.get(table)
    if latest is not None and latest[0] == names and latest[1] == key and latest[2] is readers:
        return latest[3]
    if sum(map(len, (*table, *names, *key))) > _MAX_CACHED_NAME_LENGTH:
        return _event_columns(names, key, readers)
    if len(_latest) >= _MAX_CACHED:
        _latest.clear()
    columns = _cached_event_columns(names, key, readers)
    _latest[table] = names, key, readers, columns
    return columns


def _event_columns(names: tuple[str, ...], key: tuple[str, ...], readers: Readers) -> tuple[EventColumn, ...]:
    types = {} if readers is None else {name: each.type for name, each in readers.by_name.items()}
    keys = frozenset(key)
    return tuple([EventColumn(n, types.get(n, ""), _HANDLE_KEY if n in keys else 0) for n in names])


_cached_event_columns = lru_cache(maxsize=_MAX_CACHED)(_event_columns)


def _image(parts: ValueParts, members: Members, readers: Readers) -> Image:
    image: dict[str, Value] = {}
    name = ""
    try:
        if readers is None:
            for name, json in members.items():
                image[name] = json.encode() if isinstance(json, str) else _UNTYPED[type(json)](json)
        else:
            by_name = readers.by_name
            for name, json in members.items():
                column = by_name[name]
                image[name] = column.read(json) if json is not None else column.null()
    except KeyError:
        raise _bad_column(parts, name, "a column of the schema") from None
    except BadValue as bad:
        raise _bad_column(parts, name, bad.expected) from None
    return image if parts.escapes is None else _unescaped(members, image, parts.escapes)


def _unescaped(members: Members, image: dict[str, Value], escapes: Escapes) -> Image:
    """Restore the original bytes of an image; only text can contain escapes, other types reject it."""
    for name, json in members.items():
        value = image[name]
        if value is not None and isinstance(json, str) and escapes.occur_in(json):
            image[name] = escapes.unescape(value)
    return image


def _bad_column(parts: ValueParts, name: str, expected: str) -> DecodeError:
    from ticdc_producer.protocols.debezium import text

    byte = max(parts.json.find(text.string(name) + b":"), 0)
    return DecodeError("DEBEZIUM-COLUMN", f"{expected} in column {name!r}", part="value", byte=byte)


def _error(parts: ValueParts, code: str, expected: str) -> DecodeError:
    return DecodeError(code, expected, part="value", byte=max(parts.json.find(b'"op"'), 0))
