"""Errors of values in Spark's jobs: how an expression stops a job, and what an exception means."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo

READ_ERRORS = (PySparkException, Py4JJavaError)
"""Raised for a wrong path or format: pyspark translates some of Spark's exceptions, py4j wraps the others."""

_CONDITION = re.compile(r"\[[A-Z0-9_.]+\].*")
_STATE = re.compile(r"\s*SQLSTATE: \w+.*")


def first_sentence(error: BaseException) -> str:
    """Return the line with Spark's error condition, else the first line, without Java classes and frames."""
    text = str(error).strip() or type(error).__name__
    match = _CONDITION.search(text)
    return _STATE.sub("", match[0] if match else text.splitlines()[0])


_RAISED = "USER_RAISED_EXCEPTION"
"""Spark's error condition of ``raise_error``, in our expressions or in those of a scenario."""


def worker_error(error: BaseException) -> ScenarioError | None:
    """Return the error of a value that a column rejects, which a task raised; None for another error."""
    if not isinstance(error, PySparkException) or error.getCondition() != _RAISED:
        return None
    parameters = error.getMessageParameters() or {}
    return ScenarioError(parameters.get("errorMessage") or str(error))


_MAX_DISPLAYED = 120


def reject_value(column: ColumnInfo, value: Column, what: str) -> Column:
    """Stop the job with the message of the SQL session for the same error.

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
