"""From typed Spark columns to canonical values (DESIGN "Value"), in the JVM."""

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
from ticdc_producer.scenario.dataframe.json_column import json_column
from ticdc_producer.scenario.dataframe.member_text import enum_text, set_text
from ticdc_producer.scenario.dataframe.number_text import (
    bit_text,
    decimal_text,
    float_column_text,
    integer_text,
    year_text,
)
from ticdc_producer.scenario.dataframe.refusal import null_refused
from ticdc_producer.scenario.dataframe.string_text import byte_text, character_text
from ticdc_producer.scenario.dataframe.temporal_text import date_text, moment_text, span_text

T = MySQLType
Rule: TypeAlias = Callable[[ColumnInfo, Column, DataType], Column]


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of column is made.

    :param accepts: the Spark types it is made from; ``names`` says so to the user.
    :param rule: the canonical value of one that is not NULL, as string or binary.
    :param whole: whether decimals must have scale 0.
    """

    accepts: tuple[type[DataType], ...]
    names: str
    rule: Rule
    whole: bool = False


def _json_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    return json_column(value, column.name)


_WHOLE = (IntegralType, DecimalType)
_WHOLE_NAMES = "an integer, or decimal(n,0) beyond the signed range"
_INTEGER = Form((*_WHOLE, BooleanType), f"{_WHOLE_NAMES}, or boolean", integer_text, whole=True)
_FLOAT = Form((FractionalType, IntegralType), "float, double, decimal or an integer", float_column_text)
_MOMENT = Form((TimestampType, TimestampNTZType), "timestamp or timestamp_ntz", moment_text)
_CHARACTERS = Form((StringType,), "string", character_text)
_BYTES = Form((BinaryType,), "binary", byte_text)
_FORMS: dict[MySQLType, Form] = {
    **dict.fromkeys(INTEGERS, _INTEGER),
    T.NEW_DECIMAL: Form(_WHOLE, "decimal or an integer", decimal_text),
    T.FLOAT: _FLOAT,
    T.DOUBLE: _FLOAT,
    T.BIT: Form((*_WHOLE, BooleanType), f"{_WHOLE_NAMES}, or boolean", bit_text, whole=True),
    T.YEAR: Form((IntegralType,), "an integer", year_text),
    T.DATE: Form((DateType,), "date", date_text),
    T.DATETIME: _MOMENT,
    T.TIMESTAMP: _MOMENT,
    T.DURATION: Form((StringType,), "string", span_text),
    T.ENUM: Form((StringType, IntegralType), "string or an integer", enum_text),
    T.SET: Form((StringType, *_WHOLE), f"string, or {_WHOLE_NAMES}", set_text, whole=True),
    T.JSON: Form((StringType,), "string", _json_text),
}


def canonical(column: ColumnInfo, value: Column, kind: DataType, *, required: Column | None = None) -> Column:
    """The canonical value of a column, as binary; a value that does not fit stops the job.

    :param kind: the Spark type of ``value``.
    :param required: where NULL in a NOT NULL column is refused; everywhere unless given.
    :raises ScenarioError: if the column is not made from that type.
    """
    rule = _form(column, kind).rule
    absent = F.lit(None).cast("binary")
    if not column.nullable:
        absent = null_refused(column).cast("binary")
        if required is not None:
            absent = F.when(required, absent)
    if isinstance(kind, NullType):
        return absent
    return F.when(value.isNull(), absent).otherwise(rule(column, _plain(value, kind), kind).cast("binary"))


def _plain(value: Column, kind: DataType) -> Column:
    """Booleans as numbers; strings without a collation of Spark's, so that names compare exactly."""
    if isinstance(kind, BooleanType):
        return value.cast("int")
    return value.cast("string") if isinstance(kind, StringType) else value


def _form(column: ColumnInfo, kind: DataType) -> Form:
    form = _FORMS.get(column.type)
    if column.type in STRINGS or column.type in LOBS:
        form = _BYTES if column.charset == "binary" else _CHARACTERS
    if form is None:
        raise UnsupportedSQL(f"Values of type {column.type_name} are not supported", column=column.name)
    fraction = form.whole and isinstance(kind, DecimalType) and kind.scale > 0
    if not isinstance(kind, (*form.accepts, NullType)) or fraction:
        what = f"column {column.name!r} is {column.type_name} and cannot be made from {kind.simpleString()}"
        raise ScenarioError(what, column=column.name, hint=f"it takes {form.names}; cast it")
    return form
