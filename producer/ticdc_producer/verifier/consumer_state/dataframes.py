"""Tables that Spark reads: files in any of its formats, its tables, or DataFrames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.errors import StateError
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence
from ticdc_producer.spark.storage import arrow_schema, quoted_column
from ticdc_producer.verifier.consumer_state.comparable_columns import actual_batches
from ticdc_producer.verifier.consumer_state.compare import COMPARABLE_ROWS
from ticdc_producer.verifier.consumer_state.plan import ActualTable, BatchReader, ExpectedTable, TablePlan

PREFIX = "spark:"
_NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND")
_PATTERN = "spark:FORMAT:PATH with {schema} and {table} in it, or spark:table:{schema}.{table}"


def dataframe_dataset(frame: DataFrame, plan: TablePlan) -> Dataset:
    """Return the compared columns of a DataFrame.

    :param frame: with the columns ``plan.actual_columns``, in any order.
    """
    columns = _compared(frame, plan)
    return SparkEngine(frame.sparkSession).of_frame(columns, arrow_schema(columns.schema))


def dataframe_rows(frame: DataFrame, plan: TablePlan) -> DataFrame:
    """Return the rows of a DataFrame, in the shape ``COMPARABLE_ROWS``.

    :param frame: with the columns ``plan.actual_columns``, in any order.
    """
    return _compared(frame, plan).mapInArrow(_read(plan), COMPARABLE_ROWS)


def _compared(frame: DataFrame, plan: TablePlan) -> DataFrame:
    return frame.select(*map(quoted_column, plan.actual_columns))


def _read(plan: TablePlan) -> BatchReader:
    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from actual_batches(plan, batch)

    return read


class SparkTables:
    """Tables by a pattern: ``spark:FORMAT:PATH`` or ``spark:table:NAME``.

    :ivar label: the pattern.
    :raises StateError: for a malformed pattern.
    """

    def __init__(self, pattern: str, spark: SparkSession) -> None:
        kind, _, template = pattern.removeprefix(PREFIX).partition(":")
        if not kind or not template:
            raise StateError("not a pattern of Spark tables", source=pattern, hint=_PATTERN)
        self.label, self._kind, self._template, self._spark = pattern, kind, template, spark

    def find(self, table: ExpectedTable, name: str | None, _unique_name: bool, /) -> ActualTable | None:
        schema, _, relation = (name or table.qualified_name).rpartition(".")
        location = self._template.replace("{schema}", schema).replace("{table}", relation)
        try:
            return ActualTable(name=location, columns=tuple(self._read(location).columns))
        except READ_ERRORS as error:
            if isinstance(error, PySparkException) and error.getCondition() in _NOT_FOUND:
                return None
            what = f"Spark cannot read it: {first_sentence(error)}"
            raise StateError(what, source=self.label, hint=_PATTERN) from None

    def _read(self, location: str) -> DataFrame:
        return (
            self._spark.table(location)
            if self._kind == "table"
            else self._spark.read.format(self._kind).load(location)
        )

    def rows(self, _spark: SparkSession, plan: TablePlan, /) -> DataFrame:
        return dataframe_rows(self._read(plan.actual), plan)

    def dataset(self, _engine: Engine, plan: TablePlan, /) -> Dataset:
        return dataframe_dataset(self._read(plan.actual), plan)


class DataFrameTables:
    """DataFrames by ``SCHEMA.TABLE``, for callers from Python.

    :param frames: each with the columns of its table by name, in any order.
    """

    label = "DataFrames"

    def __init__(self, frames: Mapping[str, DataFrame]) -> None:
        self._frames = dict(frames)

    def find(self, table: ExpectedTable, name: str | None, _unique_name: bool, /) -> ActualTable | None:
        name = name or table.qualified_name
        return (
            ActualTable(name=name, columns=tuple(self._frames[name].columns))
            if name in self._frames
            else None
        )

    def rows(self, _spark: SparkSession, plan: TablePlan, /) -> DataFrame:
        return dataframe_rows(self._frames[plan.actual], plan)

    def dataset(self, _engine: Engine, plan: TablePlan, /) -> Dataset:
        return dataframe_dataset(self._frames[plan.actual], plan)
