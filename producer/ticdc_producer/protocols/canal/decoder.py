"""Strict decoder of Canal: every malformed packet is a ``DecodeError`` with its byte offset.

It accepts more than TiCDC writes: unknown fields, fields in any order, several rows in an entry, and values
that Protocol Buffers omit because they are a default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Op, RowEvent, Value
from ticdc_producer.model.tso import LOGICAL_BITS, MAX_TS, compose
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.canal.wire import fields
from ticdc_producer.protocols.canal_json.envelope import action_code, codes_of
from ticdc_producer.protocols.value_parsers import Parser, parser_for
from ticdc_producer.protocols.wire import EventBytes

EVENT_TYPE_OF = {
    "CREATE": 4, "ALTER": 5, "ERASE": 6, "QUERY": 7, "TRUNCATE": 8, "RENAME": 9, "CINDEX": 10, "DINDEX": 11,
}  # fmt: skip
"""Canal's number of each kind of DDL."""
_KEYWORDS = {number: keyword for keyword, number in EVENT_TYPE_OF.items()}
_INSERT, _UPDATE, _DELETE = Op  # access to a member through its class is slow
_OPS = {1: _INSERT, 2: _UPDATE, 3: _DELETE}

_VERSION, _MESSAGES, _NO_COMPRESSION, _ROW_DATA = 1, 7, (0, 1), 2
_MAX_MILLISECONDS = MAX_TS >> LOGICAL_BITS
_SIGN, _WRAP = 1 << 63, 1 << 64
_PRIMARY = int(ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY)

Span: TypeAlias = tuple[int, int]
"""Start and end of a part of a message."""


def entries(value: bytes) -> Iterator[Span]:
    """Yield the entries of a packet.

    :raises DecodeError: if it is not a packet of version 1 with messages.
    """
    version = kind = compression = 0
    body: Span = (0, 0)
    for number, first, last in fields(value, 0, len(value)):
        match number:
            case 2:
                version = first
            case 3:
                kind = first
            case 4:
                compression = first
            case 5:
                body = _span(5, first, last)
    if (version, kind) != (_VERSION, _MESSAGES) or compression not in _NO_COMPRESSION:
        raise _error("CANALPB-PACKET", "a packet of version 1 and type MESSAGES, not compressed", 0)
    for number, first, last in fields(value, *body):
        if number == 2:  # Messages.messages
            yield _span(2, first, last)


def event_bytes(key: bytes | None, value: bytes | None) -> list[EventBytes]:
    """Return the entry of each event of a packet; what cannot be divided is one event.

    :param key: TiCDC writes none.
    """
    value = value or b""
    try:
        return [(key, value[first:last]) for first, last in entries(value)]
    except DecodeError:
        return [(key, value)]


class CanalDecoder:
    """A decoder of messages to events."""

    def events(
        self,
        key: bytes | None,  # noqa: ARG002  # the protocol has no keys
        value: bytes | None,
    ) -> Iterator[Event]:
        """Yield the events of one message, in order.

        :param key: ignored.
        :raises DecodeError: if this is not a message of the protocol.
        """
        value = value or b""
        for span in entries(value):
            yield from _entry_events(value, span)


@dataclass(slots=True)
class EntryHeader:
    """The header of an entry.

    :ivar event_type: UPDATE unless it is there, as in canal.
    """

    commit_ts: int = 0
    schema: str = ""
    table: str = ""
    event_type: int = 2


def entry_header(data: bytes, span: Span) -> tuple[EntryHeader, Span]:
    """Return the header of an entry, and where its change is.

    :raises DecodeError: if it is not an entry of rows.
    """
    header, change, kind = EntryHeader(), (span[1], span[1]), _ROW_DATA
    for number, first, last in fields(data, *span):
        match number:
            case 1:
                header = _header(data, _span(1, first, last))
            case 2:
                kind = first
            case 3:
                change = _span(3, first, last)
    if kind != _ROW_DATA:
        raise _error("CANALPB-ENTRY", "an entry of type ROWDATA", span[0])
    return header, change


def _header(data: bytes, span: Span) -> EntryHeader:
    header, version = EntryHeader(), 0
    for number, first, last in fields(data, *span):
        match number:
            case 1:
                version = first
            case 6:
                if not 0 <= first <= _MAX_MILLISECONDS or last != -1:
                    raise _error("CANALPB-TIME", "milliseconds since 1970 in executeTime", span[0])
                header.commit_ts = compose(first)
            case 8:
                header.schema = _text(data, number, first, last)
            case 9:
                header.table = _text(data, number, first, last)
            case 11:
                header.event_type = first
    if version != _VERSION:
        raise _error("CANALPB-HEADER", "version 1", span[0])
    return header


def _entry_events(data: bytes, span: Span) -> Iterator[Event]:
    header, change = entry_header(data, span)
    rows: list[Span] = []
    event_type, is_ddl, query = 2, False, ""
    for number, first, last in fields(data, *change):
        match number:
            case 2:
                event_type = first
            case 10:
                is_ddl = bool(first)
            case 11:
                query = _text(data, number, first, last)
            case 12:
                rows.append(_span(12, first, last))
    if event_type != header.event_type:
        raise _error("CANALPB-EVENT-TYPE", "the eventType of the header", change[0])
    if is_ddl:
        yield _ddl(header, query, change)
        return
    op = _OPS.get(event_type)
    if op is None:
        raise _error("CANALPB-EVENT-TYPE", "an eventType INSERT, UPDATE or DELETE", change[0])
    if not rows:
        raise _error("CANALPB-ROW", "a row", change[0])
    for row in rows:
        yield _row_event(data, header, op, row)


