"""What Spark's errors mean to a user: data that it cannot read, and values that a column rejects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def translate_worker_errors() -> Iterator[None]:
    """Raise a ``ScenarioError`` in place of Spark's exception for a rejected value.

    :raises ScenarioError: with the message, the column and the value.
    """
    try:
        yield
    except PySparkException as error:
        if error.getCondition() != _RAISED:
            raise
        parameters = error.getMessageParameters() or {}
        raise ScenarioError(parameters.get("errorMessage") or str(error)) from None
