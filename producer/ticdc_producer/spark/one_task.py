"""Runs a plain function in one task of one Spark job, and returns its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyarrow as pa
from pyspark.serializers import CPickleSerializer

from ticdc_producer.errors import ProducerError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
_RESULT = pa.schema([("result", pa.binary())])
_SERIALIZER: Any = CPickleSerializer()
"""Spark's own, for objects that its workers send to their driver; nothing that was read from a topic."""


def run_in_one_task(
    spark: SparkSession,
    function: Callable[[Iterator[pa.RecordBatch]], T],
    rows: DataFrame | None = None,
) -> T:
    """Call a function in a Spark worker.

    :param function: gets the rows as Arrow batches; sent to the worker with everything it refers to. Its
        result is small.
    :param rows: its input, brought together in one task; None: nothing.
    :raises ProducerError: as raised by the function.
    """

    has_rows = rows is not None

    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            outcome: tuple[bool, object] = True, function(batches if has_rows else iter(()))
        except ProducerError as error:
            # Not raised here: the driver needs the error, not Spark's stack trace of it.
            outcome = False, (type(error), error.args, error.__dict__)
        for _ in batches:  # Spark ends a worker that leaves input unread
            pass
        yield pa.record_batch([pa.array([_SERIALIZER.dumps(outcome)], pa.binary())], schema=_RESULT)

    frame = spark.range(0, 1, 1, 1) if rows is None else rows.coalesce(1)
    results = frame.mapInArrow(call, "result binary").toArrow()
    succeeded: bool
    result: Any
    succeeded, result = _SERIALIZER.loads(results["result"][0].as_py())
    if succeeded:
        return cast("T", result)
    kind, arguments, fields = result
    error = kind.__new__(kind)
    error.args, error.__dict__ = arguments, fields
    raise error
