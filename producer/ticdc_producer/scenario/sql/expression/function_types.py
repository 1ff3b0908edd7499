"""The types of functions: fixed ones, and those that follow from the first argument.

Source: tidb ``pkg/expression/builtin_time.go``, ``builtin_string.go``, ``builtin_math.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from ticdc_producer.scenario.sql.expression.call_normalizer import FunctionCall
from ticdc_producer.scenario.sql.expression.eval_type import NUMBERS, EvalType
from ticdc_producer.scenario.sql.expression.number_digits import Digits
from ticdc_producer.scenario.sql.functions.datetime_parse import parts_of_format

E = EvalType
_DIGITS_OF_BIGINT = 18
_UNITS_OF_DATE = frozenset({"DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH"})


def _rounded(_: FunctionCall, first: EvalType, digits: Digits | None) -> EvalType:
    """Return the type of CEIL and FLOOR: a BIGINT if all values of a DECIMAL fit it.

    Source: tidb ``getEvalTp4FloorAndCeil``.
    """
    if first is not E.DECIMAL:
        return first if first in NUMBERS else E.UNKNOWN
    if digits is None:
        return E.UNKNOWN
    return E.INTEGER if digits.whole <= _DIGITS_OF_BIGINT else E.DECIMAL


def _shifted(call: FunctionCall, first: EvalType, _: Digits | None) -> EvalType:
    """Return the type of DATE_ADD and DATE_SUB: a string, unless the argument is a date or a time."""
    if first is E.DATE:
        return E.DATE if call.arguments[2].name in _UNITS_OF_DATE else E.DATETIME
    return first if first in (E.DATETIME, E.TIME, E.UNKNOWN) else E.TEXT


def _time_sum(_: FunctionCall, first: EvalType, __: Digits | None) -> EvalType:
    """Return the type of ADDTIME and SUBTIME: a string, also for a DATE (``getBf4TimeAddSub``)."""
    return first if first in (E.DATETIME, E.TIME, E.UNKNOWN) else E.TEXT


def _parsed_date(call: FunctionCall, _: EvalType, __: Digits | None) -> EvalType:
    """Return the type of STR_TO_DATE: that of a literal format, DATETIME if the format is computed."""
    layout = call.arguments[1]
    if not isinstance(layout, exp.Literal):
        return E.DATETIME
    has_date, has_time = parts_of_format(str(layout.this))
    return E.DATETIME if has_date == has_time else E.DATE if has_date else E.TIME


def _unix_timestamp(call: FunctionCall, first: EvalType, digits: Digits | None) -> EvalType:
    """Return the type of UNIX_TIMESTAMP: DECIMAL if the argument's type has a fraction of a second.

    A computed string has one.
    """
    literal = call.arguments[0]
    if isinstance(literal, exp.Literal) and literal.is_string:
        return E.DECIMAL if "." in str(literal.this) else E.INTEGER
    if first in (E.TEXT, E.BYTES):
        return E.DECIMAL
    return E.UNKNOWN if digits is None else E.DECIMAL if digits.decimals else E.INTEGER


def _char(call: FunctionCall, _: EvalType, __: Digits | None) -> EvalType:
    """Return the type of CHAR; the first argument of the normalized call is the charset."""
    return E.BYTES if call.arguments[0].name == "binary" else E.TEXT


OF_ARGUMENTS: Mapping[str, Callable[[FunctionCall, EvalType, Digits | None], EvalType]] = {
    "CEIL": _rounded, "FLOOR": _rounded, "DATE_ADD": _shifted, "DATE_SUB": _shifted, "ADDTIME": _time_sum,
    "SUBTIME": _time_sum, "STR_TO_DATE": _parsed_date, "UNIX_TIMESTAMP": _unix_timestamp, "CHAR": _char,
}  # fmt: skip
"""The type of a function by its call, and the type and the digits of its first argument."""


def _functions(**names: str) -> Mapping[str, EvalType]:
    return MappingProxyType(
        {name: EvalType[kind] for kind, listed in names.items() for name in listed.split()}
    )


OF_FUNCTION: Mapping[str, EvalType] = {
    "MEMBER OF": E.INTEGER,
    **_functions(
        INTEGER="ASCII BIT_COUNT BIT_LENGTH CHARACTER_LENGTH CHAR_LENGTH DATEDIFF DAY DAYOFMONTH DAYOFWEEK"
        " DAYOFYEAR EXTRACT FIELD FIND_IN_SET HOUR INSTR INTERVAL ISNULL IS_IPV4 IS_IPV6 IS_UUID"
        " JSON_CONTAINS JSON_CONTAINS_PATH JSON_DEPTH JSON_LENGTH JSON_OVERLAPS JSON_VALID LENGTH LOCATE"
        " MICROSECOND MINUTE MONTH OCTET_LENGTH ORD PERIOD_ADD PERIOD_DIFF QUARTER REGEXP_INSTR REGEXP_LIKE"
        " ROW_COUNT SECOND SIGN STRCMP TIMESTAMPDIFF TIME_TO_SEC TO_DAYS TO_SECONDS WEEK WEEKDAY WEEKOFYEAR"
        " YEAR YEARWEEK",
        UNSIGNED="CRC32 INET_ATON LAST_INSERT_ID",
        DOUBLE="ACOS ASIN ATAN ATAN2 COS COT DEGREES EXP LN LOG LOG10 LOG2 PI POW POWER RADIANS SIN SQRT TAN",
        TEXT="BIN BIN_TO_UUID CONV DATE_FORMAT DAYNAME FORMAT HEX INET6_NTOA INET_NTOA JSON_QUOTE JSON_TYPE"
        " JSON_UNQUOTE MD5 MONTHNAME OCT QUOTE REGEXP_REPLACE REGEXP_SUBSTR SHA SHA1 SHA2"
        " SPACE TIME_FORMAT TIMESTAMPADD TO_BASE64",
        BYTES="INET6_ATON UNHEX UUID_TO_BIN FROM_BASE64 WEIGHT_STRING",
        DATE="CURDATE CURRENT_DATE DATE FROM_DAYS LAST_DAY MAKEDATE UTC_DATE",
        TIME="CURRENT_TIME CURTIME MAKETIME SEC_TO_TIME TIME TIMEDIFF UTC_TIME",
        DATETIME="CONVERT_TZ CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP NOW SYSDATE TIMESTAMP UTC_TIMESTAMP",
        JSON="JSON_ARRAY JSON_ARRAY_APPEND JSON_ARRAY_INSERT JSON_EXTRACT JSON_INSERT JSON_KEYS JSON_MERGE"
        " JSON_MERGE_PATCH JSON_MERGE_PRESERVE JSON_OBJECT JSON_REMOVE JSON_REPLACE JSON_SEARCH JSON_SET",
    ),
}
TEXT_FUNCTIONS = frozenset({
    "CONCAT", "CONCAT_WS", "ELT", "EXPORT_SET", "INSERT", "LCASE", "LEFT", "LOWER", "LPAD", "LTRIM",
    "MAKE_SET", "MID", "REPEAT", "REPLACE", "REVERSE", "RIGHT", "RPAD", "RTRIM", "SUBSTRING",
    "SUBSTRING_INDEX", "TRANSLATE", "TRIM", "UCASE", "UPPER",
})  # fmt: skip
OF_FIRST = frozenset({"ABS", "NULLIF", "ROUND", "TRUNCATE"})
