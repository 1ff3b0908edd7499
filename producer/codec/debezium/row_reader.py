"""A row message's columns and images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from operator import call
from typing import Any

from producer.codec.debezium.bad_value import BadValue, JSONValue
from producer.codec.debezium.column_reader import number_text
from producer.codec.debezium.message_json import ValueParts
from producer.codec.debezium.row_schema import RowReaders
from producer.codec.raw_bytes import Marks
from producer.errors import DecodeError
from producer.model.event import EventColumn, Image, Op, RowEvent, Value
from producer.model.flags import ColumnFlag
from producer.model.mysql_type import MySQLType

Members = Mapping[str, JSONValue]
_HANDLE_KEY = int(ColumnFlag.HANDLE_KEY)
_LONGEST_KEPT = 1 << 16  # characters of names that are worth remembering
Readers = RowReaders | None

_UNTYPED: Mapping[type, Callable[[Any], Value]] = {
    str: str.encode,
    int: b"%d".__mod__,
    bool: lambda json: b"1" if json else b"0",
    float: partial(number_text, MySQLType.DOUBLE),
    type(None): lambda _: None,
}
"""Values of a message without a schema: a number's digits, a string's text."""


def row_event(parts: ValueParts, op: Op, key: Members, key_marks: Marks | None, readers: Readers) -> RowEvent:
    """The row event of a message.

    :param key: members of the message's key.
    :param readers: of the columns by name; None where the message has no schema.
    :raises DecodeError: for images that do not fit the operation, the key or the schema.
    """
    before, after = _images(parts, op)
    shown = before if after is None else after
    if shown is None:
        raise _error(parts, "DEBEZIUM-ROW", "an image")
    _check_key(parts, key, key_marks, shown)
    source = parts.payload.source
    return RowEvent(
        commit_ts=source.commit_ts,
        schema=source.db,
        table=source.table,
        op=op,
        columns=_columns(tuple(shown), tuple(key), readers),
        before=None if before is None else _image(parts, before, readers),
        after=None if after is None else _image(parts, after, readers),
    )


def _images(parts: ValueParts, op: Op) -> tuple[Members | None, Members | None]:
    """The two images, checked against the operation; an update may lack the old one."""
    before, after = parts.payload.before, parts.payload.after
    if op == Op.INSERT and (before is not None or not after):
        raise _error(parts, "DEBEZIUM-ROW", "columns in after alone for op c")
    if op == Op.DELETE and (after is not None or not before):
        raise _error(parts, "DEBEZIUM-ROW", "columns in before alone for op d")
    if op == Op.UPDATE and (not after or (before is not None and before.keys() != after.keys())):
        raise _error(parts, "DEBEZIUM-ROW", "columns in after, and the same in before, for op u")
    return before, after


def _check_key(parts: ValueParts, key: Members, key_marks: Marks | None, shown: Members) -> None:
    for name, value in key.items():
        if name in shown and _bytes_of(value, key_marks) != _bytes_of(shown[name], parts.marks):
            raise DecodeError("DEBEZIUM-KEY", f"the value's {name!r}", part="key", byte=0)


def _bytes_of(value: JSONValue, marks: Marks | None) -> object:
    """Something to compare a value by: marks differ from message to message."""
    if not isinstance(value, str):
        return type(value), value
    return value.encode() if marks is None else marks.restored(value.encode())


def _columns(names: tuple[str, ...], key: tuple[str, ...], readers: Readers) -> tuple[EventColumn, ...]:
    """What the message says of its columns: the same of all whose schema and names are.

    How many are kept, and of how many columns, is limited, since a message may say anything.
    """
    few = sum(map(len, names)) + sum(map(len, key)) <= _LONGEST_KEPT
    return _remembered(names, key, readers) if few else _described(names, key, readers)


def _described(names: tuple[str, ...], key: tuple[str, ...], readers: Readers) -> tuple[EventColumn, ...]:
    types = {} if readers is None else {name: each.type for name, each in readers.by_name.items()}
    keys = frozenset(key)
    return tuple([EventColumn(n, types.get(n, ""), _HANDLE_KEY if n in keys else 0) for n in names])


_remembered = lru_cache(maxsize=256)(_described)


def _image(parts: ValueParts, members: Members, readers: Readers) -> Image:
    if parts.marks is None:
        try:
            return _unmarked_image(members, readers)
        except (BadValue, KeyError):
            pass  # the other way tells whose it is
    return {name: _value(parts, name, json, readers) for name, json in members.items()}


def _unmarked_image(members: Members, readers: Readers) -> Image:
    if readers is None:
        kinds = map(_UNTYPED.__getitem__, map(type, members.values()))
        return dict(zip(members, map(call, kinds, members.values()), strict=True))
    by_name = readers.by_name
    return {name: by_name[name].value(json) for name, json in members.items()}


def _value(parts: ValueParts, name: str, json: JSONValue, readers: Readers) -> Value:
    try:
        value = _read(name, json, readers)
    except BadValue as bad:
        expected, byte = f"{bad.expected} in column {name!r}", _place(parts, name)
        raise DecodeError("DEBEZIUM-COLUMN", expected, part="value", byte=byte) from None
    marks = parts.marks
    if marks is None or value is None or not isinstance(json, str) or not marks.stands_in(json):
        return value
    return marks.restored(value)  # text: no other reader takes a string with marks


def _place(parts: ValueParts, name: str) -> int:
    from producer.codec.debezium import text  # comes with Arrow, which good messages are read without

    return max(parts.json.find(text.string(name) + b":"), 0)


def _read(name: str, json: JSONValue, readers: Readers) -> Value:
    if readers is None:
        return _UNTYPED[type(json)](json)
    if name not in readers.by_name:
        raise BadValue("a column of the schema")
    return readers.by_name[name].value(json)


def _error(parts: ValueParts, code: str, expected: str) -> DecodeError:
    return DecodeError(code, expected, part="value", byte=max(parts.json.find(b'"op"'), 0))
