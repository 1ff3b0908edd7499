"""Spark tasks that return a small object each; one task that runs a plain function."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import pyarrow as pa
from pyspark.serializers import CPickleSerializer
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.shapes import BatchFunction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


_Result = TypeVar("_Result")
_SERIALIZER: Any = CPickleSerializer()
"""Spark's own, for objects that its workers send to their driver; nothing that was read from a topic."""
_COLUMN = "task_result"
_ONLY_RESULT = pa.schema([(_COLUMN, pa.binary())])

TaskFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Generator[pa.RecordBatch, None, "_Result"]]
"""Yields the rows of a task, and returns its result."""

MapInArrow: TypeAlias = Callable[[BatchFunction, "StructType | str"], "DataFrame"]
"""Applies a function to the batches of each task."""


def with_results(mapped: MapInArrow, function: TaskFunction[Any], shape: pa.Schema) -> DataFrame:
    """Apply a function to the rows of each task.

    :param mapped: ``mapInArrow`` of a DataFrame, or what does the same.
    :param shape: the columns of the rows that the function yields.
    :return: these rows, and one more per task with its result: see :func:`task_rows`, :func:`task_results`.
    """
    schema = shape.append(pa.field(_COLUMN, pa.binary()))

    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = function(batches)
        while True:
            try:
                batch = next(rows)
            except StopIteration as end:
                yield _result_row(_SERIALIZER.dumps(end.value), schema)
                return
            empty = pa.nulls(batch.num_rows, pa.binary())
            yield pa.record_batch([*batch.columns, empty], schema=schema)

    return mapped(call, from_arrow_schema(schema))


def _result_row(result: bytes, schema: pa.Schema) -> pa.RecordBatch:
    empty = [pa.nulls(1, field.type) for field in list(schema)[:-1]]
    return pa.record_batch([*empty, pa.array([result], pa.binary())], schema=schema)


def task_rows(frame: DataFrame) -> DataFrame:
    """The rows that the tasks of ``with_results`` yielded, with the columns of their shape alone."""
    return frame.where(sf.col(_COLUMN).isNull()).drop(_COLUMN)


def task_results(frame: DataFrame) -> list[Any]:
    """The results of the tasks of ``with_results``; they are small."""
    found = frame.where(sf.col(_COLUMN).isNotNull()).select(_COLUMN).toArrow()
    return [_SERIALIZER.loads(result) for result in found.column(0).to_pylist()]


def results_of(frame: DataFrame, function: Callable[[Iterator[pa.RecordBatch]], _Result]) -> list[_Result]:
    """What a function returns for the rows of each task; the results are small.

    :param frame: any columns; a task has the rows of one partition in their order.
    """

    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _result_row(_SERIALIZER.dumps(function(batches)), _ONLY_RESULT)

    return task_results(frame.mapInArrow(call, from_arrow_schema(_ONLY_RESULT)))


T = TypeVar("T")
_Function: TypeAlias = Callable[[Iterator[pa.RecordBatch]], T]
_RESULT = pa.schema([("result", pa.binary())])


def run_in_one_task(
    spark: SparkSession,
    function: _Function[T],
    rows: DataFrame | None = None,
) -> T:
    """Call a function in a Spark worker.

    :param function: gets the rows as Arrow batches; sent to the worker with everything it refers to. Its
        result is small.
    :param rows: its input, any columns, brought together in one task; None: nothing.
    :raises ProducerError: as raised by the function.
    """
    packed = _Packed.of(function)
    outcome = _without_rows(spark, packed) if rows is None else _on_rows(rows, packed)
    succeeded: bool
    result: Any
    succeeded, result = outcome.content()
    if succeeded:
        return cast("T", result)
    kind, arguments, fields = result
    error = kind.__new__(kind)
    error.args, error.__dict__ = arguments, fields
    raise error


@dataclass(frozen=True)
class _Packed:
    """An object on its way between driver and worker, pickled and compressed.

    Spark copies it several times. What is larger than 1 MiB it stores first: a function as a broadcast, a
    result as a block.

    :param size: bytes of the pickled object.
    """

    size: int
    data: bytes

    @classmethod
    def of(cls, content: object) -> _Packed:
        pickled = _SERIALIZER.dumps(content)
        return cls(len(pickled), pa.compress(pickled, codec=_CODEC, asbytes=True))

    def content(self) -> Any:
        return _SERIALIZER.loads(pa.decompress(self.data, self.size, codec=_CODEC, asbytes=True))


_CODEC = "zstd"


def _without_rows(spark: SparkSession, function: _Packed) -> _Packed:
    """An RDD: a DataFrame is planned first, which takes longer than all else in a job without rows."""

    def call(nothing: Iterable[None]) -> Iterator[_Packed]:
        yield _outcome(function, iter(()))
        _read(nothing)

    return spark.sparkContext.parallelize([None], 1).mapPartitions(call).collect()[0]


def _on_rows(rows: DataFrame, function: _Packed) -> _Packed:
    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        outcome = _outcome(function, batches)
        _read(batches)
        yield pa.record_batch([pa.array([_SERIALIZER.dumps(outcome)], pa.binary())], schema=_RESULT)

    results = rows.coalesce(1).mapInArrow(call, "result binary").toArrow()
    return cast("_Packed", _SERIALIZER.loads(results["result"][0].as_py()))


def _outcome(function: _Packed, batches: Iterator[pa.RecordBatch]) -> _Packed:
    """Whether the function succeeded, and its result or the parts of its error.

    The error is not raised here: the driver needs it, not Spark's stack trace of it.
    """
    try:
        outcome = _Packed.of((True, function.content()(batches)))
    except ProducerError as error:
        outcome = _Packed.of((False, (type(error), error.args, error.__dict__)))
    _exclude_modules_from_collections()
    return outcome


@cache
def _exclude_modules_from_collections() -> None:
    """PySpark collects garbage after each task: a tenth of a second, if a worker has imported our modules."""
    gc.freeze()


def _read(rest: Iterable[object]) -> None:
    """Read to the end: Spark ends a worker that leaves input unread."""
    for _ in rest:
        pass
