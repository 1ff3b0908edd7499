"""DataFrames that Spark stores for several jobs, their columns as Arrow's, and the batches for Python.

The columns are public, as ``ticdc_producer.CHANGE_LOG``, ``EVENT_STREAM``, ``MESSAGES`` and ``DECODED``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from ticdc_producer.model import shapes


def arrow_schema(columns: StructType) -> pa.Schema:
    """Return columns of Spark as those of Arrow, with time stamps in UTC."""
    # Spark 4.1 has no such parameter, and always converts to UTC.
    if "timezone" in signature(to_arrow_schema).parameters:
        return to_arrow_schema(columns, timezone="UTC")
    return to_arrow_schema(columns)


def quoted_column(name: str) -> Column:
    """Return the column of an exact name."""
    return sf.col(f"`{name.replace('`', '``')}`")


_ROWS, _BYTES = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch"
_UNLIMITED = (1 << 31) - 1
_MAX_BYTES = 64 << 20


@contextmanager
def materialized(frame: DataFrame, *, in_order: bool = False) -> Iterator[DataFrame]:
    """Compute a frame once for all jobs in the block.

    On a local master it is written to files, which also truncates the plan: queries on the result are planned
    without the steps that computed it (docs/decisions/0003). On a cluster, or if the order counts, it is
    cached.

    :param in_order: whether rows must keep their partition and their order in it.
    :return: the same columns and rows.
    """
    spark = frame.sparkSession
    if not in_order and str(spark.conf.get("spark.master")).startswith("local"):
        with tempfile.TemporaryDirectory(prefix="ticdc-producer-", dir=_spill_dir(spark)) as folder:
            rows = str(Path(folder, "rows"))
            frame.write.option("compression", "zstd").parquet(rows)
            yield spark.read.schema(frame.schema).parquet(rows)
        return
    persisted = frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield persisted
    finally:
        persisted.unpersist()


def _spill_dir(spark: SparkSession) -> str:
    """Return the directory in which Spark stores data that does not fit into memory."""
    directories = os.environ.get("SPARK_LOCAL_DIRS") or spark.conf.get("spark.local.dir", None)
    return (directories or tempfile.gettempdir()).partition(",")[0]


@contextmanager
def small_batches_unlimited(spark: SparkSession, row_bytes: int | None) -> Iterator[None]:
    """Limit the batches of the jobs in the block by their number of rows alone, if the rows are small.

    Otherwise Spark sums the buffer sizes of a batch at each row, which takes 5 % of a run.

    :param row_bytes: most bytes of a row; None: unknown.
    """
    rows = int(spark.conf.get(_ROWS) or 0)
    if row_bytes is None or rows <= 0 or row_bytes * rows > _MAX_BYTES:
        yield
        return
    before = spark.conf.get(_BYTES, None)
    spark.conf.set(_BYTES, _UNLIMITED)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_BYTES)
        else:
            spark.conf.set(_BYTES, before)


CHANGE_LOG = from_arrow_schema(shapes.CHANGE_LOG)
EVENT_STREAM = from_arrow_schema(shapes.EVENT_STREAM)
MESSAGES = from_arrow_schema(shapes.MESSAGES)
DECODED = from_arrow_schema(shapes.DECODED)
