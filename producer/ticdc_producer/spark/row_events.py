"""The row events of a change log of any size.

Spark partitions and sorts; the rules are functions of ``pipeline``. The first shuffle brings together the
changes of a transaction to one row.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.dataframes import EVENT_STREAM
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.whole_groups import whole_groups
from ticdc_producer.pipeline import event_stream
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.pipeline.go_sort import renumbered_keys
from ticdc_producer.pipeline.mutations import IN_KEY_ORDER, KEY

_COMMITTED = from_arrow_schema(
    pa.schema(
        [
            *(field for field in CHANGE_LOG if not field.name.startswith("old_")),
            pa.field("commit_ts", pa.int64()),
        ]
    )
)
_NEW_KEYS = "commit_ts long, txn_order_key binary, new_txn_order_key binary"


def row_events(changes: DataFrame, plan: StreamPlan) -> DataFrame:
    """The row events of the stream (shape ``EVENT_STREAM``), unordered.

    :param changes: shape ``CHANGE_LOG``, in any order.
    """

    def committed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (event_stream.committed(batch, plan) for batch in batches)

    def events(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (event_stream.row_events(batch, plan) for batch in whole_groups(batches, KEY))

    by_key = changes.mapInArrow(committed, _COMMITTED).repartition(*KEY).sortWithinPartitions(*IN_KEY_ORDER)
    rows = by_key.mapInArrow(events, EVENT_STREAM)
    return _in_go_sort_order(rows, plan) if plan.sorts_again and plan.large_transactions else rows


def _in_go_sort_order(rows: DataFrame, plan: StreamPlan) -> DataFrame:
    """Order large transactions as Go's unstable sort does: an exchange of their keys alone."""
    spark = rows.sparkSession
    keys = F.broadcast(
        spark.createDataFrame(sorted(plan.large_transactions), "commit_ts long, table_id long")
    )
    wanted = rows.join(keys, ["commit_ts", "table_id"], "left_semi").select(
        "commit_ts", "table_id", "txn_order_key"
    )
    new_keys = wanted.groupBy("commit_ts", "table_id").applyInArrow(_renumbered, _NEW_KEYS)
    joined = rows.join(F.broadcast(new_keys), ["commit_ts", "txn_order_key"], "left")
    key = F.coalesce("new_txn_order_key", "txn_order_key")
    return joined.withColumn("txn_order_key", key).select(*rows.columns)


def _renumbered(group: pa.Table) -> pa.Table:
    """The old and new ``txn_order_key`` of each row of one table in one transaction."""
    keys = group["txn_order_key"].to_pylist()
    new_keys = pa.array(renumbered_keys(keys), pa.binary())
    columns = [group["commit_ts"], group["txn_order_key"], new_keys]
    return pa.Table.from_arrays(columns, names=["commit_ts", "txn_order_key", "new_txn_order_key"])
