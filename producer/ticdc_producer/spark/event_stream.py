"""The ordered event stream of row events of any size: with DDL and resolved events, and with faults.

The key is unique, so the order is the same on every run, independent of the parallelism.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from ticdc_producer.faults.event_columns import chosen
from ticdc_producer.faults.legal import moved_tables
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.dataframes import EVENT_STREAM
from ticdc_producer.model.shapes import DELIVERY_KEY
from ticdc_producer.pipeline.control_events import regular_resolved_events
from ticdc_producer.pipeline.dispatch import TopicPartitions
from ticdc_producer.pipeline.event_stream import StreamPlan, single_control_events
from ticdc_producer.pipeline.row_images import numbers


def partition_index(topic_partitions: TopicPartitions, topic: Column, partition: Column) -> Column:
    """The partition index of a topic and partition."""
    topic_index = F.array_position(F.lit(list(topic_partitions.topics)), topic) - F.lit(1)
    return (topic_index * F.lit(topic_partitions.partitions) + partition).cast("int")


def topic_and_partition(topic_partitions: TopicPartitions, index: Column) -> dict[str, Column]:
    """``topic`` and ``partition`` of a partition index."""
    topics = F.lit(list(topic_partitions.topics))
    return {
        "topic": F.get(topics, (index / topic_partitions.partitions).cast("int")),
        "partition": (index % topic_partitions.partitions).cast("int"),
    }


_QUICK_KEY = ("deliver_after_ts", "kind_order", "table_id", "txn_order_key")
"""The delivery key without the columns that only faults set. ``txn_order_key`` begins with the table id;
comparing the number first is much faster."""


def order(events: DataFrame, topic_partitions: TopicPartitions, *, faultless: bool = False) -> DataFrame:
    """Sort events by the delivery key; Spark partition ``n`` has ``partition_index`` ``n``.

    :param events: with ``partition_index``, the delivery key and any other columns; in any order.
    :return: the same columns.
    :param faultless: whether the events have no faults: one restart epoch, one delivery each, and the
        ``txn_order_key`` of ``split``. The sort is faster then: Spark compares the first column as a number
        before it looks at rows, which helps only if that column differs.
    """
    # Columns that follow from the partition index, or are constant, need not be shuffled.
    derived = topic_and_partition(topic_partitions, F.col("partition_index"))
    if faultless:
        derived |= {name: F.lit(0) for name in ("restart_epoch", "delivery_no")}
    # repartition(n, col) hashes and may put two Kafka partitions into one task.
    moved = events.drop(*derived).repartitionById(len(topic_partitions), "partition_index")
    ordered = moved.sortWithinPartitions(*(_QUICK_KEY if faultless else DELIVERY_KEY))
    return ordered.withColumns(derived).select(*events.columns)


DRAWN_TABLES = "segment long, hash long, table_id long"
"""The tables that are drawn among the events of a task."""
_RESERVED = "fault_number"


def ordered_events(rows: DataFrame, plan: StreamPlan, faults: EventFaults | None = None) -> DataFrame:
    """The ordered event stream (shape ``EVENT_STREAM``), one Spark partition per Kafka partition.

    :param rows: row events (shape ``EVENT_STREAM``), unordered.
    :param faults: injects faults; evaluates the rows several times. Removed events remain, with the kind
        ``illegal_event.DROPPED``.
    """
    events = rows.unionByName(_control_events(rows.sparkSession, plan))
    if faults is None:
        return order(events, plan.topic_partitions, faultless=True)
    ordered = order(_with_faults(events, faults), plan.topic_partitions)
    return ordered.mapInArrow(faults.reordered, EVENT_STREAM) if faults.reorders else ordered


def _control_events(spark: SparkSession, plan: StreamPlan) -> DataFrame:
    def resolved(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            every = numbers(batch.column("id"))
            yield regular_resolved_events(plan.resolved, every, plan.active_topics, plan.topic_partitions)

    single = spark.createDataFrame(pa.Table.from_batches(single_control_events(plan)))
    if not plan.resolved.regular:
        return single
    return single.unionByName(spark.range(plan.resolved.regular).mapInArrow(resolved, EVENT_STREAM))


def _with_faults(events: DataFrame, faults: EventFaults) -> DataFrame:
    moved = _moved_tables(events, faults)

    def legal(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield faults.with_legal_faults(chosen(batch, ~faults.reserved(batch)), moved)

    faulty = events.mapInArrow(legal, EVENT_STREAM)
    return faulty.unionByName(_with_illegal_faults(events, faults)) if faults.plan.reserved else faulty


def _moved_tables(events: DataFrame, faults: EventFaults) -> dict[int, int]:
    if not faults.moves_tables:
        return {}
    return drawn_tables(events.mapInArrow(partial(tables_by_segment, faults), DRAWN_TABLES))


def tables_by_segment(faults: EventFaults, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The table that is drawn among some events in each segment whose trap concerns one table.

    :param batches: shape ``EVENT_STREAM``, in any order.
    :return: :data:`DRAWN_TABLES`.
    """
    unreserved = (chosen(batch, ~faults.reserved(batch)) for batch in batches)
    found = [(segment, *drawn) for segment, drawn in moved_tables(unreserved, faults.plan).items()]
    columns = [pa.array(column, pa.int64()) for column in zip(*found, strict=True)] if found else []
    if columns:
        yield pa.record_batch(columns, names=["segment", "hash", "table_id"])


def drawn_tables(drawn: DataFrame) -> dict[int, int]:
    """The table that is drawn in each segment among those that the tasks have drawn.

    :param drawn: :data:`DRAWN_TABLES`.
    """
    found = drawn.groupBy("segment").agg(F.min_by("table_id", "hash").alias("table"))
    return {row["segment"]: row["table"] for row in found.collect()}  # one row per segment


def _with_illegal_faults(events: DataFrame, faults: EventFaults) -> DataFrame:
    """The events of the reserved segments: those of one fault are brought together."""

    def reserved(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = chosen(batch, faults.reserved(batch))
            number = pa.array(faults.fault_numbers(found), pa.int64())
            yield found.append_column(_RESERVED, number)

    def injected(group: pa.Table) -> pa.Table:
        number = group[_RESERVED][0].as_py()
        (batch,) = group.drop_columns([_RESERVED]).combine_chunks().to_batches()
        return pa.Table.from_batches([faults.with_illegal_fault(batch, number)])

    numbered = events.mapInArrow(
        reserved, StructType([*EVENT_STREAM.fields, StructField(_RESERVED, LongType())])
    )
    return numbered.groupBy(_RESERVED).applyInArrow(injected, EVENT_STREAM)
