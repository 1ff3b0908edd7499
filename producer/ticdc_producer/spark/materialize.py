"""Rows that several Spark jobs read, computed once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALL = "spark.ticdc-producer.small"
"""Session setting: data is small, and stays on this machine."""


@contextmanager
def kept(frame: DataFrame, *, in_order: bool = False) -> Iterator[DataFrame]:
    """The frame, computed once for all jobs inside.

    On one machine its plan ends there, too: what is built on it is planned without all that made it, a third
    of the work for small data, minutes for large (docs/decisions/0003). Not on a cluster: what an executor
    has checkpointed is lost with it, and a file of one machine is not there for the others.

    :param frame: of a session that is set ``SMALL``, or any other.
    :param in_order: its rows must stay in their partitions, and in order there.
    """
    spark = frame.sparkSession
    if spark.conf.get(SMALL, "false") == "true":
        yield frame.localCheckpoint(eager=False)
    elif not in_order and str(spark.conf.get("spark.master")).startswith("local"):
        with tempfile.TemporaryDirectory(prefix="ticdc-producer-", dir=_spill_place(spark)) as folder:
            rows = str(Path(folder, "rows"))
            frame.write.option("compression", "zstd").parquet(rows)
            yield spark.read.schema(frame.schema).parquet(rows)
    else:
        yield from _cached(frame)


def _cached(frame: DataFrame) -> Iterator[DataFrame]:
    from pyspark import StorageLevel

    persisted = frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield persisted
    finally:
        persisted.unpersist()


def _spill_place(spark: SparkSession) -> str:
    """Where Spark itself puts what does not fit into memory."""
    places = os.environ.get("SPARK_LOCAL_DIRS") or spark.conf.get("spark.local.dir", None)
    return (places or tempfile.gettempdir()).partition(",")[0]
