"""Strict decoder of Debezium as TiCDC writes it: every malformed message is a ``DecodeError``.

It accepts more than TiCDC writes: members in any order, payloads without their wrapper, a missing key, and a
tombstone (a null value), which contains no event. Messages do not contain the type of a DDL event, so it is
decoded as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Op, ResolvedEvent, RowEvent, Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.tso import MAX_TS, physical
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.bytes_in_json import Escapes
from ticdc_producer.protocols.compression import PLAIN_STARTS, Decompressor
from ticdc_producer.protocols.debezium.column_reader import RowReaders, digits, row_readers
from ticdc_producer.protocols.debezium.message_parts import (
    NO_KEY,
    JSONValue,
    KeyParts,
    ValueParts,
    check_common_members,
    check_key_schema,
    parse_key,
    parse_value,
)
from ticdc_producer.protocols.debezium.schemas import is_ddl_schema

_OPS: dict[str | None, Op] = {"c": Op.INSERT, "u": Op.UPDATE, "d": Op.DELETE}
_WATERMARK = "m"
_UNKNOWN_DDL = 0


class DebeziumDecoder:
    """A decoder of messages to events.

    :param time_zone: time zone of the changefeed; TIMESTAMP values are returned in it.
    """

    def __init__(self, *, time_zone: str = "UTC") -> None:
        self._zone = zone_of(time_zone)

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the event of one message; nothing for a tombstone, a message without a value.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        if not ((key or b"{}").startswith(PLAIN_STARTS) and (value or b"{}").startswith(PLAIN_STARTS)):
            key, value = _texts(key, value)
        parsed_key = None if key is None else parse_key(key)
        if value is not None:
            yield self._event(parse_value(value), parsed_key)

    def _event(self, parts: ValueParts, parsed_key: KeyParts | None) -> Event:
        payload, key = parts.payload, parsed_key or NO_KEY
        _check_source(parts)
        op = _OPS.get(payload.op)
        if op is not None:
            readers = self._readers(parts)
            if parsed_key is not None:
                _check_key_schema(parts, parsed_key)
            return _row_event(parts, op, key.members, key.escapes, readers)
        if payload.op is None:
            return _ddl(parts, key.members)
        if payload.op == _WATERMARK:
            if key.members:
                raise DecodeError("DEBEZIUM-KEY", "an empty key of a watermark", part="key", byte=0)
            self._check_watermark_schema(parts)
            return ResolvedEvent(commit_ts=payload.source.commit_ts)
        raise _error(parts, "DEBEZIUM-OP", "an op c, u, d or m")

    def _check_watermark_schema(self, parts: ValueParts) -> None:
        if parts.schema is None:
            return
        try:
            check_common_members(parts.schema)
        except BadValue as bad:
            raise _error(parts, "DEBEZIUM-SCHEMA", bad.expected, b'"schema"') from None
        except (ValueError, RecursionError):
            raise _error(parts, "DEBEZIUM-SCHEMA", "the schema of a watermark", b'"schema"') from None

    def _readers(self, parts: ValueParts) -> RowReaders | None:
        if parts.schema is None:
            return None
        try:
            return row_readers(parts.schema, self._zone)
        except BadValue as bad:
            expected = bad.expected
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            expected = f"a row's schema ({error})"
        except RecursionError:
            expected = "a schema of a few levels"
        raise _error(parts, "DEBEZIUM-SCHEMA", expected, b'"schema"')


def _check_key_schema(parts: ValueParts, key: KeyParts) -> None:
    """Check that the schema of a key describes its members, as the schema of the value does.

    :raises DecodeError: if it does not, and if only the key or only the value has a schema.
    """
    if parts.schema is None or key.schema is None:
        if parts.schema is key.schema:
            return
        raise DecodeError("DEBEZIUM-KEY", "a schema in both key and value, or in none", part="key", byte=0)
    try:
        names = check_key_schema(key.schema, parts.schema)
    except BadValue as bad:
        expected = bad.expected
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        expected = f"a key's schema ({error})"
    else:
        if names == tuple(key.members):
            return
        expected = "the members of its schema"
    raise DecodeError("DEBEZIUM-KEY", expected, part="key", byte=0)


def _texts(key: bytes | None, value: bytes | None) -> tuple[bytes | None, bytes | None]:
    decompressor = Decompressor()
    key_text = None if key is None else decompressor.text(key, "key")
    return key_text, None if value is None else decompressor.text(value, "value")


def _check_source(parts: ValueParts) -> None:
    source = parts.payload.source
    if not 0 <= source.commit_ts <= MAX_TS:
        raise _error(parts, "DEBEZIUM-SOURCE", "a commit_ts of 0 … 2^63-1", b'"commit_ts"')
    if source.ts_ms != physical(source.commit_ts):
        raise _error(parts, "DEBEZIUM-SOURCE", "the milliseconds of commit_ts in ts_ms", b'"ts_ms"')
    if parts.escapes is None:
        return
    names = (source.db, source.table, *(parts.payload.before or ()), *(parts.payload.after or ()))
    if any(map(parts.escapes.occur_in, names)):
        raise _error(parts, "DEBEZIUM-SOURCE", "names in UTF-8", b'"source"')


def _ddl(parts: ValueParts, key: Mapping[str, JSONValue]) -> DDLEvent:
    payload = parts.payload
    if payload.ddl is None or payload.database_name is None:
        raise _error(parts, "DEBEZIUM-OP", "an op, or ddl and databaseName", b'"payload"')
    if payload.table_changes is None:
        raise _error(parts, "DEBEZIUM-OP", "tableChanges", b'"payload"')
    if parts.schema is not None and not _has_ddl_schema(parts.schema):
        raise _error(parts, "DEBEZIUM-SCHEMA", "the schema of a DDL", b'"schema"')
    if key.get("databaseName", payload.database_name) != payload.database_name:
        raise DecodeError("DEBEZIUM-KEY", "the value's databaseName", part="key", byte=0)
    return DDLEvent(
        commit_ts=payload.source.commit_ts,
        schema=payload.database_name,
        table=payload.source.table,
        query=payload.ddl if parts.escapes is None else parts.escapes.replaced(payload.ddl),
        ddl_type=_UNKNOWN_DDL,
    )


def _has_ddl_schema(schema: bytes) -> bool:
    try:
        return is_ddl_schema(schema)
    except (ValueError, RecursionError):
        return False


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


def _row_event(
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
    """Return the two images, checked against the operation. An update may lack the old image."""
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
    """Return a form of the value for comparison.

    Two parts of a message may escape the same bytes differently.
    """
    if not isinstance(value, str):
        return type(value), value
    return value.encode() if escapes is None else escapes.unescape(value.encode())


def _columns(
    table: tuple[str, str], names: tuple[str, ...], key: tuple[str, ...], readers: Readers
) -> tuple[EventColumn, ...]:
    """Return the columns of the event, cached by column names, key and schema.

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
    types = {} if readers is None else {name: reader.type for name, reader in readers.by_name.items()}
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
    from ticdc_producer.protocols.go_json import JSONITER_STRINGS

    near = JSONITER_STRINGS.literal(name) + b":"
    return _error(parts, "DEBEZIUM-COLUMN", f"{expected} in column {name!r}", near)


def _error(parts: ValueParts, code: str, expected: str, near: bytes = b'"op"') -> DecodeError:
    """Return an error located at the member ``near`` of the value."""
    return DecodeError(code, expected, part="value", byte=max(parts.json.find(near), 0))
