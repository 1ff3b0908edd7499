"""The engine on Spark: each part of a dataset is a task.

Consecutive functions on parts are one ``mapInArrow``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar, cast

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.engine.dataset import (
    Batches,
    Dataset,
    Engine,
    EngineName,
    Grouped,
    GroupFunction,
    Order,
    Part,
    PartFunction,
    Result,
    RowLimit,
    Sides,
    Stored,
    TaggedFunction,
)
from ticdc_producer.engine.shuffle_codec import PACKED_ROWS, PART, packed, unpacked
from ticdc_producer.engine.task_rows import ONLY_RESULT, TaskLayout, result_row, tagged_rows, task_results
from ticdc_producer.errors import ProducerError, SparkError
from ticdc_producer.spark.collector import rare_collections
from ticdc_producer.spark.spark_errors import enclosed, restored
from ticdc_producer.spark.storage import materialized, small_batches_unlimited

_NUMBER = pa.schema([("id", pa.int64())])

T = TypeVar("T")


class SparkDataset(Dataset):
    """A dataset whose parts are the tasks of a DataFrame.

    :param frame: rows before the functions.
    :param functions: applied to the rows of each task, in this order.
    """

    def __init__(self, frame: DataFrame, schema: pa.Schema, functions: tuple[PartFunction, ...] = ()) -> None:
        self._frame, self.schema, self._functions = frame, schema, functions

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""
        if not self._functions:
            return self._frame
        return self._frame.mapInArrow(self._composed, from_arrow_schema(self.schema))

    @property
    def _composed(self) -> Callable[[Batches], Batches]:
        functions = self._functions

        def call(batches: Batches) -> Batches:
            part = _part()
            try:
                with rare_collections():
                    yield from reduce(lambda rows, function: function(part, rows), functions, batches)
            except ProducerError as error:
                raise enclosed(error) from None

        return call

    def map_parts(self, function: PartFunction, schema: pa.Schema) -> SparkDataset:
        return SparkDataset(self._frame, schema, (*self._functions, function))

    def select(self, *names: str) -> SparkDataset:
        columns = [*names]
        schema = pa.schema([self.schema.field(name) for name in columns])
        if self._functions:
            return self.map_parts(lambda _part, rows: (batch.select(columns) for batch in rows), schema)
        return SparkDataset(self._frame.select(*columns), schema)

    def shuffle(self, by: tuple[str, ...], order: Order) -> SparkDataset:
        rows = self.frame.repartition(*by)
        return SparkDataset(rows.sortWithinPartitions(*order.columns) if order.columns else rows, self.schema)

    def in_order(self, *names: str) -> SparkDataset:
        return SparkDataset(self.frame.orderBy(*names), self.schema)

    def within(self, name: str, start: int, stop: int) -> SparkDataset:
        rows = self.frame.where((sf.col(name) >= start) & (sf.col(name) < stop))
        return SparkDataset(rows, self.schema)

    def divide(
        self,
        by: str,
        parts: int,
        order: Order,
        *,
        of_part: Mapping[str, Sequence[object]] = MappingProxyType({}),
        constant: Mapping[str, object] = MappingProxyType({}),
    ) -> SparkDataset:
        restored = {name: sf.lit(value) for name, value in constant.items()}
        restored |= {name: sf.get(sf.lit([*values]), sf.col(by)) for name, values in of_part.items()}
        # repartition(n, col) hashes, and may put two parts into one task.
        moved = self.frame.drop(*restored).repartitionById(parts, by)
        rows = moved.sortWithinPartitions(*(name for name in order.columns if name not in restored))
        types = {field.name: field.dataType for field in from_arrow_schema(self.schema)}
        typed = {name: column.cast(types[name]) for name, column in restored.items()}
        return SparkDataset(rows.withColumns(typed).select(*self.schema.names), self.schema)

    def merged(self) -> SparkDataset:
        return self  # Spark's batches have thousands of rows

    def union(self, *others: Dataset) -> SparkDataset:
        frames = (on_spark(other).frame for other in others)
        return SparkDataset(reduce(DataFrame.unionByName, frames, self.frame), self.schema)

    @contextmanager
    def cached(self, *, in_order: bool = False) -> Iterator[SparkDataset]:
        with materialized(self.frame, in_order=in_order) as frame:
            yield SparkDataset(frame, self.schema)

    @contextmanager
    def stored(
        self,
        function: TaggedFunction[Result],
        kinds: Mapping[str, pa.Schema],
        *,
        in_order: bool = False,
        orders: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        row_bytes: int | None = None,
    ) -> Iterator[SparkStored[Result]]:
        layout = TaskLayout(kinds)
        rows = self.map_parts(partial(tagged_rows, function, layout), layout.schema)
        with materialized(rows.frame, in_order=in_order) as frame:
            stored: SparkStored[Result] = SparkStored(frame, layout, orders)
            with small_batches_unlimited(frame.sparkSession, row_bytes):
                _ = stored.results  # computes all
            yield stored

    def results(
        self, function: Callable[[Part, Batches], Result], *, row_bytes: int | None = None
    ) -> list[Result]:
        rows = self.map_parts(partial(_result, function), ONLY_RESULT).frame
        with small_batches_unlimited(self._frame.sparkSession, row_bytes):
            return cast("list[Result]", task_results(rows))

    def execute(
        self, function: Callable[[Part, Batches], Result], *, row_bytes: int | None = None
    ) -> list[Result]:
        _check_speculation(self._frame.sparkSession)
        outcomes = self.results(partial(_outcome, function), row_bytes=row_bytes)
        for succeeded, outcome in outcomes:
            if not succeeded:
                raise restored(*outcome)
        return [outcome for _, outcome in outcomes]

    def batches(self) -> Batches:
        rows = on_spark(self.map(partial(_streams, self.schema), _STREAM)).frame
        for row in rows.toLocalIterator():
            with pa.ipc.open_stream(bytes(row[0])) as reader:
                yield from reader

    def small(self, limit: int) -> pa.Table:
        rows = self.map_parts(partial(_at_most, limit), self.schema).frame.toArrow()
        if rows.num_rows > limit:
            raise RowLimit(f"{rows.num_rows} rows, at most {limit} were expected")
        return rows.cast(self.schema)


def on_spark(dataset: Dataset) -> SparkDataset:
    """Return the dataset as a ``SparkDataset``.

    :raises TypeError: if it belongs to another engine.
    """
    if not isinstance(dataset, SparkDataset):
        raise TypeError(f"{type(dataset).__name__} is a dataset of another engine")
    return dataset


def _part() -> Part:
    context = TaskContext.get()
    return Part(0) if context is None else Part(context.partitionId(), context.attemptNumber())


_STREAM = pa.schema([("stream", pa.binary())])


def _streams(schema: pa.Schema, batches: Batches) -> Batches:
    """Yield each batch as the bytes of an Arrow stream.

    :param schema: of the stream; Spark names the elements of lists in its own way.
    """
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            writer.write_batch(batch.cast(schema))
        yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()], pa.binary())], schema=_STREAM)


def _at_most(limit: int, _part: Part, batches: Batches) -> Batches:
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        if rows > limit:
            raise ValueError(f"more than {limit} rows, which was the most that was expected")
        yield batch


def _result(function: Callable[[Part, Batches], object], part: Part, batches: Batches) -> Batches:
    result = function(part, batches)
    _read(batches)
    yield result_row(result)


def _read(rest: Iterable[object]) -> None:
    """Read to the end: Spark ends workers that do not read their whole input."""
    for _ in rest:
        pass


def _outcome(function: Callable[[Part, Batches], Result], part: Part, batches: Batches) -> tuple[bool, Any]:
    """Return whether the function succeeded, and its result or the parts of its error.

    The error is not raised in the task: the driver needs the error, not Spark's stack trace of it.
    """
    try:
        return True, function(part, batches)
    except ProducerError as error:
        return False, (type(error), error.args, error.__dict__)


def _check_speculation(spark: SparkSession) -> None:
    """Check that Spark does not run two attempts of a task at once: their output would be mixed.

    :raises SparkError: if speculative execution is enabled.
    """
    if str(spark.conf.get("spark.speculation", "false")).lower() == "true":
        hint = "only one task may write a partition; set spark.speculation=false"
        raise SparkError("speculative execution is enabled", hint=hint)


class SparkStored(Stored[Result]):
    """Rows that Spark has stored.

    :param orders: for a kind, the columns by which its rows are ordered.
    """

    def __init__(
        self,
        frame: DataFrame,
        layout: TaskLayout,
        orders: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self._frame, self._layout, self._orders = frame, layout, orders
        self._results: list[Result] | None = None

    @property
    def results(self) -> Sequence[Result]:
        if self._results is None:
            self._results = cast("list[Result]", task_results(self._frame))
        return self._results

    def __getitem__(self, kind: str) -> SparkDataset:
        rows = SparkDataset(self._layout.frame(self._frame, kind), self._layout.kinds[kind])
        return rows.in_order(*self._orders[kind]) if kind in self._orders else rows


class SparkGrouped(Grouped):
    """Rows of several datasets, whole parts of a hash in one task."""

    def __init__(self, sides: Mapping[str, Dataset], by: str) -> None:
        self._schemas = {name: side.schema for name, side in sides.items()}
        packed_rows = [
            on_spark(side.map(partial(packed, schema=side.schema, by=by, side=number), PACKED_ROWS)).frame
            for number, side in enumerate(sides.values())
        ]
        in_parts = reduce(DataFrame.unionByName, packed_rows).repartition(*PART).sortWithinPartitions(*PART)
        self._packed_rows = SparkDataset(in_parts, PACKED_ROWS)

    @contextmanager
    def stored(
        self, function: GroupFunction[Result], kinds: Mapping[str, pa.Schema]
    ) -> Iterator[SparkStored[Result]]:
        schemas = self._schemas

        def call(_part: Part, batches: Batches) -> Generator[tuple[str, pa.RecordBatch], None, Result]:
            return function(unpacked(batches, schemas))

        with self._packed_rows.stored(call, kinds) as stored:
            yield stored

    def results(self, function: Callable[[Iterator[Sides]], Result]) -> list[Result]:
        schemas = self._schemas
        return self._packed_rows.results(lambda _part, batches: function(unpacked(batches, schemas)))

    def map(self, function: Callable[[Iterator[Sides]], Batches], schema: pa.Schema) -> Dataset:
        schemas = self._schemas
        return self._packed_rows.map(lambda batches: function(unpacked(batches, schemas)), schema)


class SparkEngine(Engine):
    """An engine that computes datasets in the tasks of a Spark session.

    :ivar spark: the session.
    """

    name: EngineName = "spark"

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.parallelism = spark.sparkContext.defaultParallelism

    def of_batches(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> SparkDataset:
        rows = pa.Table.from_batches(batches, schema)
        if not rows.num_rows:  # pyspark cannot create it from an empty Arrow table
            return self.of_frame(self.spark.createDataFrame([], from_arrow_schema(schema)), schema)
        return self.of_frame(self.spark.createDataFrame(rows), schema)

    def of_parts(self, count: int, source: Callable[[int], Batches], schema: pa.Schema) -> SparkDataset:
        def rows(_part: Part, batches: Batches) -> Batches:
            # All are read before the first row: Spark ends workers that do not read their whole input.
            numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
            return chain.from_iterable(map(source, numbers))

        numbers = self.spark.range(0, count, 1, max(1, count))
        return SparkDataset(numbers, _NUMBER).map_parts(rows, schema)

    def of_frame(self, frame: DataFrame, schema: pa.Schema) -> SparkDataset:
        """Return the rows of a DataFrame.

        :param schema: its columns.
        """
        return SparkDataset(frame, schema)

    def grouped(self, sides: Mapping[str, Dataset], by: str) -> SparkGrouped:
        return SparkGrouped(sides, by)
