"""Expressions that stop the job for a value that a column does not accept."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.model.column import ColumnInfo

_MAX_DISPLAYED = 120


def reject_value(column: ColumnInfo, value: Column, what: str) -> Column:
    """Stop the job with the message of the SQL session for the same mistake.

    :param what: the violated rule.
    :param value: the user's value; bytes are given in hex.
    """
    return stop_job(f"{what} for column {column.name!r}: ", value)


def reject_null(column: ColumnInfo) -> Column:
    """Stop the job for NULL in a NOT NULL column."""
    return F.raise_error(F.lit(f"Column {column.name!r} cannot be null"))


def stop_job(what: str, value: Column) -> Column:
    """Stop the job with a message that ends with a value."""
    text = F.coalesce(value.cast("string"), F.lit("NULL"))
    displayed = F.when(
        F.length(text) > _MAX_DISPLAYED, F.concat(F.left(text, F.lit(_MAX_DISPLAYED)), F.lit("…"))
    ).otherwise(text)
    return F.raise_error(F.concat(F.lit(f"{what}'"), displayed, F.lit("'")))
