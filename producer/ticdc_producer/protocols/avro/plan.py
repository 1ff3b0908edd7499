"""The compiled plan for encoding the rows of one table version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Fragment, Fragments, map_distinct, map_values
from ticdc_producer.protocols.avro import binary
from ticdc_producer.protocols.avro.column_schema import avro_type, bit_literal, is_decimal, null_comes_first
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.table_schema import key_indexes, name_clash
from ticdc_producer.protocols.member_text import member_text

T = MySQLType
Writer: TypeAlias = Callable[[pa.Array], Fragments]
"""Encodes the values of a column in Avro's binary encoding."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The plan of one table version.

    :param key: indexes of the key columns in an image; empty if there is no key.
    :param enums: indexes of the ENUM columns, with their number of members.
    :param clash: a field name of the value's schema that is duplicate or not allowed; empty if there is
        none.
    :param key_clash: likewise, of the key's schema.
    """

    columns: tuple[Writer, ...]
    key: tuple[int, ...]
    enums: tuple[tuple[int, int], ...]
    clash: str
    key_clash: str

    def cells(self, image: Sequence[pa.Array], indexes: Iterable[int]) -> Iterator[Fragment]:
        """Encode the columns of an image at these indexes."""
        for index in indexes:
            yield from self.columns[index](image[index])


def table_plan(table: TableInfo, options: AvroOptions) -> TablePlan:
    """Compile the plan of one table version."""
    columns = table.sent_columns
    return TablePlan(
        columns=tuple(_writer(column, options) for column in columns),
        key=key_indexes(table, options),
        enums=tuple((index, len(c.elements)) for index, c in enumerate(columns) if c.type == T.ENUM),
        clash=name_clash("value", table, options),
        key_clash=name_clash("key", table, options),
    )


def _writer(column: ColumnInfo, options: AvroOptions) -> Writer:
    bare = _bare_writer(column, options)
    if not column.nullable:
        return bare
    null_first = null_comes_first(column, options)
    return partial(binary.nullable, written=bare, null_first=null_first)


def _bare_writer(column: ColumnInfo, options: AvroOptions) -> Writer:
    match avro_type(column, options):
        case "int" | "long":
            return binary.unsigned if column.type == T.LONGLONG and column.unsigned else binary.signed
        case "float":
            return binary.floats
        case "double":
            return binary.doubles
    if column.type in (T.ENUM, T.SET):
        return lambda values: binary.length_prefixed(
            map_distinct(values, lambda value: member_text(column, value).encode())
        )
    if column.type == T.BIT:
        return lambda values: binary.length_prefixed(map_distinct(values, bit_literal))
    if is_decimal(column, options):
        return lambda values: binary.length_prefixed(map_values(values, _unscaled))
    return binary.length_prefixed


def _unscaled(value: bytes) -> bytes:
    """The unscaled number of a decimal in the fewest bytes, big-endian two's complement."""
    number = int(value.replace(b".", b"", 1))
    bits = (number if number >= 0 else ~number).bit_length()
    return number.to_bytes(bits // 8 + 1, "big", signed=True)
