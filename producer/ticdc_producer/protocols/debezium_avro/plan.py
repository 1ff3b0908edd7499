"""The compiled plan for encoding the rows of a table version: the bytes of each column's values and NULL.

Values are converted as in Debezium's JSON; what is text there is Avro's binary encoding here. Source: ticdc
``pkg/sink/codec/debezium/avro.go`` (``debeziumAvroFieldValue``, ``toNative``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import floor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import (
    NULL as NULL_JSON,
)
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    concat,
    fixed_width,
    map_distinct,
    map_values,
    parsed_numbers,
)
from ticdc_producer.protocols.avro import plan as binary
from ticdc_producer.protocols.avro.schemas import is_decimal
from ticdc_producer.protocols.debezium.plan import null_json, text_default
from ticdc_producer.protocols.debezium.values import renderer
from ticdc_producer.protocols.debezium_avro.connect import NULL, OTHER, encoded, length_prefixed
from ticdc_producer.protocols.debezium_avro.schemas import column_schema, key_offsets, kind_of
from ticdc_producer.protocols.member_text import member_text
from ticdc_producer.protocols.row_options import DebeziumAvroOptions

T = MySQLType
_RENDERED = (T.DATE, T.NEW_DATE, T.DATETIME, T.TIMESTAMP, T.DURATION)


@dataclass(frozen=True, slots=True)
class AvroColumnPlan:
    """One column of the images.

    :param texts: from canonical values to those that are written; NULL for what is sent as NULL.
    :param write: encodes the results of ``texts`` that are not NULL.
    :param null: the bytes that replace NULL in a row: those of the DEFAULT, if there is one.
    """

    texts: Callable[[pa.Array], pa.Array]
    write: Callable[[pa.Array], Fragments]
    null: bytes

    def cells(self, values: pa.Array) -> Fragments:
        """Encode the values of the column, each after the index of its branch."""
        written = binary.nullable(self.texts(values), self.write, NULL, OTHER)
        if self.null == NULL or not values.null_count:
            return written
        texts = concat(written, len(values))
        return (pc.if_else(values.is_null(), pa.scalar(self.null, pa.binary()), texts),)


@dataclass(frozen=True, slots=True)
class RowPlan:
    """The plan of one table version.

    :param key: indexes of the key columns in an image.
    """

    columns: tuple[AvroColumnPlan, ...]
    key: tuple[int, ...]

    def cells(self, image: Sequence[pa.Array], indexes: Iterable[int] | None = None) -> Iterator[Fragment]:
        """Encode the columns of an image.

        :param indexes: of the columns; None: all.
        """
        for index in range(len(self.columns)) if indexes is None else indexes:
            yield from self.columns[index].cells(image[index])


def row_plan(table: TableInfo, options: DebeziumAvroOptions) -> RowPlan:
    """Compile the plan of one table version."""
    key = (table.image_index(offset) for offset in key_offsets(table))
    return RowPlan(
        columns=tuple(_column_plan(column, options) for column in table.sent_columns),
        key=tuple(index for index in key if index is not None),
    )


def _column_plan(column: ColumnInfo, options: DebeziumAvroOptions) -> AvroColumnPlan:
    texts = partial(_rendered, column, options) if column.type in _RENDERED else _unchanged
    return AvroColumnPlan(texts=texts, write=_writer(column, options), null=_null(column, options))


def _unchanged(values: pa.Array) -> pa.Array:
    return values


def _rendered(column: ColumnInfo, options: DebeziumAvroOptions, values: pa.Array) -> pa.Array:
    """Return dates and times as in JSON, without quotes; NULL for those that JSON has as null."""
    texts = concat(renderer(column, options.of_json)(values), len(values), null=None)
    if column.type == T.TIMESTAMP:
        return pc.binary_slice(texts, 1, -1)
    return pc.if_else(pc.equal(texts, NULL_JSON), pa.scalar(None, pa.binary()), texts)


def _writer(column: ColumnInfo, options: DebeziumAvroOptions) -> Callable[[pa.Array], Fragments]:
    if column.type == T.BIT:
        return _booleans if column.length == 1 else partial(_bits, (column.length + 7) // 8)
    if column.type in (T.ENUM, T.SET):
        return lambda values: binary.length_prefixed(
            map_distinct(values, lambda value: member_text(column, value).encode())
        )
    if is_decimal(column, options):
        return lambda values: binary.length_prefixed(map_values(values, binary.unscaled))
    match kind_of(column, options):
        case "string" | "bytes":
            return binary.length_prefixed
        case "float":
            return binary.floats
        case "double":
            return _widened if column.type == T.FLOAT else binary.doubles
    return binary.unsigned if column.type == T.LONGLONG and column.unsigned else binary.signed


def _booleans(values: pa.Array) -> Fragments:
    return (pc.if_else(pc.equal(values, b"0"), b"\x00", b"\x01"),)


def _bits(size: int, values: pa.Array) -> Fragments:
    """Encode BIT values as their bytes, lowest first."""
    return binary.length_prefixed(map_distinct(values, lambda value: int(value).to_bytes(size, "little")))


def _widened(values: pa.Array) -> Fragments:
    """Encode FLOAT values as Avro ``double``: the number of 64 bits that is equal to that of 32 bits."""
    numbers = parsed_numbers(values, pa.float64()).astype("<f4")
    return (fixed_width(numbers.astype("<f8").tobytes(), 8),)


def _null(column: ColumnInfo, options: DebeziumAvroOptions) -> bytes:
    """Return the bytes that replace NULL."""
    schema = column_schema(column, options)
    if column.type == T.NEW_DECIMAL:
        default = decimal_default(column, options)
        if default is None:
            return NULL
        return OTHER + length_prefixed(binary.unscaled(default) if is_decimal(column, options) else default)
    text = null_json(column, options.of_json)
    if text == NULL_JSON:
        return NULL
    value = json.loads(text.decode("utf-8", "surrogateescape"))
    if schema["type"] == "string" and not isinstance(value, str):
        value = text.decode()
    if column.type == T.FLOAT:  # TiCDC reads it with GetFloat32
        value = float(np.float32(value))
    return encoded(schema, value)


def decimal_default(column: ColumnInfo, options: DebeziumAvroOptions) -> bytes | None:
    """Return the DEFAULT of a DECIMAL column in the form of readers; None if there is none.

    TiCDC takes the digits of the DEFAULT as the user wrote them. Avro's decimal has as many as the column:
    goavro rounds others down. Source: goavro ``decimalBytesFromNative``.
    """
    default = text_default(column)
    if default is None:
        return None
    if not is_decimal(column, options):
        number = Decimal(default.decode())
        return f"{number or abs(number):f}".encode()
    scale = max(column.decimal, 0)
    unscaled = floor(Fraction(default.decode()) * 10**scale)
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    sign, end = "-" * (unscaled < 0), len(digits) - scale
    return f"{sign}{digits[:end]}{'.' * (scale > 0)}{digits[end:]}".encode()
