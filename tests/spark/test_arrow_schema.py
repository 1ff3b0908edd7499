"""Arrow's types of Spark's columns."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import IntegerType, StructType, TimestampType

from ticdc_producer.spark.storage import arrow_schema


def test_time_stamps_are_in_utc() -> None:
    columns = StructType().add("id", IntegerType()).add("at", TimestampType())
    assert arrow_schema(columns) == pa.schema([("id", pa.int32()), ("at", pa.timestamp("us", "UTC"))])
