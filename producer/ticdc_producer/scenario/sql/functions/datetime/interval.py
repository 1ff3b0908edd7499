"""Functions that add intervals to dates and times, and that compute intervals.

Rules: tidb ``pkg/types/time.go`` (``ParseDurationValue``), ``pkg/expression/builtin_time.go``
(``intervalReformatString``, ``baseDateArithmetical``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_scalar import as_datetime
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import as_number, bigint, numeric_prefix
from ticdc_producer.model.values.sql_value import Bits, DateTimeValue, Duration, SQLMode, SQLValue
from ticdc_producer.model.values.temporal_text import (
    MAX_DURATION,
    MAX_FSP,
    datetime_from_python,
    days_in_month,
)
from ticdc_producer.scenario.sql.expression.eval_type import E, ExpressionType
from ticdc_producer.scenario.sql.functions.datetime.argument import (
    DAY,
    calendar_datetime_argument,
    datetime_argument,
    has_time_of_day,
)
from ticdc_producer.scenario.sql.functions.datetime.calendar import (
    CALENDAR_CYCLE,
    is_complete,
    microseconds_since_zero,
)
from ticdc_producer.scenario.sql.functions.function import Arguments, Function, reject_value, to_integer, word

_SECOND = 1_000_000
_SINGLE = {
    "MICROSECOND": 1, "SECOND": _SECOND, "MINUTE": 60 * _SECOND, "HOUR": 3600 * _SECOND, "DAY": DAY,
    "WEEK": 7 * DAY,
}  # fmt: skip
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Interval:
    """A length of time. The months are added first.

    :param fsp: digits of the fraction of a second.
    :param has_clock: whether the unit has hours or smaller parts, so that a DATE becomes a DATETIME.
    """

    months: int
    microseconds: int
    fsp: int
    has_clock: bool

    def negated(self) -> Interval:
        return replace(self, months=-self.months, microseconds=-self.microseconds)


def _interval(value: SQLValue, unit: str, mode: SQLMode) -> Interval | None:
    """Return the interval ``value unit``; None if the value has more numbers than the unit has parts.

    A date, time or BIT counts as an integer. Source: tidb ``addSubDateFunctionClass``.
    """
    if isinstance(value, DateTimeValue | Duration | Bits):
        value = to_integer(value)
    if "_" in unit:
        return _composite(value, unit, mode)
    has_clock = unit in ("MICROSECOND", "SECOND", "MINUTE", "HOUR")
    if unit == "SECOND":
        digits, complete = numeric_prefix(to_text(value).strip())
        if not complete:
            reject_value("interval", value, mode)
        seconds = Decimal(digits)
        fsp = min(len(f"{seconds:f}".partition(".")[2]), MAX_FSP)
        return Interval(0, int(seconds * _SECOND), fsp, has_clock)
    number = _unit_count(value, mode)
    if unit in _MONTHS:
        return Interval(number * _MONTHS[unit], 0, 0, has_clock)
    return Interval(0, number * _SINGLE[unit], MAX_FSP if unit == "MICROSECOND" else 0, has_clock)


def _unit_count(value: SQLValue, mode: SQLMode) -> int:
    if not isinstance(value, str | bytes):
        return bigint(value)
    text = to_text(value).strip()
    match = _WHOLE.match(text)
    if match is None or match[0] != text:
        reject_value("interval", value, mode)
    return bigint(match[0]) if match else 0


def _composite(value: SQLValue, unit: str, mode: SQLMode) -> Interval | None:
    """Return an interval of several parts, such as ``'1 2:03'`` DAY_MINUTE.

    Its numbers have any punctuation between them. If some are missing, those on the left are 0.
    """
    first, last = (_FIELDS.index(word) for word in unit.split("_"))
    text = to_text(value).strip()
    numbers = re.findall(r"\d+", text, re.ASCII)
    if len(numbers) > last - first + 1:
        reject_value("interval", value, mode)
        return None
    parts = dict.fromkeys(_FIELDS, 0)
    for index, digits in zip(range(last, -1, -1), reversed(numbers), strict=False):
        is_fraction = _FIELDS[index] == "MICROSECOND"
        parts[_FIELDS[index]] = min(int((digits.ljust(6, "0") if is_fraction else digits)[:18]), 10**15)
    length = sum(parts[name] * _SINGLE[name] for name in _FIELDS[2:])
    months = parts["YEAR"] * 12 + parts["MONTH"]
    fsp = MAX_FSP if last == len(_FIELDS) - 1 else 0
    interval = Interval(months, length, fsp, last > _FIELDS.index("DAY"))
    return interval.negated() if text.startswith("-") else interval


def _numeric_interval(value: SQLValue, unit: str) -> Interval:
    """Return the interval of TIMESTAMPADD: a rounded number of units, but microseconds of a second.

    Source: tidb ``addUnitToTime``.
    """
    if unit not in _SINGLE and unit not in _MONTHS:
        raise ScenarioError(f"SQL does not parse: {unit} is not a unit for TIMESTAMPADD", value=unit)
    number = as_number(value)[0]
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    exact = min(max(exact, -_MOST_UNITS), _MOST_UNITS)
    if unit == "SECOND":
        return Interval(0, int(exact * _SECOND), MAX_FSP, True)
    count = int(exact.quantize(Decimal(1), ROUND_HALF_UP))
    if unit in _MONTHS:
        return Interval(count * _MONTHS[unit], 0, 0, False)
    return Interval(0, count * _SINGLE[unit], MAX_FSP, unit not in ("DAY", "WEEK"))


_MOST_UNITS = Decimal(10**18)


def _add(moment: DateTimeValue, by: Interval, *, clips: bool = True) -> DateTimeValue | None:
    """Add an interval to a datetime; None outside of the years 0 to 9999.

    A sum in the year 0 has a zero date and the time of day. Source: tidb ``baseDateArithmetical.addDate``.

    :param clips: whether a day after the end of a month becomes the last one; else it is in the next month.
    """
    months = moment.year * 12 + moment.month - 1 + by.months
    year, month = months // 12, months % 12 + 1
    if not 0 <= year <= 9999:
        return None
    day = min(moment.day, days_in_month(year, month))
    start = replace(moment, year=year, month=month, day=day)
    days = 0 if clips else moment.day - day
    for years in (0, CALENDAR_CYCLE):  # Python has no year 0
        try:
            length = timedelta(days=days, microseconds=by.microseconds)
            moved = replace(start, year=year + years).naive() + length
        except (ValueError, OverflowError):
            continue
        result = replace(datetime_from_python(moved, MAX_FSP), year=moved.year - years)
        if result.year <= 0:
            return replace(result, year=0, month=0, day=0) if result.year == 0 else None
        return result
    return None


def _add_signed(arguments: Sequence[SQLValue], mode: SQLMode, sign: int) -> SQLValue:
    """Return ``DATE_ADD(value, n, unit)``: a value of the same type, but a DATETIME for a DATE plus hours."""
    value, unit = arguments[0], _unit(arguments[2])
    by = _interval(arguments[1], unit, mode)
    if by is None:
        return None
    by = by if sign > 0 else by.negated()
    if isinstance(value, Duration):
        if unit not in _MOVING_DATES:
            return _moved_time(value, by, unit, mode)
        value = as_datetime(value, value.fsp, mode)  # of the current date
    start = None if value is None else calendar_datetime_argument(value, mode)
    result = None if start is None else _add(start, by)
    if start is None or result is None:
        reject_value("datetime", value, mode)
        return None
    if not by.has_clock and not has_time_of_day(value):
        result = DateTimeValue(result.year, result.month, result.day, fsp=-1)
    elif isinstance(value, DateTimeValue):
        result = replace(result, fsp=max(start.fsp, by.fsp))
    else:
        result = replace(result, fsp=MAX_FSP if result.microsecond else 0)
    return result if isinstance(value, DateTimeValue) else result.text()


def _moved_time(value: Duration, by: Interval, unit: str, mode: SQLMode) -> SQLValue:
    """Return the sum of a TIME and an interval without a date; it may be longer than a TIME.

    Source: tidb ``ExtractDurationValue``.

    :raises ScenarioError: in strict mode, for an interval that is longer than a TIME.
    """
    longest = MAX_DURATION // 1000 if unit == "MICROSECOND" else MAX_DURATION
    if abs(by.microseconds) > longest:
        if mode.strict:
            raise ScenarioError("Datetime function: time field overflow", value=value.text())
        return None
    return Duration(value.microseconds + by.microseconds, max(value.fsp, by.fsp))


def _shifted_type(arguments: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of DATE_ADD and DATE_SUB: a string, unless the first argument is a date or a time."""
    kind = types[0].kind
    unit = arguments[2].name
    if kind is E.DATE:
        return ExpressionType(kind if unit in _UNITS_OF_DATE else E.DATETIME)
    if kind is E.TIME and unit in _MOVING_DATES:
        return ExpressionType(E.DATETIME)
    return ExpressionType(kind if kind in (E.DATETIME, E.TIME, E.UNKNOWN) else E.TEXT)


