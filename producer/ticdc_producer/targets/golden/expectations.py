"""Reads the expectations of a golden folder: events, rows and injected faults.

The files may come from anywhere, so each line is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec

from ticdc_producer.model.event import MAX_EVENTS, Value
from ticdc_producer.model.fidelity import ValueProjection
from ticdc_producer.model.shapes import EXPECTED_EVENTS, ExpectedBatch
from ticdc_producer.targets.decoded_events import batch_of_columns
from ticdc_producer.targets.golden.read import Int, Long, Offset, Text, parsed_lines

EVENTS, EVENT_FILES, FAULTS = "events.jsonl", "events.parquet", "faults.jsonl"
_HINT = "write the folder again: `run` with `out`"
_PARSE_ERRORS = (ValueError, ArithmeticError, LookupError, TypeError, RecursionError)
"""Exceptions for a line of another form (msgspec raises ValueErrors), or for a value in a projection."""
_T = TypeVar("_T")


class _Bytes(msgspec.Struct, forbid_unknown_fields=True):
    """A value that is not UTF-8."""

    b64: bytes


_JSONValue: TypeAlias = str | _Bytes | None
_Image: TypeAlias = dict[str, _JSONValue]
_Described: TypeAlias = tuple[tuple[str, str, Int], ...]
_BYTES = b'"b64"'
"""A part of every line that contains such a value."""


class _EventLine(msgspec.Struct, gc=False):
    """A line of ``events.jsonl``, see ``model.event_line``."""

    topic: Text
    partition: Int
    offset: Offset
    index: Annotated[int, msgspec.Meta(ge=0, lt=MAX_EVENTS)]
    kind: Literal["row", "ddl", "resolved"]
    commit_ts: Long
    schema: str | None = None
    table: str | None = None
    table_id: Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)] | None = None
    op: Literal["insert", "update", "delete"] | None = None
    columns: msgspec.Raw = msgspec.Raw(b"null")
    before: _Image | None = None
    after: _Image | None = None
    query: str | None = None
    ddl_type: Int | None = None
    handle_key_only: bool = False


class FaultLine(msgspec.Struct):
    """A line of ``faults.jsonl``: one injected fault.

    :param offset: of its first message, or of the message after a removed event; None at the end.
    :param commit_ts: the lowest of the events concerned.
    """

    trap: str
    topic: str
    partition: Int
    offset: Long | None
    commit_ts: Long


def event_batches(path: Path) -> Iterator[ExpectedBatch]:
    """Yield the expected events (shape ``EXPECTED_EVENTS``), in the order of the file.

    :param path: an ``events.jsonl``.
    :raises FolderError: for a line that is not an event, with its number.
    """
    for events in _read(path, _event, "an event"):
        columns: dict[str, list[Any]] = {
            name: [*map(attrgetter(name), events)] for name in EXPECTED_EVENTS.names
        }
        columns["handle_key_only"] = [
            int(event.handle_key_only) if event.kind == "row" else None for event in events
        ]
        yield batch_of_columns(columns, EXPECTED_EVENTS)


def _described(columns: bytes) -> Any:
    """Return column descriptions or None, parsed once for all rows of a table. Do not modify the result.

    :param columns: JSON.
    :raises ValueError: if it does not describe columns.
    """
    return _parsed_once(columns) if len(columns) <= _MAX_CACHED_BYTES else _parsed_columns(columns)


def _parsed_columns(columns: bytes) -> list[dict[str, Any]] | None:
    try:
        described = _COLUMNS.decode(columns)
    except msgspec.ValidationError as error:
        raise ValueError(f"`columns`: {error}") from None
    if described is None:
        return None
    return [dict(zip(("name", "type", "flag"), column, strict=True)) for column in described]


_MAX_CACHED_BYTES = 1 << 16
_parsed_once = lru_cache(maxsize=256)(_parsed_columns)


def row_batches(path: Path, columns: Mapping[str, ValueProjection]) -> Iterator[list[tuple[Value, ...]]]:
    """Yield the expected rows of a table in lists, with their values in the order of the columns.

    :param path: a file of ``state/``.
    :param columns: the columns that each row must have, by name: what a value becomes.
    :raises FolderError: for a line that is not a row of the table, with its number.
    """

    def row(line: bytes) -> tuple[Value, ...]:
        values = _ROW.decode(line)
        if values.keys() != columns.keys():
            raise ValueError("its columns are not those of the table in the manifest")
        return tuple(project(_value(values[name])) for name, project in columns.items())

    return _read(path, row, "a row of the table")


def fault_lines(path: Path) -> Iterator[FaultLine]:
    """Yield the injected faults of a folder.

    :param path: a ``faults.jsonl``.
    :raises FolderError: for a line that is not a fault, with its number.
    """
    return chain.from_iterable(_read(path, _FAULT.decode, "a fault"))


_EVENT: msgspec.json.Decoder[_EventLine] = msgspec.json.Decoder(_EventLine)
_COLUMNS: msgspec.json.Decoder[_Described | None] = msgspec.json.Decoder(_Described | None)
_ROW: msgspec.json.Decoder[_Image] = msgspec.json.Decoder(_Image)
_FAULT: msgspec.json.Decoder[FaultLine] = msgspec.json.Decoder(FaultLine)


def _event(line: bytes) -> _EventLine:
    event = _EVENT.decode(line)
    event.columns = _described(bytes(event.columns))
    _check_members(event)
    if _BYTES in line:
        event.before, event.after = _with_bytes(event.before), _with_bytes(event.after)
    return event


def _check_members(event: _EventLine) -> None:
    """Check that an event has the members of its kind.

    :raises ValueError: for an event without a member that all events of its kind have.
    """
    needed: tuple[str, ...] = ()
    if event.kind == "row":
        needed = _ROW_MEMBERS[event.op]
    elif event.kind == "ddl":
        needed = _DDL_MEMBERS
    for name in needed:
        if getattr(event, name) is None:
            raise ValueError(f"a {event.kind} needs `{name}`")


_DDL_MEMBERS = ("schema", "table", "query", "ddl_type")
_ROW_MEMBERS = {
    op: ("schema", "table", "table_id", "op", "columns", "before" if op == "delete" else "after")
    for op in ("insert", "update", "delete", None)
}


def _with_bytes(image: _Image | None) -> Any:
    return None if image is None else {name: _value(value) for name, value in image.items()}


def _value(value: _JSONValue) -> Value:
    if isinstance(value, _Bytes):
        return value.b64
    return None if value is None else value.encode()


def _read(path: Path, parse: Callable[[bytes], _T], what: str) -> Iterator[list[_T]]:
    return parsed_lines(path, parse, what, _HINT, *_PARSE_ERRORS, about=("run", "out"))
