"""Decodes messages to columns, and one record to rows, of the shape ``DECODED``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import MAX_EVENTS, DDLEvent, Event, EventColumn, RowEvent
from ticdc_producer.protocols.base import Decoder

COLUMNS = (
    "topic", "partition", "offset", "index", "events", "size", "kind", "commit_ts", "schema", "table",
    "table_id", "op", "columns", "before", "after", "handle_key_only", "query", "ddl_type", "error",
    "error_byte", "error_expected",
)  # fmt: skip
"""The columns of the shape ``DECODED``, which needs Arrow."""
_RECORD = ("topic", "partition", "offset", "size")
"""Those of them that are the same for all events of a record."""

_Decoded: TypeAlias = Event | DecodeError
_Field: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]


def event_rows(record: Mapping[str, Any], decoder: Decoder) -> list[dict[str, Any]]:
    """The events of one record, in order, with all columns in the order of ``COLUMNS``.

    If the record does not decode, the last row has the kind ``error``.

    :param record: ``topic, partition, offset, key, value``.
    """
    counts, columns = event_columns([(record["key"], record["value"])], decoder)
    of_record = {**record, "size": len(record["key"] or b"") + len(record["value"] or b"")}
    columns |= {name: [of_record[name]] * counts[0] for name in _RECORD}
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def event_columns(
    messages: Iterable[tuple[bytes | None, bytes | None]], decoder: Decoder
) -> tuple[list[int], dict[str, list[Any]]]:
    """The events of messages, in order.

    If a message does not decode, its last event has the kind ``error``.

    :param messages: keys and values.
    :return: the number of events of each message; and all columns by name, except those of the record.
    """
    decoded: list[_Decoded] = []
    counts: list[int] = []
    for key, value in messages:
        before = len(decoded)
        decoded += _events(key, value, decoder)
        counts.append(len(decoded) - before)
    kinds = [_kind(event) for event in decoded]
    columns: dict[str, list[Any]] = {name: [None] * len(decoded) for name in COLUMNS if name not in _RECORD}
    columns["kind"] = kinds
    columns["index"] = [*chain.from_iterable(map(range, counts))]
    columns["events"] = [*chain.from_iterable(map(repeat, counts, counts))]
    for kind in set(kinds):
        numbers = [number for number, one in enumerate(kinds) if one == kind]
        events = [decoded[number] for number in numbers]
        for name, values in _FIELDS[kind].items():
            column = columns[name]
            for number, value in zip(numbers, values(events), strict=True):
                column[number] = value
    return counts, columns


def _events(key: bytes | None, value: bytes | None, decoder: Decoder) -> list[_Decoded]:
    """The events of one message, and the error that ends them."""
    found: list[_Decoded] = []
    try:
        for event in decoder.events(key, value):
            if len(found) == MAX_EVENTS - 1:
                raise DecodeError("EVENTS-MANY", f"less than {MAX_EVENTS} events", part="value", byte=0)
            found.append(event)
    except DecodeError as error:
        found.append(error)
    return found


def _kind(event: _Decoded) -> str:
    if isinstance(event, RowEvent):
        return "row"
    if isinstance(event, DDLEvent):
        return "ddl"
    return "error" if isinstance(event, DecodeError) else "resolved"


def _attribute(name: str) -> _Field:
    field = attrgetter(name)
    return lambda events: map(field, events)


def _all_described(events: Sequence[RowEvent]) -> Iterable[list[dict[str, Any]]]:
    """The column descriptions of rows; a decoder gives the rows of one table the same columns."""
    distinct = {id(columns): columns for columns in map(attrgetter("columns"), events)}
    described = {number: _described(columns) for number, columns in distinct.items()}
    return (described[id(event.columns)] for event in events)


@lru_cache(maxsize=256)
def _described(columns: tuple[EventColumn, ...]) -> list[dict[str, Any]]:
    """Column descriptions, created once for all rows of a table. Do not modify the result."""
    return [{"name": column.name, "type": column.type, "flag": column.flag} for column in columns]


_FIELDS: Mapping[str, Mapping[str, _Field]] = {
    "row": {
        **{name: _attribute(name) for name in ("commit_ts", "schema", "table", "table_id")},
        "op": _attribute("op.label"),
        "columns": _all_described,
        **{name: _attribute(name) for name in ("before", "after")},
        "handle_key_only": lambda events: (int(event.handle_key_only) for event in events),
    },
    "ddl": {name: _attribute(name) for name in ("commit_ts", "schema", "table", "query", "ddl_type")},
    "resolved": {"commit_ts": _attribute("commit_ts")},
    "error": {
        "error": _attribute("code"),
        "error_byte": _attribute("byte"),
        "error_expected": lambda errors: (f"{error.expected} ({error.part})" for error in errors),
    },
}
"""For each kind of event its columns, of all events of the kind."""
