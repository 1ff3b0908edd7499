"""Spark jobs in background threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from ticdc_producer.spark.materialize import LOCAL_SMALL_DATA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Result = TypeVar("_Result")


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
