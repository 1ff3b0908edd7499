"""Limits of micro-batches, which Spark passes to a source of Python since version 4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ticdc_producer.errors import ArgumentError

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as TriggerAvailableNow

    LIMITED: bool
else:
    try:
        from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as TriggerAvailableNow
    except ImportError:  # Spark 4.1, which never calls what needs them

        class ReadLimit:
            """A replacement of the class of Spark 4.2."""

        ReadMaxRows = TriggerAvailableNow = ReadLimit
    LIMITED = ReadMaxRows is not ReadLimit

__all__ = ["LIMITED", "ReadLimit", "ReadMaxRows", "TriggerAvailableNow", "check_limit"]


def check_limit(most: object, *, supported: bool = LIMITED) -> None:
    """Check the option ``maxOffsetsPerTrigger``.

    :param supported: whether this version of Spark passes limits on.
    :raises ArgumentError: if the option is given and would have no effect.
    """
    if most is not None and not supported:
        what = "option 'maxOffsetsPerTrigger' requires Spark 4.2: this version has no limit of a micro-batch"
        raise ArgumentError(what, argument="maxOffsetsPerTrigger", hint="leave it out, or update Spark")
