"""Strict decoder of Maxwell as TiCDC writes it: every malformed message is a ``DecodeError`` with its offset.

It accepts more than TiCDC writes: members in any order, unknown members, white space between rows.

A message of rows has the version as key and one JSON object per row as value, without a separator. In valid
JSON ``}{"n`` occurs only between two objects: in a string a backslash precedes the quote, and what follows
the end of a string is not a letter.

The names of the kinds of DDL are those of tiflow ``maxwell_message.go`` (``ddlToMaxwellType``), and for the
others of tidb ``pkg/meta/model/job.go`` (``ActionMap``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Annotated, TypeAlias, TypeVar

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Op, RowEvent, Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.tso import LOGICAL_BITS, MAX_TS, compose, physical
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.wire import EventBytes

OF_DATABASES = {1: "database-create", 2: "database-drop", 26: "database-alter"}
_CREATE, _DROP, ALTER = "table-create", "table-drop", "table-alter"
_ALTERING = (*range(5, 21), 22, 23, 27, 28, 29, 33, 37, 38, 41, 42)
_OTHERS = {
    21: "create view", 24: "drop view", 32: "add primary key", 61: "alter table multi-schema change",
    64: "alter table reorganize partition", 65: "alter table ttl", 67: "alter table no_ttl",
    71: "alter table partition by", 72: "alter table remove partitioning",
}  # fmt: skip
_TYPES = {3: _CREATE, 4: _DROP, **dict.fromkeys(_ALTERING, ALTER), **OF_DATABASES, **_OTHERS}
_ACTIONS = {name: action for action, name in _TYPES.items() if name != ALTER}
_UNKNOWN = "none"


def type_text(action: int) -> str:
    """Return the name of the kind of a DDL."""
    return _TYPES.get(action, _UNKNOWN)


def action_code(text: str) -> int | None:
    """Return TiDB's action code; 0 if the name has several, None if there is no such name.

    >>> action_code("table-create"), action_code("table-alter"), action_code("table")
    (3, 0, None)
    """
    return 0 if text in (ALTER, _UNKNOWN) else _ACTIONS.get(text)


VERSION = (1).to_bytes(8, "big")

_PER_SECOND = 1000
_DDL_EVENT = 2
_BETWEEN = re.compile(rb'(?<=\})\s*(?=\{\s*"\w)')
_BYTE_OFFSET = re.compile(r"\(byte (\d+)\)")
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

TSO: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS)]
Seconds: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(MAX_TS >> LOGICAL_BITS) // _PER_SECOND)]
JSONValue: TypeAlias = int | float | str | None
Members: TypeAlias = dict[str, JSONValue]


class _RowJSON(msgspec.Struct, gc=False):
    database: str
    table: str
    type: str
    ts: Seconds
    data: Members = {}
    old: Members = {}


class _DDLJSON(msgspec.Struct):
    type: str
    database: str
    table: str
    ts: TSO
    sql: str


class _DDLKeyJSON(msgspec.Struct):
    ts: TSO
    t: int
    scm: str = ""
    tbl: str = ""


_ROW = msgspec.json.Decoder(_RowJSON)
_DDL = msgspec.json.Decoder(_DDLJSON)
_DDL_KEY = msgspec.json.Decoder(_DDLKeyJSON)
_OPS = {op.label: op for op in Op}
_INSERT, _UPDATE, _DELETE = Op  # access to a member through its class is slow
_digits = msgspec.json.Encoder().encode


def objects(value: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the JSON objects of a message of rows, with the offset of each.

    >>> list(objects(b'{"a":"}{"}{"b":1}'))
    [(0, b'{"a":"}{"}'), (10, b'{"b":1}')]
    """
    start = 0
    for separator in _BETWEEN.finditer(value):
        yield start, value[start : separator.start()]
        start = separator.end()
    yield start, value[start:]


def event_bytes(key: bytes | None, value: bytes | None) -> list[EventBytes]:
    """Return the part of each event of a message; the version, which all rows share, is left out."""
    if key != VERSION:
        return [(key, value)]
    return [(None, row) for _, row in objects(value or b"")]


def is_message(key: bytes, value: bytes) -> bool:
    """Return whether key and value are a message.

    :raises DecodeError: if they are not.
    """
    if key == VERSION:
        _, first = next(objects(value))
        _parse(_ROW, first, "MAXWELL-JSON", "value", 0)
    else:
        _ddl(key, value)
    return True


