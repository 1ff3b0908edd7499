"""What Spark's errors mean to a user: data that it cannot read, and values that a column rejects."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from ticdc_producer.errors import ScenarioError

READ_ERRORS = (PySparkException, Py4JJavaError)
"""Raised for a wrong path or format: pyspark translates some of Spark's exceptions, py4j wraps the others."""

_CONDITION = re.compile(r"\[[A-Z0-9_.]+\].*")
_STATE = re.compile(r"\s*SQLSTATE: \w+.*")


def first_sentence(error: BaseException) -> str:
    """The line with Spark's error condition, else the first line; without Java classes and stack frames."""
    text = str(error).strip() or type(error).__name__
    found = _CONDITION.search(text)
    return _STATE.sub("", found[0] if found else text.splitlines()[0])


_RAISED = "USER_RAISED_EXCEPTION"
"""Spark's error condition of ``raise_error``, in our expressions or in those of a scenario."""


def worker_error(error: BaseException) -> ScenarioError | None:
    """Return the error of a value that a column rejects, which a task raised; None for another error."""
    if not isinstance(error, PySparkException) or error.getCondition() != _RAISED:
        return None
    parameters = error.getMessageParameters() or {}
    return ScenarioError(parameters.get("errorMessage") or str(error))
