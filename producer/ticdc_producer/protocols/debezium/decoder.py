"""Strict decoder of Debezium as TiCDC writes it: every malformed message is a ``DecodeError``.

It accepts more than TiCDC writes: members in any order, unknown members, payloads without their wrapper, a
missing key, and a tombstone (a null value), which contains no event. Messages do not contain the type of a
DDL event, so it is decoded as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, Op, ResolvedEvent
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.compression import PLAIN_STARTS, Decompressor
from ticdc_producer.protocols.debezium.message_json import ValueParts, parse_key, parse_value
from ticdc_producer.protocols.debezium.row_reader import RowReaders, row_event, row_readers
from ticdc_producer.protocols.debezium.value_readers import JSONValue
from ticdc_producer.protocols.invalid_utf8 import Escapes
from ticdc_producer.protocols.zone import zone_of

_OPS: dict[str | None, Op] = {"c": Op.INSERT, "u": Op.UPDATE, "d": Op.DELETE}
_WATERMARK = "m"
_UNKNOWN_DDL = 0


class DebeziumDecoder:
    """Decodes messages to events.

    :param time_zone: time zone of the changefeed; TIMESTAMP values are returned in it.
    """

    def __init__(self, *, time_zone: str = "UTC") -> None:
        self._zone = zone_of(time_zone)

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """The event of one message; nothing for a tombstone.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        if not ((key or b"{}").startswith(PLAIN_STARTS) and (value or b"{}").startswith(PLAIN_STARTS)):
            key, value = _texts(key, value)
        named, escapes = ({}, None) if key is None else parse_key(key)
        if value is not None:
            yield self._event(parse_value(value), named, escapes)
        elif key is None:
            raise DecodeError("DEBEZIUM-EMPTY", "a key or a value", part="value", byte=0)

    def _event(self, parts: ValueParts, key: Mapping[str, JSONValue], key_escapes: Escapes | None) -> Event:
        payload = parts.payload
        _check_source(parts)
        op = _OPS.get(payload.op)
        if op is not None:
            return row_event(parts, op, key, key_escapes, self._readers(parts))
        if payload.op is None:
            return _ddl(parts, key)
        if payload.op == _WATERMARK:
            if key:
                raise DecodeError("DEBEZIUM-KEY", "an empty key of a watermark", part="key", byte=0)
            return ResolvedEvent(commit_ts=payload.source.commit_ts)
        raise _error(parts, "DEBEZIUM-OP", "an op c, u, d or m", b'"op"')

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


def _texts(key: bytes | None, value: bytes | None) -> tuple[bytes | None, bytes | None]:
    decompressor = Decompressor()
    key_text = None if key is None else decompressor.text(key, "key")
    return key_text, None if value is None else decompressor.text(value, "value")


def _check_source(parts: ValueParts) -> None:
    source = parts.payload.source
    if not 0 <= source.commit_ts <= MAX_TS:
        raise _error(parts, "DEBEZIUM-SOURCE", "a commit_ts of 0 … 2^63-1", b'"commit_ts"')
    if parts.escapes is None:
        return
    names = (source.db, source.table, *(parts.payload.before or ()), *(parts.payload.after or ()))
    if any(map(parts.escapes.occur_in, names)):
        raise _error(parts, "DEBEZIUM-SOURCE", "names in UTF-8", b'"source"')


def _ddl(parts: ValueParts, key: Mapping[str, JSONValue]) -> DDLEvent:
    payload = parts.payload
    if payload.ddl is None or payload.database_name is None:
        raise _error(parts, "DEBEZIUM-OP", "an op, or ddl and databaseName", b'"payload"')
    if key.get("databaseName", payload.database_name) != payload.database_name:
        raise DecodeError("DEBEZIUM-KEY", "the value's databaseName", part="key", byte=0)
    return DDLEvent(
        commit_ts=payload.source.commit_ts,
        schema=payload.database_name,
        table=payload.source.table,
        query=payload.ddl if parts.escapes is None else parts.escapes.replaced(payload.ddl),
        ddl_type=_UNKNOWN_DDL,
    )


def _error(parts: ValueParts, code: str, expected: str, near: bytes) -> DecodeError:
    """An error located at the member ``near`` of the value."""
    return DecodeError(code, expected, part="value", byte=max(parts.json.find(near), 0))
