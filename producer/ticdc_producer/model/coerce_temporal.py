"""Values of DATE, DATETIME, TIMESTAMP and TIME columns.

Rules: tidb ``pkg/types/time.go``; zero dates: sql_mode NO_ZERO_DATE and NO_ZERO_IN_DATE.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from decimal import Decimal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.number_text import as_number
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import BinaryLiteral, Moment, Span, SQLValue
from ticdc_producer.model.temporal_text import (
    MAX_FSP,
    MAX_SPAN,
    moment_of,
    moment_of_number,
    parse_moment,
    parse_span,
    shifted,
    span_of,
    with_fraction,
)

T = MySQLType

_FIRST_TIMESTAMP = (1970, 1, 1, 0, 0, 1, 0)
_LAST_TIMESTAMP = (2038, 1, 19, 3, 14, 7, 999_999)


def coerce_moment(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """DATE, DATETIME(fsp), TIMESTAMP(fsp); TIMESTAMP is kept in UTC."""
    fsp = -1 if column.type in (T.DATE, T.NEW_DATE) else max(column.decimal, 0)
    zero = Moment(0, 0, 0, fsp=fsp)
    what = f"Incorrect {column.type_name} value"
    moment = to_moment(value, fsp, mode)
    if moment is None or not allowed(moment, mode):
        return mode.reject(column.name, value, what, zero.text().encode())
    if column.type == T.TIMESTAMP and not moment.is_zero:
        utc = shifted(moment, mode.zone, UTC)
        if utc is None or not _exists(moment, utc, mode):
            return mode.reject(column.name, value, what, zero.text().encode())
        moment = utc
    return moment.text().encode()


def coerce_span(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """TIME(fsp), -838:59:59 … 838:59:59."""
    fsp = max(column.decimal, 0)
    span = to_span(value, fsp)
    if span is None:
        return mode.reject(column.name, value, "Incorrect time value", Span(0, fsp).text().encode())
    if abs(span.microseconds) > MAX_SPAN:
        largest = Span(MAX_SPAN if span.microseconds > 0 else -MAX_SPAN, fsp)
        return mode.reject(column.name, value, "Incorrect time value", largest.text().encode())
    return span.text().encode()


def to_moment(value: SQLValue, fsp: int, mode: SQLMode) -> Moment | None:
    """Any value as a moment of this fsp in the session's zone; None if it is none."""
    if isinstance(value, Moment):
        return _refit(value, fsp)
    if isinstance(value, Span):
        today = moment_of(mode.now.astimezone(mode.zone), 0)
        clock = parse_moment(f"{today.date_text()} {value.text()}", MAX_FSP) if _of_one_day(value) else None
        return None if clock is None else _refit(clock, fsp)
    if isinstance(value, BinaryLiteral):
        value = value.number
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return parse_moment(value, fsp, mode.zone, invalid_dates=mode.invalid_dates)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value or 0)
    if not number.is_finite() or number.adjusted() > 20:
        return None
    whole, _, micro = f"{number:f}".partition(".")
    return moment_of_number(int(whole), micro, fsp, invalid_dates=mode.invalid_dates)


def to_span(value: SQLValue, fsp: int) -> Span | None:
    """Any value as a time of this fsp; None if it is none."""
    if isinstance(value, Span):
        return parse_span(value.text(), fsp)
    if isinstance(value, Moment):
        return span_of(value, fsp)
    if isinstance(value, bytes) and not isinstance(value, BinaryLiteral):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return parse_span(value, fsp)
    number, _ = as_number(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite() or exact.adjusted() > 20:
        return None
    return parse_span(f"{exact:f}", fsp)


def _refit(moment: Moment, fsp: int) -> Moment | None:
    if fsp < 0:
        return Moment(moment.year, moment.month, moment.day, fsp=-1)
    return with_fraction(replace(moment, microsecond=0, fsp=fsp), f"{moment.microsecond:06d}")


def _exists(local: Moment, utc: Moment, mode: SQLMode) -> bool:
    """In a TIMESTAMP's range, and not in the hour that daylight saving time skips."""
    back = shifted(utc, UTC, mode.zone)
    in_range = _FIRST_TIMESTAMP <= utc.fields <= _LAST_TIMESTAMP
    return in_range and back is not None and back.fields == local.fields


def _of_one_day(span: Span) -> bool:
    return 0 <= span.microseconds < 24 * 3600 * 1_000_000


def allowed(moment: Moment, mode: SQLMode) -> bool:
    """Whether sql_mode admits the zero date, or zero parts, where the moment has them."""
    if moment.is_zero:
        return mode.zero_dates
    if moment.month == 0 or moment.day == 0:
        return mode.zero_in_date
    return True
