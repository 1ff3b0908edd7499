"""Translates Spark's exceptions for values that a column rejects while a job runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from ticdc_producer.errors import ScenarioError

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
