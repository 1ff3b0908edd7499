"""Spark tasks that return a small object each, beside their rows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pyarrow as pa
from pyspark.serializers import CPickleSerializer
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_Result = TypeVar("_Result")
_SERIALIZER: Any = CPickleSerializer()
"""Spark's own, for objects that its workers send to their driver; nothing that was read from a topic."""
_COLUMN = "task_result"
_ONLY_RESULT = pa.schema([(_COLUMN, pa.binary())])

TaskFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Generator[pa.RecordBatch, None, "_Result"]]
"""Yields the rows of a task, and returns its result."""


def with_results(frame: DataFrame, function: TaskFunction[Any], shape: pa.Schema) -> DataFrame:
    """Apply a function to the rows of each task.

    :param shape: of the rows that the function yields.
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

    return frame.mapInArrow(call, from_arrow_schema(schema))


def _result_row(result: bytes, schema: pa.Schema) -> pa.RecordBatch:
    empty = [pa.nulls(1, field.type) for field in list(schema)[:-1]]
    return pa.record_batch([*empty, pa.array([result], pa.binary())], schema=schema)


def task_rows(frame: DataFrame) -> DataFrame:
    """The rows that the tasks of ``with_results`` yielded."""
    return frame.where(sf.col(_COLUMN).isNull()).drop(_COLUMN)


def task_results(frame: DataFrame) -> list[Any]:
    """The results of the tasks of ``with_results``; they are small."""
    found = frame.where(sf.col(_COLUMN).isNotNull()).select(_COLUMN).toArrow()
    return [_SERIALIZER.loads(result) for result in found.column(0).to_pylist()]


def results_of(frame: DataFrame, function: Callable[[Iterator[pa.RecordBatch]], _Result]) -> list[_Result]:
    """What a function returns for the rows of each task; the results are small."""

    def call(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _result_row(_SERIALIZER.dumps(function(batches)), _ONLY_RESULT)

    return task_results(frame.mapInArrow(call, from_arrow_schema(_ONLY_RESULT)))
