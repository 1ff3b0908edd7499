"""Stage before writing: determine the directory of every row event."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Batches, Dataset, Order
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.shapes import DELIVERY_KEY, EVENT_STREAM
from ticdc_producer.targets.storage.plan import StoragePlan

_FORMATS = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_DIRECTORY = ("topic",)


def in_directories(rows: Dataset, plan: StoragePlan, catalog: Catalog, changefeed: Changefeed) -> Dataset:
    """Return row events with their directory as ``topic``, in commit order, those of a directory together.

    The date of a transaction is that of its commit, in the changefeed's time zone; TiCDC uses the date of
    writing.

    :param rows: row events (shape ``EVENT_STREAM``), unordered.
    """
    with_directory = rows.map(partial(_with_directories, plan, catalog, changefeed), EVENT_STREAM)
    return with_directory.shuffle(_DIRECTORY, Order((*_DIRECTORY, *DELIVERY_KEY)))


def _with_directories(
    plan: StoragePlan, catalog: Catalog, changefeed: Changefeed, batches: Batches
) -> Batches:
    folders = pa.array([plan.folders.get(version) for version in range(len(catalog.tables))], pa.string())
    for batch in batches:
        versions = pc.fill_null(batch.column("table_version"), -1)
        known = batch.filter(pc.is_in(versions, pa.array([*plan.folders], pa.int32())))
        parts = [folders.take(known.column("table_version"))]
        if changefeed.enable_partition_separator:
            parts.append(_partition_ids(known, catalog))
        if changefeed.date_separator != "none":
            parts.append(_dates(known.column("commit_ts"), changefeed))
        directory = pc.binary_join_element_wise(*parts, "/", null_handling="skip")
        zeros = pa.array(np.zeros(known.num_rows, np.int32))
        columns = {"topic": directory, "partition": zeros, "partition_index": zeros}
        yield pa.record_batch(
            [columns.get(field.name, known.column(field.name)) for field in EVENT_STREAM], schema=EVENT_STREAM
        )


def _partition_ids(rows: pa.RecordBatch, catalog: Catalog) -> pa.Array:
    """Return the physical id of each row of a partitioned table as text; NULL for another table."""
    partitioned = pa.array([bool(table.partitions) for table in catalog.tables], pa.bool_())
    ids = rows.column("table_id").cast(pa.string())
    return pc.if_else(partitioned.take(rows.column("table_version")), ids, None)


def _dates(commit_ts: pa.Array, changefeed: Changefeed) -> pa.Array:
    """Return the date of each commit in the changefeed's time zone."""
    milliseconds = pc.shift_right(commit_ts, tso.LOGICAL_BITS)
    local = milliseconds.cast(pa.timestamp("ms", changefeed.time_zone))
    return pc.strftime(local, _FORMATS[changefeed.date_separator])
