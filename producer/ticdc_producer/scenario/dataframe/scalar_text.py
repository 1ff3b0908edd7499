"""Canonical text of number, BIT, YEAR, date and time columns as Spark expressions.

The rules are those of ``model.values.coerce_scalar``: a fraction is rounded half up to the column's digits.
The expressions do not depend on ``spark.sql.ansi.enabled``.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, DecimalType, TimestampType

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import float_texts
from ticdc_producer.model.mysql_type import MySQLType, integer_range
from ticdc_producer.model.values.temporal_text import MAX_DURATION, MAX_FSP
from ticdc_producer.spark.spark_errors import reject_value


def float_text(number: Column) -> Column:
    """Apply ``float_texts`` as a Spark expression; ``number`` is a float or double."""
    return arrow_udf(float_texts, "binary")(number)  # type: ignore[call-overload,no-any-return]  # it reads the annotations


T = MySQLType

_OUT_OF_RANGE = "Out of range value"
_MAX_FLOAT, _MAX_DOUBLE = 3.4028234663852886e38, 1.7976931348623157e308
_SPARK_DIGITS = 38


def integer_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Convert integers, booleans (1 and 0) and decimals of scale 0 to TINYINT … BIGINT."""
    low, high = integer_range(column.type, unsigned=column.unsigned)
    return _in_range(column, value, low, high, _OUT_OF_RANGE)


def bit_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Convert a number to BIT(n)."""
    return _in_range(column, value, 0, (1 << max(column.length, 1)) - 1, "Data too long")


def year_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Convert to YEAR: 1901 … 2155 and 0; 1 … 99 are years of 1970 … 2069."""
    year = value.cast("int")
    full = F.when(year.between(1, 69), year + 2000).when(year.between(70, 99), year + 1900).otherwise(year)
    fits = value.between(0, 99) | value.between(1901, 2155)
    return F.when(fits, full.cast("string")).otherwise(reject_value(column, value, _OUT_OF_RANGE))


def decimal_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """Convert to DECIMAL(m,d): exactly d fractional digits; halves are rounded away from zero."""
    if not isinstance(kind, DecimalType):
        kind, value = DecimalType(20, 0), value.cast("decimal(20,0)")
    scale = max(column.decimal, 0)
    exact, digits = _rounded(value, kind, scale)
    # Spark's abs and unary minus round to 34 digits: the sign is removed from the text instead.
    whole = F.when(exact < 0, F.ceil(exact)).otherwise(F.floor(exact))
    sign = F.when(exact < 0, "-").otherwise("")
    text = F.concat(sign, F.ltrim(whole.cast("string"), F.lit("-")), _fraction(exact, digits, scale))
    fits = (exact >= 0) if column.unsigned else F.lit(True)
    if column.length - scale < _SPARK_DIGITS:
        limit = Decimal(10 ** (column.length - scale))
        fits = fits & (whole < F.lit(limit)) & (whole > F.lit(limit.copy_negate()))
    return F.when(fits, text).otherwise(reject_value(column, value, _OUT_OF_RANGE))


def float_column_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Convert to FLOAT and DOUBLE, rounded to the digits of (m,d); NaN and infinities are rejected."""
    real = value.cast("double")
    largest = _MAX_FLOAT if column.type == T.FLOAT else _MAX_DOUBLE
    if column.decimal >= 0:
        largest = float(Decimal(10**column.length - 1).scaleb(-column.decimal))
        # Source: tidb types.Round: scale up, round half to even, scale down.
        real = F.rint(real * 10.0**column.decimal) / F.lit(10.0**column.decimal)
    fits = ~F.isnan(real) & (F.abs(real) <= largest)
    if column.unsigned:
        fits = fits & (real >= 0)
    stored = real.cast("float") if column.type == T.FLOAT else real
    # NULL must not reach `otherwise`: an Arrow function's arguments are evaluated on every row.
    return float_text(
        F.when(value.isNull(), None).when(fits, stored).otherwise(reject_value(column, value, _OUT_OF_RANGE))
    )


def _in_range(column: ColumnInfo, value: Column, low: int, high: int, what: str) -> Column:
    fits = value.between(_number(low), _number(high))
    return F.when(fits, value.cast("string")).otherwise(reject_value(column, value, what))


def _number(number: int) -> Column:
    """Build an integer literal; large numbers are decimals, because Spark has no unsigned long."""
    return F.lit(number) if -(1 << 63) <= number < 1 << 63 else F.lit(Decimal(number))


def _rounded(value: Column, kind: DecimalType, scale: int) -> tuple[Column, int]:
    """Round a value to at most ``scale`` fractional digits; also return its number of fractional digits."""
    if kind.scale <= scale:
        return value, kind.scale
    digits = kind.precision - kind.scale + scale + 1  # one more, for the carry
    return value.cast(DecimalType(digits, scale)), scale


def _fraction(exact: Column, digits: int, scale: int) -> Column:
    """Print the decimal point and ``scale`` fractional digits.

    Outside of ANSI mode Spark prints small decimals with an exponent; adding 1 avoids that.
    """
    if scale == 0:
        return F.lit("")
    if digits == 0:
        return F.lit("." + "0" * scale)
    unit = F.lit(Decimal(1))
    rest = exact % unit
    printed = F.when(exact < 0, rest - unit).otherwise(rest + unit).cast("string")
    return F.concat(F.lit("."), F.rpad(F.substring_index(printed, ".", -1), scale, "0"))


_FIRST_TIMESTAMP, _AFTER_LAST_TIMESTAMP = "1970-01-01 00:00:01", "2038-01-19 03:14:08"
TIME_PATTERN = r"^(-?)(\d{1,3}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,30}))?$"
_SECOND = 1_000_000


def date_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """Convert a date to DATE."""
    fits = F.year(value).between(0, 9999)
    return F.when(fits, value.cast("string")).otherwise(reject_value(column, value, "Incorrect date value"))


def datetime_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """Convert either timestamp type of Spark to DATETIME and TIMESTAMP.

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
    """Convert text ``[-]H:MM:SS[.f]`` to TIME, -838:59:59 … 838:59:59."""
    fsp = max(column.decimal, 0)
    hours, minutes, seconds = (
        F.regexp_extract(value, TIME_PATTERN, group).try_cast("long") for group in (2, 3, 4)
    )
    whole = (hours * 3600 + minutes * 60 + seconds) * _SECOND
    total = whole + _round_fraction(F.regexp_extract(value, TIME_PATTERN, 5), fsp)
    sign = F.when((F.regexp_extract(value, TIME_PATTERN, 1) == "-") & (total > 0), "-").otherwise("")
    text = F.when(
        value.rlike(TIME_PATTERN) & (total <= MAX_DURATION), F.concat(sign, _clock_text(total, fsp))
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
    """Return the microseconds of a fraction, as ``model.values.temporal_text.round_fraction`` does."""
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
    """Divide a long by an integer; exact in double if the quotient is below 2**53."""
    return ((number - number % unit) / unit).cast("long")
