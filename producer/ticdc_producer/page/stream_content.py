"""Messages, events and rows as JSON for the page: long values are cut, and long numbers are texts.

JavaScript has no whole numbers above 2^53, and a commit-ts is larger.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any, TypeAlias, TypedDict

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event_line import DecodedRow, RowImage, StateRow, event_line, from_json, to_json
from ticdc_producer.protocols.spans import ByteSpan

MOST_MESSAGE_BYTES = 64 << 10
"""Bytes of a key or value; the rest is cut."""
_MOST_VALUE = 2000
"""Characters of a column's value in an event."""
_MOST_EXACT = 1 << 53
_EXACT = frozenset({str, type(None), bool, float})
"""The types of most values, which need no call."""
_OF_MESSAGE = ("topic", "partition", "offset")
_ERROR = ("error", "error_byte", "error_expected")

SpansOf: TypeAlias = Callable[[bytes | None, bytes | None], Sequence[ByteSpan]]
"""Key and value to named ranges of their bytes."""


def exact(members: Mapping[str, object]) -> dict[str, object]:
    """Return a JSON object in which numbers that JavaScript would round are texts."""
    return {name: member if type(member) in _EXACT else _exact(member) for name, member in members.items()}


def _exact(value: object) -> object:
    """Return JSON in which numbers that JavaScript would round are texts."""
    if isinstance(value, int):
        return value if -_MOST_EXACT <= value <= _MOST_EXACT else str(value)
    if isinstance(value, list | tuple):
        return [member if type(member) in _EXACT else _exact(member) for member in value]
    if isinstance(value, dict | Mapping):  # a check of the abstract class alone takes longer
        return exact(value)
    return value


def bytes_content(value: bytes | None) -> dict[str, object] | None:
    """Return the first bytes of a key or value, and its size."""
    if value is None:
        return None
    head = value[:MOST_MESSAGE_BYTES]
    size = {"size": len(value)}
    try:
        return {"text": head.decode(), **size}
    except UnicodeDecodeError:
        return {"b64": b64encode(head).decode("ascii"), **size}


def event_object(row: DecodedRow, most: int = _MOST_VALUE) -> dict[str, object]:
    """Return an event without its topic, partition and offset, which its message has.

    :param most: characters of a column's value.
    """
    line = event_line(row)
    if row["kind"] == "error":
        line |= {name: row.get(name) for name in _ERROR}
    for name in ("before", "after"):
        image = line[name]
        if isinstance(image, dict):
            line[name] = {column: _cut(value, most) for column, value in image.items()}
    line["query"] = _cut(line["query"])
    return {name: value for name, value in line.items() if value is not None and name not in _OF_MESSAGE}


def _cut(value: object, most: int = _MOST_VALUE) -> object:
    text = value.get("b64") if isinstance(value, dict) else value
    if not isinstance(text, str) or len(text) <= most:
        return value
    kind = "b64" if isinstance(value, dict) else "text"
    return {kind: text[:most], "length": len(text)}


class HeaderRow(TypedDict):
    """A header of a message."""

    key: str
    value: bytes | None


class MessageRow(TypedDict):
    """A row of the shape ``MESSAGES``."""

    topic: str
    partition: int
    offset: int
    timestamp: object
    key: bytes | None
    value: bytes | None
    headers: Sequence[HeaderRow] | None


