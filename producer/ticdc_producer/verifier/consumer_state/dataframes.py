"""Tables that Spark reads: any of its formats, or DataFrames at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from ticdc_producer.errors import StateError
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence
from ticdc_producer.verifier.consumer_state.expected import ExpectedTable
from ticdc_producer.verifier.consumer_state.plan import TablePlan
from ticdc_producer.verifier.consumer_state.rows import ROWS, batches
from ticdc_producer.verifier.consumer_state.source import BatchReader, Found

PREFIX = "spark:"
_NOT_THERE = ("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND")
_FORM = "spark:FORMAT:PATH with {schema} and {table} in it, or spark:table:{schema}.{table}"


def frame_rows(frame: DataFrame, plan: TablePlan) -> DataFrame:
    """Rows of a DataFrame, of shape ``ROWS``."""
    columns = [sf.col(f"`{name.replace('`', '``')}`") for name in plan.actual_columns]
    return frame.select(*columns).mapInArrow(_read(plan), ROWS)


def _read(plan: TablePlan) -> BatchReader:
    def read(frames: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.actual_row()
        for frame in frames:
            values = zip(*(column.to_pylist() for column in frame.columns), strict=True)
            yield from batches(plan.number, map(row, values))

    return read


class SparkTables:
    """Tables by a pattern: ``spark:FORMAT:PATH`` or ``spark:table:NAME``.

    :raises StateError: if the pattern is of another form.
    """

    def __init__(self, pattern: str, spark: SparkSession) -> None:
        kind, _, place = pattern.removeprefix(PREFIX).partition(":")
        if not kind or not place:
            raise StateError("not a pattern of Spark tables", source=pattern, hint=_FORM)
        self._pattern, self._kind, self._place, self._spark = pattern, kind, place, spark

    @property
    def label(self) -> str:
        """The pattern."""
        return self._pattern

    def find(
        self,
        table: ExpectedTable,
        name: str | None,
        *,
        alone: bool,  # noqa: ARG002  # a name here has its schema
    ) -> Found | None:
        schema, _, relation = (name or table.qualified_name).rpartition(".")
        place = self._place.replace("{schema}", schema).replace("{table}", relation)
        try:
            return Found(name=place, columns=tuple(self._frame(place).columns))
        except READ_ERRORS as error:
            if isinstance(error, PySparkException) and error.getCondition() in _NOT_THERE:
                return None
            what = f"Spark cannot read it: {first_sentence(error)}"
            raise StateError(what, source=self.label, hint=_FORM) from None

    def _frame(self, place: str) -> DataFrame:
        return (
            self._spark.table(place)
            if self._kind == "table"
            else self._spark.read.format(self._kind).load(place)
        )

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:  # noqa: ARG002  # its own session
        return frame_rows(self._frame(plan.actual), plan)


class Frames:
    """DataFrames by ``SCHEMA.TABLE``, for callers from Python."""

    label = "DataFrames"

    def __init__(self, frames: Mapping[str, DataFrame]) -> None:
        self._frames = dict(frames)

    def find(
        self,
        table: ExpectedTable,
        name: str | None,
        *,
        alone: bool,  # noqa: ARG002  # a name here has its schema
    ) -> Found | None:
        name = name or table.qualified_name
        return Found(name=name, columns=tuple(self._frames[name].columns)) if name in self._frames else None

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:  # noqa: ARG002  # they have theirs
        return frame_rows(self._frames[plan.actual], plan)
