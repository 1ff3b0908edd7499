"""Events and canonical values as JSON, and events as lines of text.

The JSON of a value is a string if the value is UTF-8, ``{"b64": …}`` if it is not, and null for NULL.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired, TypeAlias, TypedDict

from ticdc_producer.model import tso
from ticdc_producer.model.event import Value

# Many text readers treat these characters as line ends.
_LINE_ENDS = str.maketrans({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})


# json.dumps would create an encoder for each call.
_encode = json.JSONEncoder(ensure_ascii=False).encode


RowImage: TypeAlias = Mapping[str, Value] | Sequence[tuple[str, Value]]
"""Values by column: Arrow represents them as a list of pairs, Spark as a map."""


class ColumnDescription(TypedDict):
    """The description of a column in an event, as in the shape ``DECODED``."""

    name: str
    type: str
    flag: int


class DecodedRow(TypedDict, total=False):
    """A decoded event as Arrow or Spark returns it: those fields of ``DECODED`` that apply."""

    topic: str
    partition: int
    offset: int
    index: int
    events: int
    size: int
    kind: str
    commit_ts: int | None
    schema: str | None
    table: str | None
    table_id: int | None
    op: str | None
    columns: Sequence[ColumnDescription] | None
    before: RowImage | None
    after: RowImage | None
    handle_key_only: int | None
    query: str | None
    ddl_type: int | None
    error: str | None
    error_byte: int | None
    error_expected: str | None


class StateRow(TypedDict):
    """A row of a table, as in the shape ``STATE``."""

    schema: str
    table: str
    row: RowImage


class EventLine(TypedDict):
    """A line of ``events.jsonl``: an event as JSON. Keys that do not apply to its kind are null.

    :ivar columns: name, type and flags of each column.
    """

    topic: str
    partition: int
    offset: int
    index: int
    kind: str
    commit_ts: int | None
    schema: str | None
    table: str | None
    table_id: int | None
    op: str | None
    columns: Sequence[tuple[str, str, int]] | None
    before: Mapping[str, str | Mapping[str, str] | None] | None
    after: Mapping[str, str | Mapping[str, str] | None] | None
    query: str | None
    ddl_type: int | None
    handle_key_only: NotRequired[bool]


def json_line(content: Mapping[str, object]) -> str:
    """Encode one line of a ``.jsonl`` file, without line end; Unicode line ends in it are escaped."""
    text = _encode(content)
    return text if text.isascii() else text.translate(_LINE_ENDS)


def to_json(value: Value) -> str | dict[str, str] | None:
    """Convert one value to JSON."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": b64encode(value).decode("ascii")}


def from_json(value: object) -> Value:
    """Convert JSON to a value.

    :raises ValueError: for JSON that is not a value.
    """
    match value:
        case None:
            return None
        case str():
            return value.encode()
        case {"b64": str() as text}:
            return b64decode(text, validate=True)
    raise ValueError('a string, null or {"b64": "…"}')


_KEYS = (
    "topic", "partition", "offset", "index", "kind", "commit_ts", "schema", "table", "table_id", "op",
    "columns", "before", "after", "query", "ddl_type",
)  # fmt: skip
_ERROR_KEYS = ("error", "error_byte", "error_expected")
_MAX_VALUE_LENGTH = 60


def event_line(row: DecodedRow) -> dict[str, object]:
    """Convert an expected or decoded event to JSON; keys that do not apply to its kind are null.

    ``handle_key_only`` is present only if it is true.

    :param row: those fields of ``DECODED`` that apply.
    """
    fields: Mapping[str, object] = row
    line = {key: fields.get(key) for key in _KEYS}
    columns = row.get("columns")
    if columns is not None:
        line["columns"] = [[column["name"], column["type"], column["flag"]] for column in columns]
    for name, image in (("before", row.get("before")), ("after", row.get("after"))):
        if image is not None:
            values = _in_column_order(image, _names(row))
            line[name] = {column: to_json(_bytes(value)) for column, value in values}
    if row.get("handle_key_only"):
        line["handle_key_only"] = True
    if row["kind"] == "error":
        line.update({key: fields[key] for key in _ERROR_KEYS})
    return line


def _names(row: DecodedRow) -> list[str]:
    """Return the names of columns in the order of the table; empty if the message does not name them."""
    return [column["name"] for column in row.get("columns") or ()]


def _in_column_order(image: RowImage, names: Sequence[str]) -> list[tuple[str, Value]]:
    """Return the values of an image in the order of ``names``.

    Spark returns a map in an order of its own, and some protocols sort by name.
    """
    members = [*_items(image)]
    if [name for name, _ in members] != names:
        positions = {name: position for position, name in enumerate(names)}
        members.sort(key=lambda member: positions.get(member[0], len(positions)))
    return members


def event_text(row: DecodedRow) -> str:
    """Print an event as one line of text: position, time, kind, table and values.

    The time is omitted if the message has no commit-ts.
    """
    position = f"{row['topic']}/{row['partition']}@{row['offset']}[{row['index']}]"
    if row["kind"] == "error":
        return (
            f"{position} ERROR {row['error']} at byte {row['error_byte']}: expected {row['error_expected']}"
        )
    if not row["commit_ts"]:
        return f"{position} {event_content(row)}"
    time = tso.to_datetime(row["commit_ts"]).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    return f"{position} {time} {row['commit_ts']} {event_content(row)}"


def event_location(row: DecodedRow) -> str:
    """Print where an event is, and what it is: position, commit-ts, kind and table.

    :param row: fields of ``DECODED``; not of kind ``error``.
    """
    parts = [f"{row['topic']}/{row['partition']}@{row['offset']}[{row['index']}]"]
    if row["commit_ts"]:
        parts.append(str(row["commit_ts"]))
    parts.append(str(row["op"] if row["kind"] == "row" else row["kind"]))
    names = ".".join(name for name in (row.get("schema"), row.get("table")) if name)
    return " ".join([*parts, names] if names else parts)


def event_content(row: DecodedRow) -> str:
    """Print an event without its position and time: kind, table and values.

    :param row: fields of ``DECODED``; not of kind ``error``.
    """
    name = ".".join(part for part in (row.get("schema"), row.get("table")) if part)
    what = {"row": _row_text, "ddl": _ddl_text}.get(row["kind"], _nothing)(row)
    label = row["op"] if row["kind"] == "row" else row["kind"]
    return " ".join(part for part in (label, name, what) if part)


def _row_text(row: DecodedRow) -> str:
    names = _names(row)
    before, after = (dict(_in_column_order(image or (), names)) for image in (row["before"], row["after"]))
    if row["op"] == "delete":
        return _values(before)
    changed = {name: value for name, value in before.items() if after.get(name) != value}
    return _values(after) + (f" (was {_values(changed)})" if changed else "")


def _ddl_text(row: DecodedRow) -> str:
    return f"type={row['ddl_type']} {row['query']}"


def _nothing(_row: DecodedRow) -> str:
    return ""


def _values(image: Mapping[str, Value]) -> str:
    return " ".join(f"{name}={_display_value(_bytes(value))}" for name, value in image.items())


def _display_value(value: bytes | None) -> str:
    if value is None:
        return "NULL"
    try:
        text = repr(value.decode())
    except UnicodeDecodeError:
        text = f"x'{value.hex()}'"
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…({len(value)} bytes)"


def _items(image: RowImage) -> Iterable[tuple[str, Value]]:
    return image.items() if isinstance(image, Mapping) else image


def _bytes(value: bytes | bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
