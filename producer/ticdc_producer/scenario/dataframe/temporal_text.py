"""Canonical text of DATE, DATETIME, TIMESTAMP and TIME columns as Spark expressions.

The rules are those of ``model.values.coerce_scalar``: a fraction is rounded half up to the column's digits.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, TimestampType

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.temporal_text import MAX_DURATION, MAX_FSP
from ticdc_producer.scenario.dataframe.refusal import reject_value

T = MySQLType

_FIRST_TIMESTAMP, _AFTER_LAST_TIMESTAMP = "1970-01-01 00:00:01", "2038-01-19 03:14:08"
_TIME_PATTERN = r"^(-?)(\d{1,3}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,30}))?$"
_SECOND = 1_000_000


def date_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """DATE from date."""
    fits = F.year(value).between(0, 9999)
    return F.when(fits, value.cast("string")).otherwise(reject_value(column, value, "Incorrect date value"))


def datetime_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """DATETIME and TIMESTAMP from either timestamp type of Spark.

    An instant (``timestamp``) becomes a DATETIME in Spark's session time zone; a wall clock
    (``timestamp_ntz``) becomes a TIMESTAMP as UTC.
    """
    fsp = max(column.decimal, 0)
    clock = _wall_clock(column, value, kind)
    if fsp < MAX_FSP:
        clock = clock + F.lit(timedelta(microseconds=10 ** (MAX_FSP - fsp) // 2))
    fits = F.year(clock).between(0, 9999)
    if column.type == T.TIMESTAMP:
        fits = (clock >= _ntz(_FIRST_TIMESTAMP)) & (clock < _ntz(_AFTER_LAST_TIMESTAMP))
    what = f"Incorrect {column.type_name} value"
    return F.when(fits, _cut(clock.cast("string"), fsp)).otherwise(reject_value(column, value, what))


def duration_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """TIME from text ``[-]H:MM:SS[.f]``, -838:59:59 … 838:59:59."""
    fsp = max(column.decimal, 0)
    hours, minutes, seconds = (
        F.regexp_extract(value, _TIME_PATTERN, group).try_cast("long") for group in (2, 3, 4)
    )
    whole = (hours * 3600 + minutes * 60 + seconds) * _SECOND
    total = whole + _round_fraction(F.regexp_extract(value, _TIME_PATTERN, 5), fsp)
    sign = F.when((F.regexp_extract(value, _TIME_PATTERN, 1) == "-") & (total > 0), "-").otherwise("")
    text = F.when(
        value.rlike(_TIME_PATTERN) & (total <= MAX_DURATION), F.concat(sign, _clock_text(total, fsp))
    )
    return F.coalesce(text, reject_value(column, value, "Incorrect time value"))


def _wall_clock(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    if not isinstance(kind, TimestampType):
        return value
    if column.type == T.DATETIME:
        return value.cast("timestamp_ntz")
    seconds = (F.unix_micros(value) * F.lit(Decimal("0.000001"))).cast("decimal(18,6)")
    nothing = F.lit(0)
    return _ntz("1970-01-01 00:00:00") + F.make_dt_interval(nothing, nothing, nothing, seconds)


def _ntz(text: str) -> Column:
    return F.lit(text).cast("timestamp_ntz")


def _cut(text: Column, fsp: int) -> Column:
    """Cut a fraction to the column's digits; Spark omits trailing zeros, MySQL prints all digits."""
    if fsp == 0:
        return F.left(text, F.lit(19))
    dotted = F.when(F.length(text) == 19, F.concat(text, F.lit("."))).otherwise(text)
    return F.left(F.rpad(dotted, 20 + MAX_FSP, "0"), F.lit(20 + fsp))


def _round_fraction(digits: Column, fsp: int) -> Column:
    """Microseconds of a fraction, as ``model.values.temporal_text.round_fraction``."""
    unit = 10 ** (MAX_FSP + 1 - fsp)
    padded = F.rpad(F.left(digits, F.lit(MAX_FSP + 1)), MAX_FSP + 1, "0").cast("long") + unit // 2
    return _quotient(padded - padded % unit, 10)


def _clock_text(total: Column, fsp: int) -> Column:
    seconds = _quotient(total, _SECOND)
    clock = F.format_string(
        "%02d:%02d:%02d", _quotient(seconds, 3600), _quotient(seconds, 60) % 60, seconds % 60
    )
    if fsp == 0:
        return clock
    micro = F.lpad((total % _SECOND).cast("string"), MAX_FSP, "0")
    return F.concat(clock, F.lit("."), F.left(micro, F.lit(fsp)))


def _quotient(number: Column, unit: int) -> Column:
    """Integer division of a long; exact in double if the quotient is below 2**53."""
    return ((number - number % unit) / unit).cast("long")
