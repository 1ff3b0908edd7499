"""Spark jobs in background threads, and DataFrames that are computed once for several jobs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


LOCAL_SMALL_DATA = "spark.ticdc-producer.small"
"""Session setting: ``true`` if the data is small and all executors are on this machine."""


@contextmanager
def materialized(frame: DataFrame, *, in_order: bool = False) -> Iterator[DataFrame]:
    """The frame, computed once for all jobs in the block.

    On a local master this also truncates the plan: queries on the result are planned without the steps that
    computed it, which saves a third of the work for small data and minutes for large data
    (docs/decisions/0003). On a cluster the frame is cached instead: a checkpoint is lost with its executor,
    and other machines cannot read a local file.

    :param frame: any columns, of any session; ``LOCAL_SMALL_DATA`` of its session selects a local checkpoint.
    :param in_order: whether rows must keep their partition and their order in it.
    :return: the same columns and rows.
    """
    spark = frame.sparkSession
    if spark.conf.get(LOCAL_SMALL_DATA, "false") == "true":
        yield frame.localCheckpoint(eager=False)
    elif not in_order and str(spark.conf.get("spark.master")).startswith("local"):
        with tempfile.TemporaryDirectory(prefix="ticdc-producer-", dir=_spill_dir(spark)) as folder:
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


def _spill_dir(spark: SparkSession) -> str:
    """The directory in which Spark stores data that does not fit into memory."""
    directories = os.environ.get("SPARK_LOCAL_DIRS") or spark.conf.get("spark.local.dir", None)
    return (directories or tempfile.gettempdir()).partition(",")[0]


_Result = TypeVar("_Result")


def running_tasks(spark: SparkSession) -> int:
    """The number of tasks that run; those of a cancelled job end some time after it."""
    infos = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return sum(info.numRunningTasks() for info in infos)


class Submit(Protocol):
    """Starts a job and returns a function that waits for its result."""

    def __call__(self, work: Callable[[], _Result], /) -> Callable[[], _Result]: ...


@contextmanager
def background_jobs(spark: SparkSession) -> Iterator[Submit]:
    """Run Spark jobs in background threads (small data), or lazily (large data).

    With small data most of the time is spent on planning, which uses one core per job, so jobs run in
    parallel. With large data each job uses all cores and much memory; it then runs in the caller's thread
    when its result is requested. Background jobs have ended when the block ends.
    """
    if spark.conf.get(LOCAL_SMALL_DATA, "false") != "true":
        yield _submit_lazily
        return
    with ThreadPoolExecutor() as pool:

        def submit(work: Callable[[], _Result]) -> Callable[[], _Result]:
            return pool.submit(work).result

        yield submit


def _submit_lazily(work: Callable[[], _Result]) -> Callable[[], _Result]:
    return work
