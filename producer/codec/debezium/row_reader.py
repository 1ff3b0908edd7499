"""A row message's columns and images."""

from __future__ import annotations

from collections.abc import Mapping

from producer.codec.debezium.bad_value import BadValue, JSONValue
from producer.codec.debezium.column_reader import ColumnReader, untyped
from producer.codec.debezium.message_json import ValueParts
from producer.codec.raw_bytes import Marks
from producer.errors import DecodeError
from producer.model.event import EventColumn, Image, Op, RowEvent, Value
from producer.model.flags import ColumnFlag

Members = Mapping[str, JSONValue]
Readers = Mapping[str, ColumnReader] | None


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
        columns=tuple(_column(name, key, readers) for name in shown),
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


def _column(name: str, key: Members, readers: Readers) -> EventColumn:
    flag = int(ColumnFlag.HANDLE_KEY) if name in key else 0
    return EventColumn(name, readers[name].type if readers is not None and name in readers else "", flag)


def _image(parts: ValueParts, members: Members, readers: Readers) -> Image:
    return {name: _value(parts, name, json, readers) for name, json in members.items()}


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
        return None if json is None else untyped(json)
    if name not in readers:
        raise BadValue("a column of the schema")
    return readers[name].value(json)


def _error(parts: ValueParts, code: str, expected: str) -> DecodeError:
    return DecodeError(code, expected, part="value", byte=max(parts.json.find(b'"op"'), 0))
