"""Formats column values as fields, and the handle of a row as TiDB prints it.

TiCDC decodes the key, which has lost the types of its columns: dates are packed numbers, a TIME has six
digits of fraction, a FLOAT has 64 bits. Source: tidb ``kv.CommonHandle.String``, ``codec.DecodeOne``,
``types.Datum.ToString``, tiflow ``pkg/sink/codec/csv/csv_message.go`` (``fromColValToCsvVal``,
``formatValue``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.row_key import packed_time, prefix
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import sort_key
from ticdc_producer.model.values.number_text import narrow, plain_text
from ticdc_producer.model.values.temporal_text import utc_timestamp, zone_of
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    base64_texts,
    concat,
    integers,
    map_distinct,
    map_values,
    surrounded,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.csv.options import CSVOptions, unescaped
from ticdc_producer.protocols.go_json import shortest
from ticdc_producer.protocols.member_text import member_text

T = MySQLType
_Part = Callable[[bytes], bytes]


class HandleTexts:
    """The handles of one table version's rows.

    :param time_zone: the changefeed's time zone, in which images contain TIMESTAMP values.
    """

    def __init__(self, table: TableInfo, time_zone: str) -> None:
        self._parts = _parts(table, zone_of(time_zone))

    def of(self, batch: RowBatch, image: Sequence[pa.Array]) -> pa.Array:
        """Return the handle of each row of an image.

        A key of 1 and ``a`` is ``{1, a}``.
        """
        if not self._parts:
            return integers(batch.row_id)
        fragments: list[Fragment] = [b"{"]
        for number, (index, part) in enumerate(self._parts):
            values = image[index] if part is None else map_distinct(image[index], part)
            fragments += [b", " * bool(number), values]
        return concat([*fragments, b"}"], len(batch))


def _parts(table: TableInfo, zone: tzinfo) -> list[tuple[int, _Part | None]]:
    """Return the image index and text of each column of a clustered key; empty for an integer handle."""
    key = table.clustered_key
    if key is None or (len(key.offsets) == 1 and table.columns[key.offsets[0]].type in INTEGERS):
        return []
    lengths = key.lengths or (-1,) * len(key.offsets)
    return [
        (table.sent.index(offset), _part(table.columns[offset], length, zone))
        for offset, length in zip(key.offsets, lengths, strict=True)
    ]


def _part(column: ColumnInfo, length: int, zone: tzinfo) -> _Part | None:
    """Return the function from a value to its text in a key; None if the text is the value."""
    match column.type:
        case T.FLOAT:
            return lambda value: plain_text(narrow(float(value), T.FLOAT), T.DOUBLE)
        case T.DATE | T.NEW_DATE | T.DATETIME:
            return lambda value: b"%d" % packed_time(value)
        case T.TIMESTAMP:
            return lambda value: b"%d" % packed_time(utc_timestamp(value, zone))
        case T.DURATION:
            return _microseconds
    if column.type not in STRINGS:
        return None
    if column.binary:
        return None if length < 0 else lambda value: prefix(column, value, length)
    return lambda value: sort_key(prefix(column, value, length), column.collation)


def _microseconds(value: bytes) -> bytes:
    clock, _, fraction = value.partition(b".")
    return clock + b"." + fraction.ljust(6, b"0")


Field: TypeAlias = Callable[[pa.Array], Fragment]
"""Formats the values of a column as fields."""

_PLAIN = INTEGERS | {T.BIT, T.YEAR}


def field_of(column: ColumnInfo, options: CSVOptions) -> Field:
    """Return the function that formats the values of a column."""
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
    """Quote or escape texts; nulls stay.

    >>> quoted(pa.array([b'6" disk', None]), CSVOptions()).to_pylist()
    [b'"6"" disk"', None]
    """
    if not options.quote:
        # Only a whole delimiter is escaped, each of its characters (csv_message.go, formatWithEscapes).
        escaped = "".join(f"\\{char}" for char in options.delimiter)
        for text, written in (("\\", "\\\\"), (options.delimiter, escaped), ("\r", "\\r"), ("\n", "\\n")):
            texts = pc.replace_substring(texts, text.encode(), written.encode())
        return texts
    mark = options.quote.encode()
    fragments = surrounded(mark, pc.replace_substring(texts, mark, mark * 2), mark)
    return concat(fragments, len(texts), null=None)


def text_like_null(options: CSVOptions) -> bytes | None:
    """Return the text that is written as NULL is, without quotes; None if no text is.

    >>> text_like_null(CSVOptions(quote="", null="-")), text_like_null(CSVOptions(quote=""))
    (b'-', None)
    """
    null = options.null.encode()
    text = unescaped(null)
    return text if not options.quote and quoted_text(text.decode(), options) == null else None


def quoted_text(text: str, options: CSVOptions) -> bytes:
    """Quote or escape one text."""
    return bytes(quoted(pa.array([text.encode()], pa.binary()), options)[0].as_py())
