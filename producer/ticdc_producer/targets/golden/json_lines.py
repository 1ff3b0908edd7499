"""The lines of a golden folder's files (``docs/design.md#commands-and-files``), by whole columns.

The text is that of Python's ``json.dumps`` with ``ensure_ascii=False``; the line separators of Unicode are
escaped as well, because many readers of text treat them as line ends.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event_line import json_line
from ticdc_producer.model.shapes import ExpectedBatch, StoredMessageBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import (
    Fragments,
    base64_texts,
    concat,
    contents,
    integers,
    map_values,
    quoted,
    surrounded,
)
from ticdc_producer.protocols.base import MAX_SCHEMA_NUMBER, schema_id_text
from ticdc_producer.protocols.go_json import JSONStrings

_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LONG = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), 0x85, 0x2028, 0x2029)}
_STRINGS = JSONStrings({**_LONG, **_SHORT}, bad_byte=None)


def message_lines(messages: StoredMessageBatch) -> bytes:
    """Return the lines of ``messages.jsonl``: keys and values in Base64.

    :param messages: shape ``MESSAGES``, in order.
    """
    headers = messages["headers"]
    header = concat(
        (b"[", *_texts(headers.values.field("key")), b", ", *_base64(headers.values.field("value")), b"]"),
        len(headers.values),
    )
    return _lines(
        messages.num_rows,
        topic=_texts(messages["topic"]),
        partition=_numbers(messages["partition"]),
        offset=_numbers(messages["offset"]),
        type=_texts(messages["type"]),
        key=_base64(messages["key"]),
        value=_base64(messages["value"]),
        timestamp=_numbers(messages["timestamp"]),
        headers=(b"[", _joined(headers.offsets, header), b"]"),
    )


def event_lines(events: ExpectedBatch) -> bytes:
    """Return the lines of ``events.jsonl``, as ``event_line`` has them for one event.

    :param events: shape ``EXPECTED_EVENTS``, in order; the members of an image are in column order.
    """
    incomplete = pc.fill_null(pc.greater(events["handle_key_only"], 0), False)
    return _lines(
        events.num_rows,
        topic=_texts(events["topic"]),
        partition=_numbers(events["partition"]),
        offset=_numbers(events["offset"]),
        index=_numbers(events["index"]),
        kind=_texts(events["kind"]),
        commit_ts=_numbers(events["commit_ts"]),
        schema=_texts(events["schema"]),
        table=_texts(events["table"]),
        table_id=_numbers(events["table_id"]),
        op=_texts(events["op"]),
        columns=_columns(events["columns"]),
        before=_image(events["before"]),
        after=_image(events["after"]),
        query=_texts(events["query"]),
        ddl_type=(
            *_numbers(events["ddl_type"]),
            pc.if_else(incomplete, pa.scalar(b', "handle_key_only": true'), pa.scalar(b"")),
        ),
    )


def state_lines(table: TableInfo, rows: pa.Array) -> bytes:
    """Return the lines of a file of ``state/``: the rows of a table, one object of columns and values each.

    :param rows: images (shape ``IMAGE``) of the table's columns that are sent, in order.
    """
    names = [column.name for column in table.sent_columns]
    cells, width = _values(rows.flatten()), len(names)
    columns = (cells.take(pa.array(np.arange(at, len(cells), width))) for at in range(width))
    return _lines(len(rows), **{name: (column,) for name, column in zip(names, columns, strict=True)})


def _lines(rows: int, /, **fields: Fragments) -> bytes:
    """Return one object for each row, with a line end."""

    def fragments() -> Iterator[bytes | pa.Array]:
        yield b"{"
        for number, (name, text) in enumerate(fields.items()):
            yield (b", " if number else b"") + _STRINGS.literal(name) + b": "
            yield from text
        yield b"}\n"

    return contents(concat(fragments(), rows))


def _texts(texts: pa.Array) -> Fragments:
    return _STRINGS.literals(texts.cast(pa.binary()))


def _numbers(numbers: pa.Array) -> Fragments:
    return (integers(numbers),)


def _base64(data: pa.Array) -> Fragments:
    return quoted(base64_texts(data))


def _columns(columns: pa.Array) -> Fragments:
    """Return lists of ``[name, type, flag]``."""
    child = columns.values
    names, types, flags = (child.field(name) for name in ("name", "type", "flag"))
    entries = concat((b"[", *_texts(names), b", ", *_texts(types), b", ", integers(flags), b"]"), len(child))
    return surrounded(b"[", _joined_where(columns, entries), b"]")


def _image(image: pa.Array) -> Fragments:
    """Return objects of column names and values."""
    members = concat((*_texts(image.keys), b": ", _values(image.items)), len(image.keys))
    return surrounded(b"{", _joined_where(image, members), b"}")


def _values(values: pa.Array) -> pa.Array:
    """Return a string where the value is UTF-8, ``{"b64": …}`` where it is not, null for NULL."""
    try:
        values.cast(pa.string())
    except pa.ArrowInvalid:
        return map_values(values, _value)
    return concat(_STRINGS.literals(values), len(values))


def _value(value: bytes) -> bytes:
    try:
        return _STRINGS.literal(value.decode())
    except UnicodeDecodeError:
        return b'{"b64": "' + b64encode(value) + b'"}'


def _joined_where(lists: pa.Array, texts: pa.Array) -> pa.Array:
    """Return the texts of each list, joined; null where the list is null.

    >>> _joined_where(pa.array([[1, 2], None, [3]]), pa.array([b"1", b"2", b"3"])).to_pylist()
    [b'1, 2', None, b'3']
    """
    joined = _joined(lists.offsets, texts)
    return pc.if_else(lists.is_valid(), joined, None) if lists.null_count else joined


def _joined(offsets: pa.Array, texts: pa.Array) -> pa.Array:
    """Return the texts between consecutive offsets, joined with commas."""
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), pa.scalar(b", "))


def lines(objects: Iterable[Mapping[str, object]]) -> bytes:
    """Return a ``.jsonl`` file: one object per line."""
    return "".join(json_line(entry) + "\n" for entry in objects).encode()


def schema_lines(schemas: Mapping[int, str]) -> bytes:
    """Return ``schemas.jsonl``, the Avro schemas.

    :param schemas: by the schema id in the messages.
    """
    return lines(
        {"id": number if number <= MAX_SCHEMA_NUMBER else schema_id_text(number), "schema": schema}
        for number, schema in sorted(schemas.items())
    )
