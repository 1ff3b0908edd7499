"""Values of one column as Spark expressions: pure functions of the event that last changed them."""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    TimestampNTZType,
)

from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, TEMPORALS, MySQLType
from ticdc_producer.scenario.dataframe.canonical import canonical
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS, REAL_STEPS, is_string
from ticdc_producer.scenario.generate.draw import (
    draw,
    happens,
    letters,
    normal,
    octets,
    quotient,
    uniform,
    uniform_of,
    zipf,
)
from ticdc_producer.scenario.generate.picks import row_count_at
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan, Reference

T = MySQLType
_MANY = 50
"""Maximum number of choices that are literals of the plan."""


def cell(plan: GeneratePlan, column: ColumnPlan, versions: DataFrame) -> Column:
    """The canonical value of a column, as binary.

    :param versions: the result of ``with_versions`` and ``with_expressions``.
    """
    version, number = F.col(f"version_{column.offset}"), F.col(f"number_{column.offset}")
    if column.choices:
        value = _one_of(column.choices, _ordinal(plan, column, version, len(column.choices)))
    elif column.expression:
        name = f"expression_{column.offset}"
        value = canonical(column.column, F.col(name), versions.schema[name].dataType)
    elif column.reference:
        value = _referring(plan, column, column.reference, version)
    else:
        value = _own(plan, column, version, number)
    value = _with_nulls_and_boundaries(plan, column, version, value)
    if column.since:
        before = F.lit(column.column.origin_default).cast("binary")
        value = F.when(version < column.since, before).otherwise(value)
    return value


def _own(plan: GeneratePlan, column: ColumnPlan, version: Column, number: Column) -> Column:
    """A value that is drawn or taken from a sequence."""
    if is_string(column.column):
        return _string(plan, column, version, number)
    typed, kind = _typed(plan, column, version, number)
    if column.adds:
        typed = (typed + F.col(f"added_{column.offset}").cast(kind)).cast(kind)
    elif column.column.type in INTEGERS and isinstance(kind, LongType):
        return typed.cast("string").cast("binary")  # known to fit; canonical() would draw it several times
    return canonical(column.column, typed, kind)


def _referring(plan: GeneratePlan, column: ColumnPlan, reference: Reference, version: Column) -> Column:
    """The key of an existing row of the referenced table."""
    parent = reference.parent
    parent_rows = (
        row_count_at(parent, plan, version) if reference.same_step else F.lit(parent.all_rows).cast("long")
    )
    salt = plan.salt(f"{column.offset}/value")
    if column.distribution == "latest":
        row = parent_rows - 1
    elif column.distribution == "zipf":
        row = zipf(draw(salt, version), parent_rows, column.exponent)
    elif column.distribution == "normal":
        row = normal(salt, version, parent_rows)
    else:
        row = uniform_of(draw(salt, version), parent_rows)
    return _own(parent, reference.column, version, row)


def _with_nulls_and_boundaries(
    plan: GeneratePlan, column: ColumnPlan, version: Column, value: Column
) -> Column:
    """The value, replaced by NULL or a boundary value at their ratios."""
    drawn = draw(plan.salt(f"{column.offset}/varied"), version)
    if column.boundary_values:
        ordinal = uniform(draw(plan.salt(f"{column.offset}/edge"), version), len(column.boundary_values))
        boundary = _one_of(column.boundary_values, ordinal)
        value = F.when(happens(column.nulls + column.boundary_share, drawn), boundary).otherwise(value)
    if column.nulls:
        value = F.when(happens(column.nulls, drawn), F.lit(None).cast("binary")).otherwise(value)
    return value


def _one_of(values: tuple[bytes | None, ...], ordinal: Column) -> Column:
    if len(values) > _MANY and None not in values:
        # One text that Spark splits: thousands of literals take seconds to plan.
        listed = ",".join(value.hex() for value in values if value is not None)
        return F.unhex(F.get(F.split(F.lit(listed), ","), ordinal.cast("int")))
    literals = F.array(*(F.lit(value).cast("binary") for value in values))
    return F.get(literals, ordinal.cast("int"))


