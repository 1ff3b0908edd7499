"""Canonical text of integer, DECIMAL, FLOAT, DOUBLE, BIT and YEAR columns as Spark expressions.

The rules are those of ``model.values.coerce_scalar``. Nothing here depends on ``spark.sql.ansi.enabled``.
"""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType, DecimalType

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import float_texts
from ticdc_producer.model.mysql_type import MySQLType, integer_range
from ticdc_producer.scenario.dataframe.refusal import reject_value


def float_text(number: Column) -> Column:
    """``float_texts`` as a Spark expression; ``number`` is a float or double."""
    return arrow_udf(float_texts, "binary")(number)  # type: ignore[call-overload,no-any-return]  # it reads the annotations


T = MySQLType

_OUT_OF_RANGE = "Out of range value"
_MAX_FLOAT, _MAX_DOUBLE = 3.4028234663852886e38, 1.7976931348623157e308
_SPARK_DIGITS = 38


def integer_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """TINYINT … BIGINT from integers, booleans (1 and 0) and decimals of scale 0."""
    low, high = integer_range(column.type, unsigned=column.unsigned)
    return _in_range(column, value, low, high, _OUT_OF_RANGE)


def bit_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """BIT(n) from its number."""
    return _in_range(column, value, 0, (1 << max(column.length, 1)) - 1, "Data too long")


def year_text(column: ColumnInfo, value: Column, _: DataType) -> Column:
    """YEAR: 1901 … 2155 and 0; 1 … 99 are years of 1970 … 2069."""
    year = value.cast("int")
    full = F.when(year.between(1, 69), year + 2000).when(year.between(70, 99), year + 1900).otherwise(year)
    fits = value.between(0, 99) | value.between(1901, 2155)
    return F.when(fits, full.cast("string")).otherwise(reject_value(column, value, _OUT_OF_RANGE))


def decimal_text(column: ColumnInfo, value: Column, kind: DataType) -> Column:
    """DECIMAL(m,d): exactly d fractional digits; halves are rounded away from zero."""
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
    """FLOAT and DOUBLE, rounded to the column's digits if it has (m,d); NaN and infinities are rejected."""
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
    """An integer literal; large numbers are decimals, because Spark has no unsigned long."""
    return F.lit(number) if -(1 << 63) <= number < 1 << 63 else F.lit(Decimal(number))


def _rounded(value: Column, kind: DecimalType, scale: int) -> tuple[Column, int]:
    """The value rounded to at most ``scale`` fractional digits, and its number of fractional digits."""
    if kind.scale <= scale:
        return value, kind.scale
    digits = kind.precision - kind.scale + scale + 1  # one more, for the carry
    return value.cast(DecimalType(digits, scale)), scale


def _fraction(exact: Column, digits: int, scale: int) -> Column:
    """The decimal point and ``scale`` fractional digits.

    Outside of ANSI mode Spark prints small decimals with an exponent; adding 1 avoids that.
    """
    if scale == 0:
        return F.lit("")
    if digits == 0:
        return F.lit("." + "0" * scale)
    one = F.lit(Decimal(1))
    rest = exact % one
    printed = F.when(exact < 0, rest - one).otherwise(rest + one).cast("string")
    return F.concat(F.lit("."), F.rpad(F.substring_index(printed, ".", -1), scale, "0"))
