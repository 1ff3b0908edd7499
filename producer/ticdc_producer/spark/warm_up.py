"""Python workers that have loaded what they need while the driver still plans the first job."""

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
    """Have a worker for each core start and import modules, and the JVM load what speaks to workers.

    Nobody waits for it, and nobody misses it if it fails: the first job would do the same.
    """
    Thread(target=_warmed, args=(spark, tuple(modules)), daemon=True).start()


def _warmed(spark: SparkSession, modules: Sequence[str]) -> None:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    cores = spark.sparkContext.defaultParallelism
    with suppress(PySparkException, Py4JError, OSError):
        nothing = spark.range(0, cores, 1, cores).mapInArrow(partial(_loaded, modules), "id long")
        nothing.write.format("noop").mode("overwrite").save()


def _loaded(modules: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for module in modules:
        import_module(module)
    yield from batches
