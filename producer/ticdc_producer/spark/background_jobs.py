"""Work that goes on beside other work of the same Spark session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from ticdc_producer.spark.materialize import SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Found = TypeVar("_Found")


class Begin(Protocol):
    """Begins a piece of work; what it gives back waits for the result."""

    def __call__(self, work: Callable[[], _Found], /) -> Callable[[], _Found]: ...


@contextmanager
def aside(spark: SparkSession) -> Iterator[Begin]:
    """Pieces of work beside what the caller does itself, all done when the block ends.

    With small data most of the time goes into planning, which keeps one core busy and leaves the others to
    somebody else. With much data the jobs need them all, and memory: a piece of work is then done when
    its result is asked for.
    """
    if spark.conf.get(SMALL, "false") != "true":
        yield _when_asked
        return
    with ThreadPoolExecutor() as pool:

        def begin(work: Callable[[], _Found]) -> Callable[[], _Found]:
            return pool.submit(work).result

        yield begin


def _when_asked(work: Callable[[], _Found]) -> Callable[[], _Found]:
    return work