def _interval_arguments(arguments: Arguments) -> Arguments:
    """Return the arguments of ``DATE_ADD(d, INTERVAL n unit)``: d, n and the unit; a bare n counts days."""
    if len(arguments) != 2:
        return arguments[:2]  # a wrong number of them, also if there are three
    moment, amount = arguments
    if not isinstance(amount, exp.Interval):
        return moment, amount, exp.Literal.string("DAY")
    unit = amount.args.get("unit")
    if unit is None or amount.this is None:
        raise ScenarioError("SQL does not parse: INTERVAL needs a number and a unit")
    return moment, amount.this, exp.Literal.string(unit.name.upper())


def _with_interval(arguments: Arguments) -> Arguments:
    """Return the arguments of DATE_ADD and DATE_SUB, which have no bare number of days."""
    if len(arguments) == 2 and not isinstance(arguments[1], exp.Interval):
        hint = "write INTERVAL n DAY"
        raise ScenarioError("SQL does not parse: DATE_ADD and DATE_SUB need an INTERVAL", hint=hint)
    return _interval_arguments(arguments)


def _sum_operands(node: exp.Expr) -> Arguments | None:
    """Return the arguments of ``d + INTERVAL n unit``; None for a sum of numbers."""
    left, right = node.this, node.expression
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        moment = right.this if isinstance(right, exp.Interval) and not right.args.get("unit") else right
        return _interval_arguments((moment, left))
    if not isinstance(right, exp.Interval):
        return None
    if isinstance(right.this, exp.Paren):  # which TiDB reads as a call of the function INTERVAL
        raise ScenarioError("SQL does not parse: INTERVAL (…) after a sign", hint="write DATE_ADD")
    return _interval_arguments((left, right))


