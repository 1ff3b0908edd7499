"""The cast that UPDATE applies to an assigned value before the column converts it.

INSERT has no such cast, so both may store different values: a negative number in a BIGINT UNSIGNED wraps
here.

Rules: tidb ``PlanBuilder.buildUpdateLists``, ``pkg/expression/builtin_cast.go``.
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.values.coerce_scalar import allowed, as_datetime, as_duration
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import check_integer, check_number, integer_prefix
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    DateTimeValue,
    Duration,
    JsonText,
    Member,
    SQLMode,
    SQLValue,
    Unsigned,
)

T = MySQLType
_WHOLE = INTEGERS | {T.YEAR, T.BIT}
_DATES = frozenset({T.DATE, T.DATETIME, T.TIMESTAMP})
_MAX_UNSIGNED = (1 << 64) - 1


def cast_to_column(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return an assigned value in the type of a column, which may still have to fit its size.

    :raises ScenarioError: in strict mode, for a value that the type cannot have.
    """
    if value is None:
        return None
    is_text = isinstance(value, str | bytes) and not isinstance(value, BinaryLiteral | Member | JsonText)
    if column.type in _WHOLE and not (is_text and column.type == T.YEAR):
        return _whole(column, value, mode)
    if column.type in FLOATS or column.type == T.NEW_DECIMAL:
        check_number(value, mode)
        return (
            "0" if isinstance(value, str) and not isinstance(value, Member) and not value.strip() else value
        )
    if column.type in _DATES:
        return _moment(column, value, mode)
    if column.type == T.DURATION and not mode.strict and not isinstance(value, str | bytes):
        return as_duration(value, max(column.decimal, 0))
    return value


def _whole(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    if isinstance(value, BinaryLiteral | Member):
        return Unsigned(value.number)
    if isinstance(value, str | bytes) and not isinstance(value, JsonText):
        check_integer(value, mode)
        value = integer_prefix(to_text(value))[0]
        if abs(value) > _MAX_UNSIGNED:
            return value
    elif isinstance(value, DateTimeValue | Duration):
        number = value.number()
        value = int(number.to_integral_value(rounding="ROUND_HALF_UP"))
    if not isinstance(value, int):
        return value
    bits = int(value) & _MAX_UNSIGNED
    if column.unsigned:
        return Unsigned(bits)
    return bits - (1 << 64) if bits >> 63 else bits


def _moment(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return a date, or NULL for a value that is none, for which INSERT stores the zero date."""
    if mode.strict:
        return value
    moment = as_datetime(value, -1 if column.type == T.DATE else max(column.decimal, 0), mode)
    return None if moment is None or not allowed(moment, mode) else moment
