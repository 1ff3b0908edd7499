"""Rows of both sides in one shape, which Spark compares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.verifier.consumer_state.plan import Comparable, TablePlan

ROWS = "number int, key array<binary>, row array<binary>"
"""``number`` of the table, values of the key, and of the other columns that are compared."""
_ARROW = pa.schema([("number", pa.int32()), ("key", pa.list_(pa.binary())), ("row", pa.list_(pa.binary()))])
BATCH = 5_000


def batches(number: int, rows: Iterable[Comparable]) -> Iterator[pa.RecordBatch]:
    """Arrow batches of the shape ``ROWS``."""
    rows = iter(rows)
    while chunk := list(islice(rows, BATCH)):
        keys, others = zip(*chunk, strict=True)
        columns = [pa.array([number] * len(chunk), pa.int32()), list(keys), list(others)]
        yield pa.record_batch(columns, schema=_ARROW)


def expected_rows(spark: SparkSession, plan: TablePlan) -> DataFrame:
    """The rows of a state file."""
    return line_frame(spark, str(plan.table.file.absolute())).mapInArrow(_read_expected(plan), ROWS)


def line_frame(spark: SparkSession, path: str) -> DataFrame:
    """The lines of JSON files; nothing but a line feed ends a line."""
    return spark.read.option("lineSep", "\n").text(path)


def _read_expected(plan: TablePlan) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(frames: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.expected_row()
        lines = (line for frame in frames for line in frame.column(0).to_pylist())
        yield from batches(plan.number, (row(json.loads(line)) for line in lines if line))

    return read
