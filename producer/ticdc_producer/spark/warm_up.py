"""Starts Python workers and imports modules in them while the driver still plans the first job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def warm_up(spark: SparkSession, modules: Sequence[str]) -> None:
    """Start a worker per core that imports the modules, and make the JVM load its classes for workers.

    Runs in a background thread. Errors are ignored, because the first job starts workers anyway.
    """
    Thread(target=_start_workers, args=(spark, tuple(modules)), daemon=True).start()


def _start_workers(spark: SparkSession, modules: Sequence[str]) -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    cores = spark.sparkContext.defaultParallelism
    with suppress(PySparkException, Py4JError, OSError):
        job = spark.range(0, cores, 1, cores).mapInArrow(partial(_import_modules, modules), "id long")
        job.write.format("noop").mode("overwrite").save()


def _import_modules(modules: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for module in modules:
        import_module(module)
    yield from batches
