"""Rows of both sides in one shape that Spark compares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.verifier.consumer_state.plan import Comparable, TablePlan

COMPARABLE_ROWS = "number int, key array<binary>, row array<binary>"
"""``number`` of the table, values of the key, values of the other compared columns."""
_ARROW = pa.schema([("number", pa.int32()), ("key", pa.list_(pa.binary())), ("row", pa.list_(pa.binary()))])
BATCH_ROWS = 5_000


def row_batches(number: int, rows: Iterable[Comparable]) -> Iterator[pa.RecordBatch]:
    """Rows as Arrow batches of the shape ``COMPARABLE_ROWS``."""
    rows = iter(rows)
    while chunk := list(islice(rows, BATCH_ROWS)):
        keys, others = zip(*chunk, strict=True)
        columns = [pa.array([number] * len(chunk), pa.int32()), list(keys), list(others)]
        yield pa.record_batch(columns, schema=_ARROW)


def expected_rows(spark: SparkSession, plan: TablePlan) -> DataFrame:
    """The rows of a state file."""
    return json_lines(spark, str(plan.table.file.absolute())).mapInArrow(
        _read_expected(plan), COMPARABLE_ROWS
    )


def json_lines(spark: SparkSession, path: str) -> DataFrame:
    """The lines of JSON files; only a line feed ends a line."""
    return spark.read.option("lineSep", "\n").text(path)


def _read_expected(plan: TablePlan) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(read_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.expected_row()
        lines = (line for batch in read_batches for line in batch.column(0).to_pylist())
        yield from row_batches(plan.number, (row(json.loads(line)) for line in lines if line))

    return read
