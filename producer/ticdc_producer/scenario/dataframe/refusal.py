"""Values that a column does not take, as expressions that stop the job."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.model.column import ColumnInfo

_SHOWN = 120


def refused(column: ColumnInfo, value: Column, what: str) -> Column:
    """Stops the job with the message that the SQL session has for the same mistake.

    :param what: the rule that is broken.
    :param value: the value as it came; bytes are shown in hex.
    """
    return stop(f"{what} for column {column.name!r}: ", value)


def null_refused(column: ColumnInfo) -> Column:
    """Stops the job for NULL in a NOT NULL column."""
    return F.raise_error(F.lit(f"Column {column.name!r} cannot be null"))


def stop(what: str, value: Column) -> Column:
    """Stops the job, naming a value after ``what``."""
    text = F.coalesce(value.cast("string"), F.lit("NULL"))
    shown = F.when(F.length(text) > _SHOWN, F.concat(F.left(text, F.lit(_SHOWN)), F.lit("…"))).otherwise(text)
    return F.raise_error(F.concat(F.lit(f"{what}'"), shown, F.lit("'")))
