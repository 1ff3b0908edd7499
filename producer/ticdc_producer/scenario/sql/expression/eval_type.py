"""The types of expressions: TiDB's ``EvalType``, which decides how values are computed, and the digits.

Rules: tidb ``pkg/types/field_type.go`` (``AggFieldType``, ``AggregateEvalType``),
``pkg/expression/builtin_control.go`` (``InferType4ControlFuncs``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from enum import Enum, auto
from typing import NamedTuple

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.model.values.coerce_scalar import as_datetime, as_duration
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.number_text import as_float, rounded
from ticdc_producer.model.values.sql_value import (
    Bits,
    ColumnBytes,
    DateTimeValue,
    Duration,
    JsonText,
    Member,
    Single,
    SQLMode,
    SQLValue,
    Unsigned,
)

T = MySQLType


class EvalType(Enum):
    """The types in which expressions are computed; UNKNOWN if only the values show the type."""

    NULL = auto()
    INTEGER = auto()
    SHORT_UNSIGNED = auto()
    """An unsigned integer of fewer than eight bytes; a BIGINT can hold all of its values."""
    YEAR = auto()
    UNSIGNED = auto()
    DECIMAL = auto()
    DOUBLE = auto()
    TEXT = auto()
    BYTES = auto()
    BIT = auto()
    DATE = auto()
    DATETIME = auto()
    TIME = auto()
    JSON = auto()
    UNKNOWN = auto()


E = EvalType
NUMBERS = frozenset({E.INTEGER, E.SHORT_UNSIGNED, E.YEAR, E.UNSIGNED, E.DECIMAL, E.DOUBLE})
WHOLE = frozenset({E.INTEGER, E.SHORT_UNSIGNED, E.YEAR, E.UNSIGNED})
TEMPORALS = frozenset({E.DATE, E.DATETIME, E.TIME})
_OF_COLUMN = {
    T.NEW_DECIMAL: E.DECIMAL, T.YEAR: E.YEAR, T.BIT: E.BIT, T.JSON: E.JSON, T.DURATION: E.TIME,
    T.DATE: E.DATE, T.NEW_DATE: E.DATE, T.DATETIME: E.DATETIME, T.TIMESTAMP: E.DATETIME, T.ENUM: E.TEXT,
    T.SET: E.TEXT, T.VECTOR_FLOAT32: E.UNKNOWN,
}  # fmt: skip


class Digits(NamedTuple):
    """The digits of a type; those of the fraction of a second are decimals, too.

    :param whole: digits before the decimal point.
    :param decimals: digits after it.
    """

    whole: int
    decimals: int


class ExpressionType(NamedTuple):
    """The type of an expression.

    :param kind: decides how its values are computed.
    :param digits: of its values, which decide the scale of a DECIMAL, and whether CEIL and UNIX_TIMESTAMP are
        integers; None for a kind without them, such as a text, and if this tool does not infer them.
    """

    kind: EvalType
    digits: Digits | None = None


UNKNOWN = ExpressionType(E.UNKNOWN)
OF_INTEGER = Digits(20, 0)
_OF_DATE = Digits(8, 0)
_OF_MEMBER = Digits(0, 0)
"""Marks the type of an ENUM or SET, whose values are numbers, too, also as the result of IF and CASE."""
OF_FLOAT = Digits(-1, -1)
"""Marks the type of a FLOAT; a DOUBLE has no digits."""
_OF_INT = (10, 11)
"""Digits of INT, with which a FLOAT is a DOUBLE, and not a FLOAT as with other integers."""
_WHOLE_OF_DATETIME = 14


def type_of_column(column: ColumnInfo) -> ExpressionType:
    """Return the type of a column."""
    if column.type in INTEGERS:
        digits = Digits(column.length, 0) if column.length > 0 else OF_INTEGER
        unsigned = E.UNSIGNED if column.type == T.LONGLONG else E.SHORT_UNSIGNED
        return ExpressionType(unsigned if column.unsigned else E.INTEGER, digits)
    if column.type in FLOATS:
        return ExpressionType(E.DOUBLE, OF_FLOAT if column.type == T.FLOAT else None)
    kind = _OF_COLUMN.get(column.type, E.BYTES if column.charset == "binary" else E.TEXT)
    if kind is E.DECIMAL:
        return ExpressionType(kind, Digits(column.length - column.decimal, column.decimal))
    if column.type in (T.YEAR, T.BIT):
        return ExpressionType(kind, Digits(max(column.length, 1), 0))
    if column.type == T.DATE:
        return ExpressionType(kind, _OF_DATE)
    if column.type in (T.ENUM, T.SET):
        return ExpressionType(kind, _OF_MEMBER)
    return temporal_type(kind, column.decimal) if kind in (E.DATETIME, E.TIME) else ExpressionType(kind)


def temporal_type(kind: EvalType, fsp: int = 0) -> ExpressionType:
    """Return the type of a date or time whose fraction has ``fsp`` digits; -1 for a DATE."""
    return ExpressionType(kind, Digits(_WHOLE_OF_DATETIME, max(fsp, 0)))


def fixed_type(kind: EvalType) -> ExpressionType:
    """Return the type of a function whose result is always of a kind."""
    return temporal_type(kind) if kind is E.DATE else ExpressionType(kind)


def kind_of_value(value: SQLValue) -> EvalType:
    """Return the kind of the type of a value, such as that of a literal."""
    if value is None:
        return E.NULL
    if isinstance(value, DateTimeValue):
        return E.DATE if value.fsp < 0 else E.DATETIME
    return next((eval_type for kind, eval_type in _OF_VALUE if isinstance(value, kind)), E.UNKNOWN)


_OF_VALUE: tuple[tuple[type, EvalType], ...] = (
    (Unsigned, E.UNSIGNED), (int, E.INTEGER), (Decimal, E.DECIMAL), (float, E.DOUBLE), (Bits, E.BIT),
    (bytes, E.BYTES), (JsonText, E.JSON), (str, E.TEXT), (Duration, E.TIME),
)  # fmt: skip


def number_kind(operand: EvalType) -> EvalType:
    """Return the kind of an operand of arithmetic."""
    if operand in TEMPORALS or operand is E.UNKNOWN:
        return E.UNKNOWN
    if operand in (E.SHORT_UNSIGNED, E.YEAR, E.BIT):
        return E.UNSIGNED
    return operand if operand in NUMBERS or operand is E.NULL else E.DOUBLE


def arithmetic_kind(operands: Iterable[EvalType]) -> EvalType:
    """Return the kind of arithmetic on some operands: an integer is unsigned if one operand is."""
    kinds = {number_kind(operand) for operand in operands}
    choices = (E.UNKNOWN, E.DOUBLE, E.DECIMAL, E.UNSIGNED)
    return next((kind for kind in choices if kind in kinds), E.INTEGER)


def merged_type(types: Iterable[ExpressionType]) -> ExpressionType:
    """Return the type of an expression that merges several types, such as IF or a column of UNION."""
    valued = [each for each in types if each.kind is not E.NULL]
    kind = _merged_kind({each.kind for each in valued})
    if kind is E.DOUBLE:
        return ExpressionType(kind, OF_FLOAT if all(map(_fits_float, valued)) else None)
    return ExpressionType(kind, merged_digits(valued))


def _fits_float(merged: ExpressionType) -> bool:
    """Return whether a type and FLOAT are merged to FLOAT. Source: tidb ``fieldTypeMergeRules``."""
    kind, digits = merged
    return digits == OF_FLOAT or (kind in WHOLE and (digits is None or digits.whole not in _OF_INT))


def computed_type(kind: EvalType, digits: Digits | None) -> ExpressionType:
    """Return the type of a computed number, which is no FLOAT."""
    return ExpressionType(kind, None if kind is E.DOUBLE else digits)


def merged_digits(types: Iterable[ExpressionType]) -> Digits | None:
    """Return the digits of a type that holds the values of several types; None if any are unknown."""
    digits = [each.digits for each in types]
    known = [each for each in digits if each is not None]
    if not known or len(known) < len(digits):
        return None
    return Digits(max(each.whole for each in known), max(each.decimals for each in known))


def _merged_kind(distinct: set[EvalType]) -> EvalType:
    if not distinct:
        return E.NULL
    if distinct <= NUMBERS | {E.BIT} and len(distinct) > 1:
        distinct = {E.SHORT_UNSIGNED if each in (E.BIT, E.YEAR) else each for each in distinct}
    if E.UNKNOWN in distinct or (E.BIT in distinct and len(distinct) > 1):
        return E.UNKNOWN
    if distinct <= NUMBERS and len(distinct) > 1:
        return _merged_number(distinct)
    if len(distinct) == 1:
        return distinct.pop()
    if distinct <= TEMPORALS:
        return E.DATETIME
    return E.BYTES if E.BYTES in distinct else E.TEXT


def _merged_number(types: set[EvalType]) -> EvalType:
    if E.DOUBLE in types:
        return E.DOUBLE
    if E.DECIMAL in types or {E.INTEGER, E.UNSIGNED} <= types:
        return E.DECIMAL
    return next(eval_type for eval_type in (E.INTEGER, E.UNSIGNED, E.SHORT_UNSIGNED) if eval_type in types)


def converted(value: SQLValue, target: EvalType, mode: SQLMode, decimals: int | None = None) -> SQLValue:
    """Convert a value to the merged type of the expressions that it could have come from.

    :param decimals: digits of its fraction; None: those of the value remain. ``OF_FLOAT`` has -1.
    """
    if value is None:
        return None
    if isinstance(value, Bits) and target in NUMBERS:
        value = Unsigned(value.number)  # a BIT among numbers is one, and no binary string
    if decimals is not None:
        value = _with_decimals(value, target, decimals, mode)
    if target is E.DOUBLE:
        is_as_merged = type(value) is float or (isinstance(value, Single) and decimals == OF_FLOAT.decimals)
        return value if is_as_merged else as_float(value)
    if isinstance(value, Bits) and target is E.UNKNOWN:
        return bytes(value)  # among texts it is one
    if target is E.DECIMAL:
        return Decimal(value) if isinstance(value, int) else value
    if target is E.INTEGER:
        return int(value) if isinstance(value, Unsigned) else value
    if target is E.TEXT:
        if decimals is not None and isinstance(value, Member):
            return value
        return value if type(value) is str else to_text(value)
    if target is E.BYTES:
        return value if isinstance(value, ColumnBytes) else to_bytes(value)
    if target is E.DATETIME:
        return _as_datetime(value, mode)
    return value


def _with_decimals(value: SQLValue, target: EvalType, decimals: int, mode: SQLMode) -> SQLValue:
    if target is E.DECIMAL and isinstance(value, int | Decimal):
        return rounded(Decimal(value), decimals)
    if target is E.DATETIME and isinstance(value, DateTimeValue | Duration):
        return as_datetime(value, decimals, mode)
    return as_duration(value, decimals) if target is E.TIME and isinstance(value, Duration) else value


def _as_datetime(value: SQLValue, mode: SQLMode) -> SQLValue:
    if isinstance(value, DateTimeValue):
        return replace(value, fsp=0) if value.fsp < 0 else value
    return as_datetime(value, value.fsp, mode) if isinstance(value, Duration) else value
