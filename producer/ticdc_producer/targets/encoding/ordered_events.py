"""The ordered events that are encoded: rows of a DataFrame, or drawn where they are encoded; by partition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.model.table import max_row_bytes
from ticdc_producer.protocols.arrow_text import as_int64

_ROWS, _BYTES = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch"
_UNLIMITED = (1 << 31) - 1
_MAX_BYTES = 64 << 20


@contextmanager
def row_limited_batches(spark: SparkSession, catalog: Catalog) -> Iterator[None]:
    """For jobs that pass only row events to workers: if rows are small, limit batches by row count alone.

    Otherwise Spark sums the buffer sizes of a batch at each row, which takes 5 % of a run.

    :param catalog: the tables of the rows.
    """
    before = spark.conf.get(_BYTES, None)
    if not _are_small(catalog, int(spark.conf.get(_ROWS) or 0)):
        yield
        return
    spark.conf.set(_BYTES, _UNLIMITED)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_BYTES)
        else:
            spark.conf.set(_BYTES, before)


def _are_small(catalog: Catalog, rows: int) -> bool:
    """Whether ``rows`` changes of any table, with both images, always stay below the byte limit."""
    sizes = [max_row_bytes(table) for table in catalog.tables]
    return rows > 0 and all(size is not None and 2 * size * rows <= _MAX_BYTES for size in sizes)


class OrderedEvents(ABC):
    """An event stream (shape ``EVENT_STREAM``), one Spark partition per Kafka partition."""

    @property
    @abstractmethod
    def spark(self) -> SparkSession:
        """The session in which the events are computed."""

    @abstractmethod
    def mapped(self, function: BatchFunction, schema: StructType | str, columns: Sequence[str]) -> DataFrame:
        """The result of a function that is called with the events of each partition.

        :param function: gets the events of a task in delivery order.
        :param schema: that of the result.
        :param columns: the columns of ``EVENT_STREAM`` that the function needs.
        :return: the function's rows, in each task in their order.
        """


@dataclass(frozen=True)
class EventFrame(OrderedEvents):
    """The events of a DataFrame.

    :param frame: shape ``EVENT_STREAM``; each task has whole partitions, in delivery order.
    """

    frame: DataFrame

    @property
    def spark(self) -> SparkSession:
        return self.frame.sparkSession

    def mapped(self, function: BatchFunction, schema: StructType | str, columns: Sequence[str]) -> DataFrame:
        return self.frame.select(*columns).mapInArrow(function, schema)


def split_by_partition(
    batches: Iterator[pa.RecordBatch],
) -> Iterator[tuple[tuple[str, int], Iterator[pa.RecordBatch]]]:
    """Each ``(topic, partition)`` with its events, in order.

    :param batches: with ``topic`` and ``partition`` of ``EVENT_STREAM``; the events of each partition are
        contiguous. The events of one partition must be consumed before the next partition is requested.
    """
    runs = (run for batch in batches if batch.num_rows for run in _runs(batch))
    for partition, same in groupby(runs, key=lambda run: run[0]):
        yield partition, (events for _, events in same)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    topics = batch.column("topic").dictionary_encode()
    keys = as_int64(topics.indices), as_int64(batch.column("partition"))
    changes = [np.flatnonzero(np.diff(part)) + 1 for part in keys]
    starts = np.unique(np.concatenate([[0], *changes])).tolist()
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        partition = batch.column("topic")[start].as_py(), batch.column("partition")[start].as_py()
        yield partition, batch.slice(start, end - start)
