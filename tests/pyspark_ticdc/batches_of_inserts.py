"""The batches of a query that tests kill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField, StructType

COLUMNS = StructType(
    [StructField("op", StringType()), StructField("id", LongType()), StructField("name", StringType())]
)
_SCHEMA = pa.schema([("op", pa.string()), ("id", pa.int64()), ("name", pa.string())])


class Size(NamedTuple):
    """How much a query writes."""

    batches: int
    rows: int
    """The rows of a batch."""


FEW, SMALL, LARGE = Size(8, 200), Size(24, 200), Size(20, 50_000)


def batch(size: Size, number: int) -> list[tuple[Any, ...]]:
    """The rows of a batch."""
    return [("insert", number * size.rows + row, "x" * (row % 50)) for row in range(size.rows)]


def arrow_batch(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as Spark gives them to a task."""
    return pa.RecordBatch.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA)
