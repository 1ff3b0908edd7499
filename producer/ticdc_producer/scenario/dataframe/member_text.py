"""Canonical values of ENUM and SET columns as Spark expressions: the member's number, the members' bits.

A name must be written as in the definition, except for trailing spaces. SQL also accepts names that are equal
under the column's collation, and digits in text.
"""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType

from ticdc_producer.model.collation import pads_space
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.scenario.dataframe.refusal import reject_value


def enum_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """ENUM from a member's name or its number from 1."""
    number = value
    if isinstance(kind, StringType):
        number = F.array_position(F.lit(list(column.elements)), _name(column, value))
    fits = number.between(1, len(column.elements))
    what = "Data truncated: no such ENUM member"
    return F.when(fits, number.cast("string")).otherwise(reject_value(column, value, what))


def set_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """SET from names with commas between, or from the bits as a number."""
    if isinstance(kind, StringType):
        return _set_of_names(column, value)
    highest = F.lit(Decimal((1 << len(column.elements)) - 1))
    fits = value.between(F.lit(0), highest)
    what = "Data truncated: no such SET members"
    return F.when(fits, value.cast("string")).otherwise(reject_value(column, value, what))


def _set_of_names(column: ColumnInfo, value: Column) -> Column:
    none = F.lit([]).cast("array<string>")
    names = F.transform(
        F.when(value == "", none).otherwise(F.split(value, ",")), lambda name: _name(column, name)
    )
    bits = F.lit([Decimal(1 << index) for index in range(len(column.elements))])

    def with_member(sum_: Column, name: Column) -> Column:
        index = F.array_position(F.lit(list(column.elements)), name).cast("int") - 1
        return (sum_ + F.get(bits, index)).cast("decimal(20,0)")  # NULL for an unknown name

    number = F.aggregate(F.array_distinct(names), F.lit(0).cast("decimal(20,0)"), with_member)
    what = "Data truncated: no such SET member"
    return F.coalesce(number.cast("string"), reject_value(column, value, what))


def _name(column: ColumnInfo, value: Column) -> Column:
    return F.rtrim(value) if pads_space(column.collation) else value