def _ddl(header: EntryHeader, query: str, span: Span) -> DDLEvent:
    keyword = _KEYWORDS.get(header.event_type)
    if keyword is None:
        raise _error("CANALPB-EVENT-TYPE", "the eventType of a DDL", span[0])
    return DDLEvent(
        commit_ts=header.commit_ts,
        schema=header.schema,
        table=header.table,
        query=query,
        ddl_type=action_code(keyword),
    )


def _row_event(data: bytes, header: EntryHeader, op: Op, span: Span) -> RowEvent:
    before: list[Span] = []
    after: list[Span] = []
    for number, first, last in fields(data, *span):
        if number in (1, 2):
            (before if number == 1 else after).append(_span(number, first, last))
    if (op is _DELETE and after) or (op is _INSERT and before) or (op is not _DELETE and not after):
        expected = "columns before a delete, after an insert, and both of an update"
        raise _error("CANALPB-ROW", expected, span[0])
    columns, new = _columns(data, before if op is _DELETE else after, span)
    old = new if op is _DELETE else None
    if op is _UPDATE:
        old_columns, old = _columns(data, before, span)
        if old_columns != columns:
            raise _error("CANALPB-COLUMN", "the same columns before and after", span[0])
    return RowEvent(
        commit_ts=header.commit_ts,
        schema=header.schema,
        table=header.table,
        op=op,
        columns=columns,
        before=old,
        after=None if op is _DELETE else new,
    )


@dataclass(frozen=True, slots=True)
class _Described:
    """A column as its message describes it.

    :param codes: its possible codes in ``java.sql.Types``.
    """

    column: EventColumn
    parse: Parser
    codes: tuple[int, ...]


def _columns(data: bytes, spans: list[Span], row: Span) -> tuple[tuple[EventColumn, ...], Image]:
    columns: list[EventColumn] = []
    image: dict[str, Value] = {}
    for span in spans:
        described, value = _column(data, span)
        columns.append(described.column)
        image[described.column.name] = value
    if len(image) != len(columns):
        raise _error("CANALPB-COLUMN", "names that differ", row[0])
    return tuple(columns), image


def _column(data: bytes, span: Span) -> tuple[_Described, Value]:
    code = is_key = is_null = 0
    name = mysql_type = value = b""
    for number, first, last in fields(data, *span):
        match number:
            case 2:
                code = first
            case 3:
                name = _content(data, number, first, last)
            case 4:
                is_key = first
            case 6:
                is_null = first
            case 8:
                value = _content(data, number, first, last)
            case 10:
                mysql_type = _content(data, number, first, last)
    try:
        described = _described(name, mysql_type, bool(is_key))
        if code - _WRAP * (code >= _SIGN) not in described.codes:
            raise BadValue(f"the code of {described.column.type} in sqlType", "SQL-TYPE")
        return described, None if is_null else _value(described, value)
    except BadValue as bad:
        where = f"{bad.expected} in column {name.decode('utf-8', 'backslashreplace')!r}"
        raise _error(f"CANALPB-{bad.code}", where, span[0]) from None


def _value(described: _Described, value: bytes) -> bytes:
    if described.parse is str.encode:
        return value
    try:
        return described.parse(value.decode())
    except UnicodeDecodeError:
        raise BadValue("UTF-8", "TEXT") from None


_MAX_CACHED_BYTES = 1 << 10  # larger descriptions of a column are not cached


def _described(name: bytes, mysql_type: bytes, is_key: bool) -> _Described:
    if len(name) + len(mysql_type) > _MAX_CACHED_BYTES:
        return _describe(name, mysql_type, is_key)
    return _cached_description(name, mysql_type, is_key)


def _describe(name: bytes, mysql_type: bytes, is_key: bool) -> _Described:
    try:
        text, kind = name.decode(), mysql_type.decode()
    except UnicodeDecodeError:
        raise BadValue("a name and a type in UTF-8", "TEXT") from None
    return _Described(EventColumn(text, kind, _PRIMARY * is_key), parser_for(kind), codes_of(kind))


_cached_description = lru_cache(maxsize=4096)(_describe)


def _span(number: int, first: int, last: int) -> Span:
    if last < 0:
        raise _error("CANALPB-FIELD", f"bytes in field {number}", 0)
    return first, last


def _content(data: bytes, number: int, first: int, last: int) -> bytes:
    return data[slice(*_span(number, first, last))]


def _text(data: bytes, number: int, first: int, last: int) -> str:
    try:
        return _content(data, number, first, last).decode()
    except UnicodeDecodeError:
        raise _error("CANALPB-TEXT", f"UTF-8 in field {number}", first) from None


def _error(code: str, expected: str, byte: int) -> DecodeError:
    return DecodeError(code, expected, part="value", byte=byte)