def unit_arguments(arguments: Arguments) -> Arguments:
    """Return the arguments of TIMESTAMPADD and the like; sqlglot reads the unit as a column."""
    if not arguments or not isinstance(arguments[0], exp.Column):
        return arguments
    return word(arguments[0]), *arguments[1:]


def _unit(value: SQLValue) -> str:
    unit = to_text(value)
    if unit not in _SINGLE and unit not in _MONTHS and unit not in _COMPOSITES:
        raise ScenarioError(f"SQL does not parse: {unit} is not a unit of time", value=unit)
    return unit


def _timestampadd(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``TIMESTAMPADD(unit, n, datetime)``; the result is a string."""
    unit, start = _unit(arguments[0]), datetime_argument(arguments[2], mode)
    by = _numeric_interval(arguments[1], unit)
    if start is None or not is_complete(start):
        return None
    result = _add(start, by, clips=unit == "MONTH")
    if result is None or not result.year:
        reject_value("datetime", arguments[2], mode)
        return None
    is_date = isinstance(arguments[2], DateTimeValue) and arguments[2].fsp < 0
    if is_date and not by.has_clock:
        return result.date_text()
    return replace(result, fsp=MAX_FSP if result.microsecond else 0).text()


def _timestampdiff(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``TIMESTAMPDIFF(unit, from, to)``: the number of units, truncated towards zero."""
    unit = _unit(arguments[0])
    start, end = (calendar_datetime_argument(argument, mode) for argument in arguments[1:])
    if start is None or end is None:
        return None
    sign = -1 if end.fields < start.fields else 1
    first, last = (end, start) if sign < 0 else (start, end)
    if unit in _MONTHS:
        months = (last.year - first.year) * 12 + last.month - first.month
        months -= last.fields[2:] < first.fields[2:]
        return sign * (months // _MONTHS[unit])
    if unit not in _SINGLE:
        raise ScenarioError(f"SQL does not parse: {unit} is not a unit for TIMESTAMPDIFF", value=unit)
    return sign * ((microseconds_since_zero(last) - microseconds_since_zero(first)) // _SINGLE[unit])


_COMPOSITES = frozenset({
    "SECOND_MICROSECOND", "MINUTE_MICROSECOND", "HOUR_MICROSECOND", "DAY_MICROSECOND", "MINUTE_SECOND",
    "HOUR_SECOND", "DAY_SECOND", "HOUR_MINUTE", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH",
})  # fmt: skip

_UNITS_OF_DATE = frozenset({"DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH"})

_MOVING_DATES = _UNITS_OF_DATE | {"DAY_SECOND", "DAY_MINUTE", "DAY_HOUR"}
"""Units of which a TIME becomes a DATETIME. Source: tidb ``addSubDateFunctionClass``."""

_SHIFT = partial(
    Function,
    min_arguments=3,
    max_arguments=3,
    type=_shifted_type,
    arguments=_interval_arguments,
    reads=(calendar_datetime_argument,),
)
_ADD, _SUBTRACT = (partial(_add_signed, sign=sign) for sign in (1, -1))

FUNCTIONS = {
    "ADDDATE": _SHIFT(_ADD),
    "DATE_ADD": _SHIFT(_ADD, arguments=_with_interval, syntax={exp.Add: _sum_operands}),
    "DATE_SUB": _SHIFT(_SUBTRACT, arguments=_with_interval, syntax={exp.Sub: _sum_operands}),
    "SUBDATE": _SHIFT(_SUBTRACT),
    "TIMESTAMPADD": Function(_timestampadd, 3, 3, numbers=(1,), type=E.TEXT, arguments=unit_arguments),
    "TIMESTAMPDIFF": Function(
        _timestampdiff,
        3,
        3,
        type=E.INTEGER,
        arguments=unit_arguments,
        reads=(lambda unit, _: _unit(unit), calendar_datetime_argument),
    ),
}
