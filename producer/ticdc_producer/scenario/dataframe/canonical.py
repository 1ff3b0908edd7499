"""Converts typed Spark columns to canonical values (``docs/design.md#values``), in the JVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FractionalType,
    IntegralType,
    NullType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.scenario.dataframe.scalar_text import (
    bit_text,
    date_text,
    datetime_text,
    decimal_text,
    duration_text,
    float_column_text,
    integer_text,
    year_text,
)
from ticdc_producer.scenario.dataframe.string_text import (
    byte_text,
    character_text,
    enum_text,
    json_column,
    set_text,
)
from ticdc_producer.spark.spark_errors import reject_null

T = MySQLType
Rule: TypeAlias = Callable[[ColumnInfo, Column, DataType], Column]


@dataclass(frozen=True, slots=True)
class ConversionRule:
    """The conversion of the values of one kind of column.

    :param accepts: the accepted Spark types.
    :param names: the accepted types in words, for messages.
    :param convert: converts a value that is not NULL to the canonical value, as string or binary.
    :param integral: whether decimals must have scale 0.
    """

    accepts: tuple[type[DataType], ...]
    names: str
    convert: Rule
    integral: bool = False


def _json_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    return json_column(value, column.name)


_INTEGRAL = (IntegralType, DecimalType)
_INTEGRAL_NAMES = "an integer, or decimal(n,0) beyond the signed range"
_INTEGER = ConversionRule(
    (*_INTEGRAL, BooleanType), f"{_INTEGRAL_NAMES}, or boolean", integer_text, integral=True
)
_FLOAT = ConversionRule(
    (FractionalType, IntegralType), "float, double, decimal or an integer", float_column_text
)
_DATETIME = ConversionRule((TimestampType, TimestampNTZType), "timestamp or timestamp_ntz", datetime_text)
_CHARACTERS = ConversionRule((StringType,), "string", character_text)
_BYTES = ConversionRule((BinaryType,), "binary", byte_text)
_RULES: dict[MySQLType, ConversionRule] = {
    **dict.fromkeys(INTEGERS, _INTEGER),
    T.NEW_DECIMAL: ConversionRule(_INTEGRAL, "decimal or an integer", decimal_text),
    T.FLOAT: _FLOAT,
    T.DOUBLE: _FLOAT,
    T.BIT: ConversionRule(
        (*_INTEGRAL, BooleanType), f"{_INTEGRAL_NAMES}, or boolean", bit_text, integral=True
    ),
    T.YEAR: ConversionRule((IntegralType,), "an integer", year_text),
    T.DATE: ConversionRule((DateType,), "date", date_text),
    T.DATETIME: _DATETIME,
    T.TIMESTAMP: _DATETIME,
    T.DURATION: ConversionRule((StringType,), "string", duration_text),
    T.ENUM: ConversionRule((StringType, IntegralType), "string or an integer", enum_text),
    T.SET: ConversionRule((StringType, *_INTEGRAL), f"string, or {_INTEGRAL_NAMES}", set_text, integral=True),
    T.JSON: ConversionRule((StringType,), "string", _json_text),
}


def canonical(column: ColumnInfo, value: Column, kind: DataType, *, required: Column | None = None) -> Column:
    """Convert a column to canonical values, as binary; a value that does not fit stops the job.

    :param kind: the Spark type of ``value``.
    :param required: condition under which NULL in a NOT NULL column is refused; default: always.
    :raises ScenarioError: if the column does not accept that type.
    """
    convert = rule_for(column, kind).convert
    absent = F.lit(None).cast("binary")
    if not column.nullable:
        absent = reject_null(column).cast("binary")
        if required is not None:
            absent = F.when(required, absent)
    if isinstance(kind, NullType):
        return absent
    return F.when(value.isNull(), absent).otherwise(convert(column, _plain(value, kind), kind).cast("binary"))


def _plain(value: Column, kind: DataType) -> Column:
    """Convert booleans to numbers; strip Spark collations from strings, so that names compare exactly."""
    if isinstance(kind, BooleanType):
        return value.cast("int")
    return value.cast("string") if isinstance(kind, StringType) else value


def rule_for(column: ColumnInfo, kind: DataType) -> ConversionRule:
    """Return the rule of a column.

    :param kind: the Spark type of its values.
    :raises ScenarioError: if the column does not accept that type.
    """
    rule = _RULES.get(column.type)
    if column.type in STRINGS or column.type in LOBS:
        rule = _BYTES if column.charset == "binary" else _CHARACTERS
    if rule is None:
        raise UnsupportedSQL(f"Values of type {column.type_name} are not supported", column=column.name)
    fraction = rule.integral and isinstance(kind, DecimalType) and kind.scale > 0
    if not isinstance(kind, (*rule.accepts, NullType)) or fraction:
        what = f"column {column.name!r} is {column.type_name} and cannot be made from {kind.simpleString()}"
        raise ScenarioError(what, column=column.name, hint=f"it takes {rule.names}; cast it")
    return rule