class MaxwellDecoder:
    """A decoder of messages to events."""

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the events of one message, in order.

        :raises DecodeError: if this is not a message of the protocol.
        """
        if key == VERSION:
            for start, row in objects(value or b""):
                yield _row_event(_parse(_ROW, row, "MAXWELL-JSON", "value", start), start)
        else:
            yield _ddl(key or b"", value or b"")


T = TypeVar("T")


def _parse(decoder: msgspec.json.Decoder[T], json: bytes, code: str, part: str, start: int) -> T:
    try:
        return decoder.decode(json)
    except _NOT_JSON as error:
        raise _decode_error(error, code, part, start, start + len(json)) from None


def _decode_error(error: Exception, code: str, part: str, start: int, end: int) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError(code, "JSON of a few levels", part=part, byte=start)
    if isinstance(error, UnicodeDecodeError):
        return DecodeError(code, "UTF-8", part=part, byte=start)
    offset = _BYTE_OFFSET.search(str(error))
    sentence = _BYTE_OFFSET.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("MAXWELL-MEMBER", sentence, part=part, byte=start)
    byte = start + int(offset[1]) if offset else end
    return DecodeError(code, f"valid JSON ({sentence})", part=part, byte=byte)


def _ddl(key: bytes, value: bytes) -> DDLEvent:
    if not key.startswith(b"{"):
        expected = "version 1 in 8 bytes, or the JSON key of a DDL"
        raise DecodeError("MAXWELL-KEY", expected, part="key", byte=0)
    head = _parse(_DDL_KEY, key, "MAXWELL-KEY", "key", 0)
    ddl = _parse(_DDL, value, "MAXWELL-JSON", "value", 0)
    if (head.t, head.ts, head.scm, head.tbl) != (_DDL_EVENT, ddl.ts, ddl.database, ddl.table):
        expected = "type 2, and the ts, database and table of the value"
        raise DecodeError("MAXWELL-KEY", expected, part="key", byte=0)
    action = action_code(ddl.type)
    if action is None:
        raise DecodeError("MAXWELL-TYPE", "the type of a DDL", part="value", byte=0)
    seconds = physical(ddl.ts) // _PER_SECOND
    return DDLEvent(
        commit_ts=compose(seconds * _PER_SECOND),
        schema=ddl.database,
        table=ddl.table,
        query=ddl.sql,
        ddl_type=action,
    )


def _row_event(row: _RowJSON, start: int) -> RowEvent:
    op = _OPS.get(row.type)
    if op is None:
        raise DecodeError("MAXWELL-TYPE", "a type insert, update or delete", part="value", byte=start)
    _check_images(row, op, start)
    old = _image(row.old)
    members = row.old if op is _DELETE else row.data
    return RowEvent(
        commit_ts=compose(row.ts * _PER_SECOND),
        schema=row.database,
        table=row.table,
        op=op,
        columns=_columns(tuple(members)),
        before=None if op is _INSERT else old,
        after=None if op is _DELETE else _image(row.data),
    )


def _check_images(row: _RowJSON, op: Op, start: int) -> None:
    if op is _DELETE:
        valid, expected = not row.data, "no data in a delete"
    elif op is _UPDATE:
        valid, expected = bool(row.data) and row.old.keys() <= row.data.keys(), "old columns that data has"
    else:
        valid, expected = bool(row.data) and not row.old, "columns in data alone in an insert"
    if not valid:
        raise DecodeError("MAXWELL-ROW", expected, part="value", byte=start)


_MAX_CACHED_NAME_LENGTH = 1 << 16  # in characters; larger sets of names are not cached


def _columns(names: tuple[str, ...]) -> tuple[EventColumn, ...]:
    cached = sum(map(len, names)) <= _MAX_CACHED_NAME_LENGTH
    return _cached_columns(names) if cached else _event_columns(names)


def _event_columns(names: tuple[str, ...]) -> tuple[EventColumn, ...]:
    return tuple([EventColumn(name, "", 0) for name in names])


_cached_columns = lru_cache(maxsize=256)(_event_columns)


def _image(members: Mapping[str, JSONValue]) -> Image:
    return {name: None if value is None else _value(value) for name, value in members.items()}


def _value(value: float | str) -> Value:
    if isinstance(value, str):
        return value.encode()
    return _digits(value) if isinstance(value, int) else plain_text(value, MySQLType.DOUBLE)
