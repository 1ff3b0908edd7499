"""Reads what a golden folder expects of its messages: events, rows and injected faults.

The files may come from anywhere, so each line is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
import pyarrow as pa

from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import ValueProjection
from ticdc_producer.model.record import MAX_EVENTS, MAX_OFFSET
from ticdc_producer.model.shapes import EXPECTED_EVENTS
from ticdc_producer.targets.golden.read import parsed_lines

EVENTS, EVENT_FILES, FAULTS = "events.jsonl", "events.parquet", "faults.jsonl"
_BATCH_ROWS, _BATCH_BYTES = 4096, 64 << 20
_HINT = "write the folder again: ticdc-producer run SCENARIO --out DIR"
_REFUSED = (ValueError, ArithmeticError, LookupError, TypeError, RecursionError)
"""What decoding raises for a line of another form (msgspec: ValueErrors), or a projection for a value."""
_T = TypeVar("_T")

_Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
_Int: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
_Long: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class _Bytes(msgspec.Struct, forbid_unknown_fields=True):
    """A value that is not UTF-8."""

    b64: bytes


_JSONValue: TypeAlias = str | _Bytes | None
_Image: TypeAlias = dict[str, _JSONValue]


class _EventLine(msgspec.Struct):
    """A line of ``events.jsonl``, see ``model.event_line``."""

    topic: _Text
    partition: _Int
    offset: Annotated[int, msgspec.Meta(ge=0, le=MAX_OFFSET)]
    index: Annotated[int, msgspec.Meta(ge=0, lt=MAX_EVENTS)]
    kind: Literal["row", "ddl", "resolved"]
    commit_ts: _Long
    schema: str | None = None
    table: str | None = None
    table_id: int | None = None
    op: Literal["insert", "update", "delete"] | None = None
    columns: list[tuple[str, str, _Int]] | None = None
    before: _Image | None = None
    after: _Image | None = None
    query: str | None = None
    ddl_type: _Int | None = None
    handle_key_only: bool = False


class FaultLine(msgspec.Struct):
    """A line of ``faults.jsonl``: one injected fault.

    :param offset: of its first message, or of the message after a removed event; None at the end.
    :param commit_ts: the lowest of the events concerned.
    """

    trap: str
    topic: str
    partition: _Int
    offset: _Long | None
    commit_ts: _Long


def event_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The expected events (shape ``EXPECTED_EVENTS``), in the order of the file.

    :param path: an ``events.jsonl``.
    :raises FolderError: for a line that is no event, with its number.
    """
    for events in _chunks(_read(path, _event_row, "an event")):
        yield pa.RecordBatch.from_pylist(events, EXPECTED_EVENTS)


def row_batches(path: Path, columns: Mapping[str, ValueProjection]) -> Iterator[list[tuple[Value, ...]]]:
    """The expected rows of a table, some at a time, with their values in the order of the columns.

    :param path: a file of ``state/``.
    :param columns: the columns that each row must have, by name: what a value becomes.
    :raises FolderError: for a line that is no row of the table, with its number.
    """

    def row(line: bytes) -> tuple[Value, ...]:
        found = _ROW.decode(line)
        if found.keys() != columns.keys():
            raise ValueError("its columns are not those of the table in the manifest")
        return tuple(project(_value(found[name])) for name, project in columns.items())

    return _chunks(_read(path, row, "a row of the table"))


def fault_lines(path: Path) -> Iterator[FaultLine]:
    """The injected faults of a folder.

    :param path: a ``faults.jsonl``.
    :raises FolderError: for a line that is no fault, with its number.
    """
    return (fault for fault, _ in _read(path, _FAULT.decode, "a fault"))


_EVENT: msgspec.json.Decoder[_EventLine] = msgspec.json.Decoder(_EventLine)
_ROW: msgspec.json.Decoder[_Image] = msgspec.json.Decoder(_Image)
_FAULT: msgspec.json.Decoder[FaultLine] = msgspec.json.Decoder(FaultLine)


def _event_row(line: bytes) -> Mapping[str, Any]:
    event = _EVENT.decode(line)
    is_row = event.kind == "row"
    _check_members(event)
    return {
        **{name: getattr(event, name) for name in EXPECTED_EVENTS.names},
        "table_id": _table_id(event.table_id),
        "columns": [dict(zip(("name", "type", "flag"), column, strict=True)) for column in event.columns]
        if event.columns is not None
        else None,
        "before": _image(event.before),
        "after": _image(event.after),
        "handle_key_only": int(event.handle_key_only) if is_row else None,
    }


def _check_members(event: _EventLine) -> None:
    """:raises ValueError: for an event without a member that all events of its kind have."""
    needed: tuple[str, ...] = ()
    if event.kind == "row":
        image = "before" if event.op == "delete" else "after"
        needed = ("schema", "table", "table_id", "op", "columns", image)
    elif event.kind == "ddl":
        needed = ("schema", "table", "query", "ddl_type")
    for name in needed:
        if getattr(event, name) is None:
            raise ValueError(f"a {event.kind} needs `{name}`")


def _table_id(number: int | None) -> int | None:
    if number is not None and not -(1 << 63) <= number < 1 << 63:
        raise ValueError("`table_id` is not an integer of 64 bits")
    return number


def _image(members: _Image | None) -> list[tuple[str, Value]] | None:
    return None if members is None else [(name, _value(value)) for name, value in members.items()]


def _value(value: _JSONValue) -> Value:
    if isinstance(value, _Bytes):
        return value.b64
    return None if value is None else value.encode()


def _read(path: Path, parse: Callable[[bytes], _T], what: str) -> Iterator[tuple[_T, int]]:
    return parsed_lines(path, parse, what, _HINT, *_REFUSED)


def _chunks(sized: Iterable[tuple[_T, int]]) -> Iterator[list[_T]]:
    """Lists of bounded size."""
    chunk: list[_T] = []
    size = 0
    for one, length in sized:
        chunk.append(one)
        size += length
        if len(chunk) == _BATCH_ROWS or size >= _BATCH_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
