"""Translates errors that Spark raises for a rejected value, if Spark runs at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def translate_worker_errors() -> Iterator[None]:
    """Raise a ``ScenarioError`` in place of Spark's exception for a rejected value.

    :raises ScenarioError: with the message, the column and the value.
    """
    try:
        yield
    except Exception as error:
        if "pyspark" not in sys.modules:
            raise
        from ticdc_producer.spark.spark_errors import worker_error

        translated = worker_error(error)
        if translated is None:
            raise
        raise translated from None
