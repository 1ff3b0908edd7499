"""Formats column values as fields.

Source: tiflow ``pkg/sink/codec/csv/csv_message.go`` (``fromColValToCsvVal``, ``formatValue``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.protocols.arrow_text import Fragment, concat, map_distinct, map_values, surrounded
from ticdc_producer.protocols.base64_texts import base64_texts
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.go_float import shortest
from ticdc_producer.protocols.member_text import member_text

T = MySQLType
Field: TypeAlias = Callable[[pa.Array], Fragment]
"""Formats the values of a column as fields."""

_PLAIN = INTEGERS | {T.BIT, T.YEAR}
_ESCAPED = {"\\": "\\\\", "\r": "\\r", "\n": "\\n"}


def field_of(column: ColumnInfo, options: CSVOptions) -> Field:
    """The format of a column."""
    text = _text_of(column, options)
    return lambda values: _with_nulls(text(values), options)


def _with_nulls(fields: pa.Array, options: CSVOptions) -> pa.Array:
    return pc.fill_null(fields, options.null.encode()) if fields.null_count else fields


def _text_of(column: ColumnInfo, options: CSVOptions) -> Callable[[pa.Array], pa.Array]:
    if column.type in _PLAIN:
        return lambda values: values
    if column.type in FLOATS:
        return lambda values: map_values(values, shortest)
    if column.type in (T.ENUM, T.SET):
        return lambda values: quoted(map_distinct(values, partial(_members, column)), options)
    if column.binary and column.type in STRINGS | LOBS:
        encoded = base64_texts if options.binary_encoding_method == "base64" else _hex
        return lambda values: quoted(encoded(values), options)
    return lambda values: quoted(values, options)


def _members(column: ColumnInfo, value: bytes) -> bytes:
    return member_text(column, value).encode()


def _hex(values: pa.Array) -> pa.Array:
    return map_values(values, lambda value: value.hex().encode())


def quoted(texts: pa.Array, options: CSVOptions) -> pa.Array:
    """Quote or escape texts; nulls stay."""
    if not options.quote:
        for char in ("\\", "\r", "\n"):
            texts = pc.replace_substring(texts, char.encode(), _ESCAPED[char].encode())
        for char in dict.fromkeys(options.delimiter):
            texts = pc.replace_substring(texts, char.encode(), b"\\" + char.encode())
        return texts
    mark = options.quote.encode()
    fragments = surrounded(mark, pc.replace_substring(texts, mark, mark * 2), mark)
    return concat(fragments, len(texts), null=None)


def quoted_text(text: str, options: CSVOptions) -> bytes:
    """Quote or escape one text."""
    return bytes(quoted(pa.array([text.encode()], pa.binary()), options)[0].as_py())
