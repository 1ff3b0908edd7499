"""How many rows Spark hands to a Python worker at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.row_size import most_bytes

_ROWS, _BYTES = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch"
_UNLIMITED = (1 << 31) - 1
_MOST_BYTES = 64 << 20


@contextmanager
def limited_by_rows(spark: SparkSession, catalog: Catalog) -> Iterator[None]:
    """For jobs that hand over nothing but row events: if those are small, batches end by their number alone.

    Else Spark adds up the buffers of a batch at each row, which is 5 % of a run.

    :param catalog: of the tables whose rows there are.
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
    """Whether so many changes, each with a row before and one after, have few bytes in any case."""
    sizes = [most_bytes(table) for table in catalog.tables]
    return rows > 0 and all(size is not None and 2 * size * rows <= _MOST_BYTES for size in sizes)
