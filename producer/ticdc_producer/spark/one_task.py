"""Runs a plain function in one task of one Spark job, and returns its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import pyarrow as pa
from pyspark.serializers import CPickleSerializer

from ticdc_producer.errors import ProducerError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
_Function: TypeAlias = Callable[[Iterator[pa.RecordBatch]], T]
_Outcome: TypeAlias = tuple[bool, Any]
_RESULT = pa.schema([("result", pa.binary())])
_SERIALIZER: Any = CPickleSerializer()
"""Spark's own, for objects that its workers send to their driver; nothing that was read from a topic."""


def run_in_one_task(
    spark: SparkSession,
    function: _Function[T],
    rows: DataFrame | None = None,
) -> T:
    """Call a function in a Spark worker.

    :param function: gets the rows as Arrow batches; sent to the worker with everything it refers to. Its
        result is small.
    :param rows: its input, brought together in one task; None: nothing.
    :raises ProducerError: as raised by the function.
    """
    outcome = _without_rows(spark, function) if rows is None else _on_rows(rows, function)
    succeeded: bool
    result: Any
    succeeded, result = outcome
    if succeeded:
        return cast("T", result)
    kind, arguments, fields = result
    error = kind.__new__(kind)
    error.args, error.__dict__ = arguments, fields
    raise error


def _without_rows(spark: SparkSession, function: _Function[T]) -> _Outcome:
    """An RDD: a DataFrame is planned first, which takes longer than all else in a job without rows."""

    def call(nothing: Iterable[None]) -> Iterator[_Outcome]:
        yield _outcome(function, iter(()))
        _read(nothing)

    return spark.sparkContext.parallelize([None], 1).mapPartitions(call).collect()[0]


def _on_rows(rows: DataFrame, function: _Function[T]) -> _Outcome:
    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        outcome = _outcome(function, batches)
        _read(batches)
        yield pa.record_batch([pa.array([_SERIALIZER.dumps(outcome)], pa.binary())], schema=_RESULT)

    results = rows.coalesce(1).mapInArrow(call, "result binary").toArrow()
    return cast("_Outcome", _SERIALIZER.loads(results["result"][0].as_py()))


def _outcome(function: _Function[T], batches: Iterator[pa.RecordBatch]) -> _Outcome:
    """Whether the function succeeded, and its result or the parts of its error.

    The error is not raised here: the driver needs it, not Spark's stack trace of it.
    """
    try:
        return True, function(batches)
    except ProducerError as error:
        return False, (type(error), error.args, error.__dict__)


def _read(rest: Iterable[object]) -> None:
    """Read to the end: Spark ends a worker that leaves input unread."""
    for _ in rest:
        pass