def message_objects(
    messages: Iterable[MessageRow],
    events: Iterable[DecodedRow],
    spans_of: SpansOf,
    extra: Callable[[DecodedRow], Mapping[str, object]] = lambda _row: {},
) -> Iterator[dict[str, object]]:
    """Yield messages with their events, in which numbers that JavaScript would round are texts.

    :param messages: shape ``MESSAGES``, in the order of topic, partition and offset.
    :param events: shape ``DECODED``, in the same order; those of other messages are left out.
    :param extra: further members of an event.
    """
    groups = groupby(events, key=_position)
    group = next(groups, None)
    for message in messages:
        position = _position(message)
        while group is not None and group[0] < position:
            group = next(groups, None)
        of_message = [*group[1]] if group is not None and group[0] == position else []
        key, value = message["key"], message["value"]
        small = len(key or b"") + len(value or b"") <= MOST_MESSAGE_BYTES
        yield {
            "topic": message["topic"],
            "partition": message["partition"],
            "offset": message["offset"],
            "timestamp": message["timestamp"],
            "key": bytes_content(key),
            "value": bytes_content(value),
            "headers": [
                {"key": header["key"], "value": bytes_content(header["value"])}
                for header in message["headers"] or ()
            ],
            "events": [exact({**event_object(row), **extra(row)}) for row in of_message],
            "spans": [span._asdict() for span in spans_of(key, value)] if small else [],
        }


_BRIEF_COLUMNS, _BRIEF_VALUE = 4, 60
"""Columns of an image in a list of messages, and characters of a value."""


class ListedMessage(TypedDict):
    """A message in a list.

    :ivar event_count: number of its events.
    """

    topic: str
    partition: int
    offset: int
    timestamp: object
    event_count: int


def brief_objects(
    messages: Iterable[ListedMessage], events: Iterable[DecodedRow]
) -> Iterator[dict[str, object]]:
    """Yield messages for a list: without bytes, and with their first event in brief.

    :param events: the first event of each message that has any, in the same order.
    """
    of_messages = {_position(row): row for row in events}
    for message in messages:
        row = of_messages.get(_position(message))
        yield {
            "topic": message["topic"],
            "partition": message["partition"],
            "offset": message["offset"],
            "timestamp": message["timestamp"],
            "count": message["event_count"],
            "events": [] if row is None else [_brief(row)],
        }


def _brief(row: DecodedRow) -> dict[str, object]:
    event = event_object(row, _BRIEF_VALUE)
    event.pop("columns", None)
    for name in ("before", "after"):
        image = event.get(name)
        if isinstance(image, Mapping):
            event[name] = dict(islice(image.items(), _BRIEF_COLUMNS))
    return event


def row_names(row: DecodedRow) -> tuple[str, ...]:
    """Return the names of the row of an event, in a change of the key before and after.

    A name is JSON: schema, table and the values of the handle key. Without a handle key there is none.
    """
    if row["kind"] != "row":
        return ()
    keys = [column["name"] for column in row["columns"] or () if column["flag"] & ColumnFlag.HANDLE_KEY]
    names = []
    for image in (row["before"], row["after"]):
        values = dict(_pairs(image or ()))
        if keys and values.keys() >= {*keys}:
            own = [to_json(values[key]) for key in keys]
            names.append(json.dumps([row["schema"], row["table"], *own]))
    return tuple(dict.fromkeys(names))


def row_of_name(name: str) -> tuple[str, str, list[bytes | None]] | None:
    """Return schema, table and handle key of a row by its name; None for another text."""
    try:
        schema, table, *_ = parts = json.loads(name)
        _, _, *key = map(from_json, parts)  # it also refuses names with halves of characters
    except (ValueError, TypeError, RecursionError):
        return None
    return (schema, table, key) if isinstance(schema, str) and isinstance(table, str) else None


def _position(row: Mapping[str, Any]) -> tuple[str, int, int]:
    return row["topic"], row["partition"], row["offset"]


def table_objects(tables: Mapping[str, Sequence[StateRow]]) -> dict[str, list[dict[str, object]]]:
    """Return the rows of tables, each with its columns in their order."""
    return {name: [row_object(row["row"]) for row in rows] for name, rows in tables.items()}


def row_object(image: RowImage) -> dict[str, object]:
    """Return the columns of a row with their values."""
    return {name: _cut(to_json(None if value is None else bytes(value))) for name, value in _pairs(image)}


def _pairs(image: RowImage) -> Iterable[tuple[str, bytes | None]]:
    return image.items() if isinstance(image, Mapping) else image
