"""The compiled plan for encoding the rows of one table version, and Avro's binary encoding of columns.

Integers are zig-zag varints, floating point numbers are little-endian, texts and byte strings are preceded by
their length. Text that is not UTF-8 is copied unchanged, as TiCDC does; an Avro library that takes Python
``str`` could not write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    concat,
    fixed_width,
    lengths,
    map_distinct,
    map_values,
    parsed_numbers,
    varints,
)
from ticdc_producer.protocols.avro.schemas import (
    avro_type,
    is_decimal,
    key_indexes,
    name_clash,
    null_comes_first,
    value_indexes,
)
from ticdc_producer.protocols.member_text import member_text
from ticdc_producer.protocols.row_options import AvroOptions

_FIRST, _SECOND = b"\x00", b"\x02"
"""Indexes of the two branches of a union, as encoded."""


def longs(numbers: Numbers) -> pa.Array:
    """Encode numbers as Avro ``int`` or ``long``."""
    return varints(numbers)


def signed(values: pa.Array) -> Fragments:
    """Encode decimal digits as Avro ``int`` or ``long``.

    >>> [column.to_pylist() for column in signed(pa.array([b"1", b"-1", None]))]
    [[b'\\x02', b'\\x01', b'\\x00']]
    """
    return (longs(parsed_numbers(values, pa.int64())),)


def unsigned(values: pa.Array) -> Fragments:
    """Encode decimal digits of unsigned numbers as the signed numbers with the same 64 bits.

    >>> [column.to_pylist() for column in unsigned(pa.array([b"1", b"18446744073709551615"]))]
    [[b'\\x02', b'\\x01']]
    """
    return (longs(parsed_numbers(values, pa.uint64()).view(np.int64)),)


def floats(values: pa.Array) -> Fragments:
    """Encode decimal digits as Avro ``float``.

    >>> [column.to_pylist() for column in floats(pa.array([b"1", None]))]
    [[b'\\x00\\x00\\x80?', b'\\x00\\x00\\x00\\x00']]
    """
    return (fixed_width(parsed_numbers(values, pa.float64()).astype("<f4").tobytes(), 4),)


def doubles(values: pa.Array) -> Fragments:
    """Encode decimal digits as Avro ``double``."""
    return (fixed_width(parsed_numbers(values, pa.float64()).astype("<f8").tobytes(), 8),)


def length_prefixed(texts: pa.Array) -> Fragments:
    """Encode texts or byte strings as Avro ``string`` or ``bytes``; NULL becomes an empty one.

    >>> [column.to_pylist() for column in length_prefixed(pa.array([b"abc", None]))]
    [[b'\\x06', b'\\x00'], [b'abc', b'']]
    """
    return longs(lengths(texts)), pc.fill_null(texts, b"") if texts.null_count else texts


def literal(text: bytes) -> bytes:
    """Encode one text of at most 63 bytes as Avro ``string``."""
    return bytes((len(text) << 1,)) + text


def nullable(
    values: pa.Array, written: Callable[[pa.Array], Fragments], null: bytes, other: bytes
) -> Fragments:
    """Encode values as a union of null and another type.

    >>> nullable(pa.array([b"x", None]), length_prefixed, _FIRST, _SECOND)[0].to_pylist()
    [b'\\x02\\x02x', b'\\x00']

    :param written: encodes the values that are not NULL.
    :param null: the encoded index of the branch null.
    :param other: the encoded index of the branch of the other values.
    """
    if not values.null_count:
        return other, *written(values)
    if values.null_count == len(values):
        return (null,)
    non_null = concat((other, *written(values)), len(values))
    return (pc.if_else(values.is_null(), pa.scalar(null, pa.binary()), non_null),)


T = MySQLType
Writer: TypeAlias = Callable[[pa.Array], Fragments]
"""Encodes the values of a column in Avro's binary encoding."""


@dataclass(frozen=True, slots=True)
class AvroTablePlan:
    """The plan of one table version.

    :param columns: the encodings of the columns of an image.
    :param key: indexes of the key columns in an image; empty if there is no key.
    :param value: indexes of all columns in an image, in the order of the value's fields.
    :param enums: indexes of the ENUM columns, with their number of members.
    :param clash: a field name of the value's schema that is duplicate or not allowed; empty if there is
        none.
    :param key_clash: the same for the key's schema.
    """

    columns: tuple[Writer, ...]
    key: tuple[int, ...]
    value: tuple[int, ...]
    enums: tuple[tuple[int, int], ...]
    clash: str
    key_clash: str

    def cells(self, image: Sequence[pa.Array], indexes: Iterable[int]) -> Iterator[Fragment]:
        """Encode the columns of an image at these indexes."""
        for index in indexes:
            yield from self.columns[index](image[index])


def table_plan(table: TableInfo, options: AvroOptions) -> AvroTablePlan:
    """Compile the plan of one table version."""
    columns = table.sent_columns
    return AvroTablePlan(
        columns=tuple(_writer(column, options) for column in columns),
        key=key_indexes(table, options),
        value=tuple(value_indexes(table, options)),
        enums=tuple((index, len(c.elements)) for index, c in enumerate(columns) if c.type == T.ENUM),
        clash=name_clash("value", table, options),
        key_clash=name_clash("key", table, options),
    )


def _writer(column: ColumnInfo, options: AvroOptions) -> Writer:
    bare = _bare_writer(column, options)
    if not column.nullable:
        return bare
    null, other = (_FIRST, _SECOND) if null_comes_first(column, options) else (_SECOND, _FIRST)
    return partial(nullable, written=bare, null=null, other=other)


def _bare_writer(column: ColumnInfo, options: AvroOptions) -> Writer:
    match avro_type(column, options):
        case "int" | "long":
            return unsigned if column.type == T.LONGLONG and column.unsigned else signed
        case "float":
            return floats
        case "double":
            return doubles
    if column.type in (T.ENUM, T.SET):
        return lambda values: length_prefixed(
            map_distinct(values, lambda value: member_text(column, value).encode())
        )
    if column.type == T.BIT:
        return lambda values: length_prefixed(map_distinct(values, _bits))
    if is_decimal(column, options):
        return lambda values: length_prefixed(map_values(values, unscaled))
    return length_prefixed


def _bits(value: bytes) -> bytes:
    """Return a BIT value in the fewest bytes, big-endian; at least one byte."""
    number = int(value)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def unscaled(value: bytes) -> bytes:
    """Return the unscaled number of a decimal in the fewest bytes, big-endian two's complement.

    >>> unscaled(b"1.28"), unscaled(b"-1.28")
    (b'\\x00\\x80', b'\\x80')
    """
    number = int(value.replace(b".", b"", 1))
    bits = (number if number >= 0 else ~number).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)
