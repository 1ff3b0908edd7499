"""Values that a column does not take, which nobody but Spark can find: while it works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from ticdc_producer.errors import ScenarioError

_RAISED = "USER_RAISED_EXCEPTION"
"""Of what ``raise_error`` in one of our expressions says, or in one of the scenario's."""


@contextmanager
def values_refused() -> Iterator[None]:
    """Gives Spark's exception for such a value as what it is.

    :raises ScenarioError: with the sentence, the column and the value.
    """
    try:
        yield
    except PySparkException as error:
        if error.getCondition() != _RAISED:
            raise
        parameters = error.getMessageParameters() or {}
        raise ScenarioError(parameters.get("errorMessage") or str(error)) from None