def _ordinal(plan: GeneratePlan, column: ColumnPlan, version: Column, count: int) -> Column:
    """An ordinal from 0 to ``count`` - 1, under the column's distribution."""
    salt = plan.salt(f"{column.offset}/value")
    if column.distribution == "zipf":
        return zipf(draw(salt, version), count, column.exponent)
    if column.distribution == "normal":
        return normal(salt, version, count)
    return uniform(draw(salt, version), count)


def _typed(
    plan: GeneratePlan, column: ColumnPlan, version: Column, number: Column
) -> tuple[Column, DataType]:
    """The value as a typed Spark column, and its type."""
    if column.column.type == T.JSON:
        return _document(plan, column, version), StringType()
    ordinal = number if column.sequence else _ordinal(plan, column, version, column.high - column.low + 1)
    if column.column.type in FLOATS:
        low, high = column.real
        return F.lit(low) + ordinal.cast("double") / float(REAL_STEPS) * (high - low), DoubleType()
    if column.high >= 1 << 63:
        wide = ordinal.cast("decimal(20,0)") + F.lit(Decimal(column.low))
        return wide.cast("decimal(20,0)"), DecimalType(20, 0)
    return _of_ordinal(column, ordinal + F.lit(column.low))


def _of_ordinal(column: ColumnPlan, ordinal: Column) -> tuple[Column, DataType]:
    code, fsp = column.column.type, max(column.column.decimal, 0)
    if code == T.NEW_DECIMAL:
        scale = min(fsp, DECIMAL_DIGITS)
        point = F.lit(Decimal(1).scaleb(-scale))
        whole = ordinal.cast("decimal(19,0)")
        value = (whole * point if scale else whole).cast(DecimalType(38, scale))
        return value, DecimalType(38, scale)
    if code in (T.DATE, T.NEW_DATE):
        return F.date_add(F.lit("1970-01-01").cast("date"), ordinal.cast("int")), DateType()
    if code == T.DURATION:
        return _duration_text(ordinal, fsp), StringType()
    if code in TEMPORALS:
        micros = (ordinal * F.lit(10 ** (6 - fsp))).cast("decimal(19,0)")
        seconds = (micros * F.lit(Decimal("0.000001"))).cast("decimal(18,6)")
        none = F.lit(0)
        start = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        return start + F.make_dt_interval(none, none, none, seconds), TimestampNTZType()
    return ordinal, LongType()


def _duration_text(ordinal: Column, fsp: int) -> Column:
    size = F.abs(ordinal)
    seconds = quotient(size, 10**fsp)
    clock = [quotient(seconds, 3600), quotient(seconds, 60) % 60, seconds % 60]
    parts = [F.lpad(part.cast("string"), 2, "0") for part in clock[1:]]
    hours = F.when(clock[0] < 100, F.lpad(clock[0].cast("string"), 2, "0")).otherwise(clock[0].cast("string"))
    text = F.concat_ws(":", hours, *parts)
    if fsp:
        text = F.concat(text, F.lit("."), F.lpad((size % 10**fsp).cast("string"), fsp, "0"))
    return F.concat(F.when(ordinal < 0, "-").otherwise(""), text)


def _string(plan: GeneratePlan, column: ColumnPlan, version: Column, number: Column) -> Column:
    """The canonical value of a text, or of bytes.

    It is known to fit, so the rules of ``canonical``, which name their value several times and would have
    Spark draw it as often, are left out.
    """
    if column.sequence:
        return _filled(column, number.cast("string").cast("binary"))
    least, most = column.length
    text = octets if column.column.charset == "binary" else letters
    drawn = text(plan.salt(f"{column.offset}/text"), version, most)
    if least == most:
        return _filled(column, drawn)
    length = F.lit(least) + _ordinal(plan, column, version, most - least + 1)
    return _filled(column, F.substring(drawn, F.lit(1), length.cast("int")))


def _filled(column: ColumnPlan, value: Column) -> Column:
    """BINARY(n) has n bytes."""
    fixed = column.column.type == T.STRING and column.column.charset == "binary"
    return F.rpad(value, F.lit(column.column.length), F.lit(b"\0")) if fixed else value


def _document(plan: GeneratePlan, column: ColumnPlan, version: Column) -> Column:
    number = _ordinal(plan, column, version, column.high - column.low + 1)
    word = letters(plan.salt(f"{column.offset}/text"), version, 8).cast("string")
    return F.concat(F.lit('{"n": '), number.cast("string"), F.lit(', "word": "'), word, F.lit('"}'))
