"""Rows that several Spark jobs read, computed once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SMALL = "spark.ticdc-producer.small"
"""Session setting: data is small, and stays on this machine."""


@contextmanager
def kept(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, computed once for all jobs inside.

    In a small session its plan ends there, too: what is built on it is planned without all that made it,
    which is a third of the work (docs/decisions/0003). Not on a cluster: what an executor has checkpointed is
    lost with it.

    :param frame: of a session that is set ``SMALL``, or any other.
    """
    from pyspark import StorageLevel

    if frame.sparkSession.conf.get(SMALL, "false") == "true":
        yield frame.localCheckpoint(eager=False)
        return
    persisted = frame.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield persisted
    finally:
        persisted.unpersist()
