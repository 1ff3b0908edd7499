"""The batches of a query that tests kill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField, StructType

BATCHES, ROWS = 24, 200
COLUMNS = StructType(
    [StructField("op", StringType()), StructField("id", LongType()), StructField("name", StringType())]
)
_SCHEMA = pa.schema([("op", pa.string()), ("id", pa.int64()), ("name", pa.string())])


def batch(number: int) -> list[tuple[Any, ...]]:
    """The rows of a batch."""
    return [("insert", number * ROWS + row, "x" * (row % 50)) for row in range(ROWS)]


def arrow_batch(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as Spark gives them to a task."""
    return pa.RecordBatch.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA)
