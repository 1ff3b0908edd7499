"""Computes the timeline of a decoded stream: two aggregations, and a query for the events that findings name.

Consecutive offsets of a partition share a bucket, so that a chart of twenty million messages is as small as
one of twenty thousand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.model.event_line import event_text
from ticdc_producer.reports.timeline import (
    ALL_BUCKETS,
    BUCKETS,
    DRAWN,
    Bucket,
    EventPosition,
    PartitionCount,
    Timeline,
    cut,
)
from ticdc_producer.verifier.finding import Finding

_PARTITION = ("topic", "partition")
_KINDS = ("row", "ddl", "resolved", "error")
_COUNTS = ("messages", "size", "rows", "ddls", "resolved", "errors")


def timeline_query(stream: DataFrame, findings: Sequence[Finding]) -> Timeline:
    """The timeline of decoded events.

    :param stream: shape ``DECODED``; read twice, and once more if findings name events.
    :param findings: their events are reported with all of their values.
    """
    named = {
        (event.topic, event.partition, event.offset, event.index)
        for finding in findings
        for example in finding.examples
        for event in example.events
        if event.offset is not None and event.index is not None
    }
    partitions, sizes = _counts(stream)
    drawn = _drawn(partitions, {position[:2] for position in named})
    return Timeline(
        partitions=partitions,
        buckets=_buckets(stream, drawn),
        sizes=sizes,
        examples=_examples(stream, named) if named else {},
    )


def _counts(stream: DataFrame) -> tuple[tuple[PartitionCount, ...], dict[int, int]]:
    """The counts of each partition, and the message sizes of all partitions together."""
    begins = sf.col("index") == 0
    power = sf.floor(sf.log2(sf.greatest(sf.col("size"), sf.lit(1)))) + 1
    counted = stream.groupBy(*_PARTITION, power.cast("int").alias("power")).agg(
        sf.min("offset").alias("first"),
        sf.max("offset").alias("last"),
        sf.count_if(begins).alias("messages"),
        sf.sum(sf.when(begins, sf.col("size")).otherwise(0)).alias("size"),
        *(sf.count_if(_is(kind)).alias(name) for kind, name in zip(_KINDS, _COUNTS[2:], strict=True)),
    )
    sizes: Counter[int] = Counter()
    parts: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in counted.collect():
        sizes[row["power"]] += row["messages"]
        parts[row["topic"], row["partition"]].append(row.asDict())
    partitions = tuple(_partition(*key, parts[key]) for key in sorted(parts))
    return partitions, dict(sorted(sizes.items()))


def _is(kind: str) -> Column:
    return sf.col("kind") == kind


def _partition(topic: str, partition: int, rows: list[dict[str, Any]]) -> PartitionCount:
    return PartitionCount(
        topic=topic,
        partition=partition,
        first=min(row["first"] for row in rows),
        last=max(row["last"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in _COUNTS},
    )


def _drawn(
    partitions: Sequence[PartitionCount], named: Iterable[tuple[str, int]]
) -> list[tuple[str, int, int, int]]:
    """Topic, partition, first offset and offsets per bucket of the partitions that get a chart."""
    first_named = sorted(partitions, key=lambda one: (one.topic, one.partition) not in set(named))[:DRAWN]
    number = min(BUCKETS, ALL_BUCKETS // max(1, len(first_named)))
    return [
        (one.topic, one.partition, one.first, -(-(one.last - one.first + 1) // number)) for one in first_named
    ]


def _buckets(
    stream: DataFrame, drawn: list[tuple[str, int, int, int]]
) -> dict[tuple[str, int], tuple[Bucket, ...]]:
    spans = stream.sparkSession.createDataFrame(drawn, "topic string, partition int, start long, width long")
    drawn_events = stream.join(sf.broadcast(spans), list(_PARTITION))
    number = sf.floor((sf.col("offset") - sf.col("start")) / sf.col("width"))
    newest = sf.max(sf.when(_is("resolved"), sf.struct("commit_ts", "offset")))
    grouped = drawn_events.groupBy(*_PARTITION, number.alias("number")).agg(
        sf.min("offset").alias("first"),
        sf.min(sf.when(_is("row"), sf.col("commit_ts"))).alias("lowest"),
        sf.max(sf.when(_is("row"), sf.col("commit_ts"))).alias("highest"),
        sf.min(sf.when(_is("ddl"), sf.col("offset"))).alias("ddl_offset"),
        newest.alias("resolved"),
        sf.min(sf.when(_is("error"), sf.col("offset"))).alias("error_offset"),
    )
    buckets: dict[tuple[str, int], list[Bucket]] = defaultdict(list)
    for row in grouped.collect():
        fields = {name: row[name] for name in Bucket.__slots__}
        fields["resolved"] = None if row["resolved"] is None else tuple(row["resolved"])
        buckets[row["topic"], row["partition"]].append(Bucket(**fields))
    return {key: tuple(sorted(buckets[key], key=lambda one: one.first)) for key in sorted(buckets)}


def _examples(stream: DataFrame, named: set[EventPosition]) -> dict[EventPosition, str]:
    positions = stream.sparkSession.createDataFrame(
        sorted(named), "topic string, partition int, offset long, index int"
    )
    found = stream.join(sf.broadcast(positions), ["topic", "partition", "offset", "index"], "left_semi")
    return {
        (row["topic"], row["partition"], row["offset"], row["index"]): cut(event_text(row.asDict()))
        for row in found.collect()
    }
