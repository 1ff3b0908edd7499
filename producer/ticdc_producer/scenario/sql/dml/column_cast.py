"""The cast that UPDATE applies to an assigned value before the column converts it.

INSERT has no such cast, so both may store different values: a negative number in a BIGINT UNSIGNED wraps
here.

Rules: tidb ``PlanBuilder.buildUpdateLists``, ``pkg/expression/builtin_cast.go``.
"""

from __future__ import annotations

from decimal import Decimal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.values.number_text import check_integer, check_number, is_text, whole_number
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    JsonText,
    Member,
    SQLMode,
    SQLValue,
    Unsigned,
)
from ticdc_producer.scenario.sql.expression.cast import CastType, cast

T = MySQLType
_WHOLE = INTEGERS | {T.YEAR, T.BIT}
_MAX_UNSIGNED = (1 << 64) - 1


def cast_to_column(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return an assigned value in the type of a column, which may still have to fit its size.

    :raises ScenarioError: in strict mode, for a value that the type cannot have.
    """
    if value is None:
        return None
    if column.type in _WHOLE and not (column.type == T.YEAR and is_text(value)):
        return _whole(column, value, mode)
    if column.type in FLOATS or column.type == T.NEW_DECIMAL:
        check_number(value, mode)
        return 0 if is_text(value) and not value.strip() else value
    if mode.strict:
        return value
    # A value that is no date is NULL here; INSERT stores the zero date.
    if column.type == T.DATE:
        return cast(value, CastType("DATE"), mode)
    if column.type in (T.DATETIME, T.TIMESTAMP):
        return cast(value, CastType("DATETIME", (max(column.decimal, 0),)), mode)
    if column.type == T.DURATION and not isinstance(value, str | bytes):
        return cast(value, CastType("TIME", (max(column.decimal, 0),)), mode)
    return value


def _whole(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return a number in two's complement; ``coerce`` refuses one that 64 bits do not have."""
    if isinstance(value, BinaryLiteral | Member):
        return Unsigned(value.number)
    if isinstance(value, float | Decimal | JsonText):
        return value
    check_integer(value, mode)
    number = whole_number(value)
    if abs(number) > _MAX_UNSIGNED:
        return number
    bits = number & _MAX_UNSIGNED
    if column.unsigned:
        return Unsigned(bits)
    return bits - (1 << 64) if bits >> 63 else bits
