"""The types of Spark that the columns of a table accept (``docs/python.md#your-own-dataframes``)."""

from __future__ import annotations

from dataclasses import dataclass

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

T = MySQLType


@dataclass(frozen=True, slots=True)
class AcceptedTypes:
    """The types that one kind of column accepts, besides that of NULL.

    :param names: the types in words, for messages.
    :param integral: whether decimals must have scale 0.
    """

    types: tuple[type[DataType], ...]
    names: str
    integral: bool = False


_INTEGRAL = (IntegralType, DecimalType)
_INTEGRAL_NAMES = "an integer, or decimal(n,0) beyond the signed range"
_INTEGER = AcceptedTypes((*_INTEGRAL, BooleanType), f"{_INTEGRAL_NAMES}, or boolean", integral=True)
_FLOAT = AcceptedTypes((FractionalType, IntegralType), "float, double, decimal or an integer")
_DATETIME = AcceptedTypes((TimestampType, TimestampNTZType), "timestamp or timestamp_ntz")
_TEXT = AcceptedTypes((StringType,), "string")
_BYTES = AcceptedTypes((BinaryType,), "binary")
_ACCEPTED: dict[MySQLType, AcceptedTypes] = {
    **dict.fromkeys(INTEGERS, _INTEGER),
    T.NEW_DECIMAL: AcceptedTypes(_INTEGRAL, "decimal or an integer"),
    T.FLOAT: _FLOAT,
    T.DOUBLE: _FLOAT,
    T.BIT: _INTEGER,
    T.YEAR: AcceptedTypes((IntegralType,), "an integer"),
    T.DATE: AcceptedTypes((DateType,), "date"),
    T.DATETIME: _DATETIME,
    T.TIMESTAMP: _DATETIME,
    T.DURATION: _TEXT,
    T.ENUM: AcceptedTypes((StringType, IntegralType), "string or an integer"),
    T.SET: AcceptedTypes((StringType, *_INTEGRAL), f"string, or {_INTEGRAL_NAMES}", integral=True),
    T.JSON: _TEXT,
}


def check_type(column: ColumnInfo, kind: DataType) -> None:
    """Check that a column accepts a type of Spark.

    :raises ScenarioError: if it does not.
    """
    accepted = _ACCEPTED.get(column.type)
    if column.type in STRINGS or column.type in LOBS:
        accepted = _BYTES if column.charset == "binary" else _TEXT
    if accepted is None:
        raise UnsupportedSQL(f"Values of type {column.type_name} are not supported", column=column.name)
    fraction = accepted.integral and isinstance(kind, DecimalType) and kind.scale > 0
    if not isinstance(kind, (*accepted.types, NullType)) or fraction:
        what = f"column {column.name!r} is {column.type_name} and cannot be made from {kind.simpleString()}"
        raise ScenarioError(what, column=column.name, hint=f"it takes {accepted.names}; cast it")
