"""Statistics of a stream: counts by topic, partition and kind, a small table whatever the stream's size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import PARTITION, latest


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCount:
    """Events of one kind in one partition.

    :param duplicates: events identical to an earlier one of the partition.
    :param last: commit-ts and position of the newest event; None if no event has a commit-ts.
    :param unkeyed: rows of tables without handle key.
    :param unruled: rows of tables whose dispatch rule is unknown.
    :param unhashed: rows that lack a column that their rule hashes.
    :param late: rows or DDLs after a newer row; a candidate for violations, as the next two are.
    :param after_ddl: rows after a newer DDL.
    :param after_insert: deletes after an insert that is at least as new.
    :param untracked: rows of tables whose rows cannot be tracked.
    :param partition_varies: rows of tables whose dispatch rule sends events of one row to several partitions.
    :param without_old: updates and deletes without their whole old image.
    """

    topic: str
    partition: int
    kind: str
    count: int
    duplicates: int
    last: tuple[int, int] | None
    unkeyed: int
    unruled: int
    unhashed: int
    late: int
    after_ddl: int
    after_insert: int
    untracked: int
    partition_varies: int
    without_old: int


@dataclass(frozen=True, slots=True)
class StreamStats:
    """Counts by topic, partition and kind.

    :param transitions: number of invalid transitions, by error (``row_history.TRANSITION_ERRORS``).
    """

    counts: tuple[KindCount, ...]
    transitions: Mapping[str, int] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """Events of a kind in all partitions."""
        return sum(one.count for one in self.counts if one.kind == kind)

    def rows(self, counter: str) -> int:
        """Sum of one of the counters of :class:`KindCount` over the rows."""
        return self.sum("row", counter)

    def sum(self, kind: str, counter: str) -> int:
        """Sum of one of the counters of :class:`KindCount` over the events of a kind."""
        return sum(getattr(one, counter) for one in self.counts if one.kind == kind)

    @property
    def uncovered(self) -> int:
        """Number of partitions without a resolved-ts for some row of their topic."""
        newest = {topic: _last(self, topic, ("row",)) for topic in self.topics}
        behind = 0
        for topic, rows in newest.items():
            resolved = _last(self, topic, ("resolved",))
            partitions = {one.partition for one in self.counts if one.topic == topic}
            row = max((last[0] for last in rows.values()), default=0)
            behind += sum(resolved.get(partition, (0, 0))[0] < row for partition in partitions)
        return behind

    @property
    def kinds(self) -> dict[str, int]:
        """Events by kind; ``duplicate`` counts the duplicates among them."""
        duplicates = sum(one.duplicates for one in self.counts)
        return {kind: self.count(kind) for kind in ("row", "ddl", "resolved", "error")} | {
            "duplicate": duplicates
        }

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have events."""
        return tuple(sorted({one.topic for one in self.counts}))


def collect_stats(events: DataFrame) -> StreamStats:
    """Collects the statistics of the classified events in one aggregation."""
    counted = events.groupBy(*PARTITION, "kind").agg(
        sf.count("*").alias("count"),
        sf.count_if(~sf.col("first_delivery")).alias("duplicates"),
        latest(sf.col("commit_ts").isNotNull()).alias("last"),
        sf.count_if(sf.col("row_key").isNull()).alias("unkeyed"),
        sf.count_if(sf.col("rule").isNull()).alias("unruled"),
        sf.count_if(sf.col("rule").isNotNull() & sf.col("dispatch_key").isNull()).alias("unhashed"),
        sf.count_if(sf.col("newer_row").isNotNull()).alias("late"),
        sf.count_if(sf.col("ddl_before").isNotNull()).alias("after_ddl"),
        sf.count_if(sf.col("after_insert")).alias("after_insert"),
        sf.count_if(sf.col("untracked")).alias("untracked"),
        sf.count_if(sf.expr("not (rule = 'table' or (rule = 'index-value' and hashes_handle))")).alias(
            "partition_varies"
        ),
        sf.count_if(sf.expr("op != 'insert' and old is null")).alias("without_old"),
    )
    counts = (KindCount(**_plain(row)) for row in counted.collect())
    return StreamStats(tuple(sorted(counts, key=lambda one: (one.topic, one.partition, one.kind))))


def _plain(row: Row) -> dict[str, Any]:
    return row.asDict() | {"last": None if row["last"] is None else tuple(row["last"])}


_EVENT = "struct<commit_ts: long, position: long>"
_TOPICS = (
    f"topic string, partitions array<int>, newest_resolved long, last_resolved map<int, {_EVENT}>, "
    f"last_event map<int, {_EVENT}>"
)


def topics(spark: SparkSession, stats: StreamStats, options: VerifyOptions) -> DataFrame:
    """Topics whose number of partitions is known, with the newest events of their partitions."""
    rows = []
    for topic, count in options.partitions.items():
        resolved = _last(stats, topic, ("resolved",))
        newest = max((last[0] for last in resolved.values()), default=None)
        rows.append(
            (topic, list(range(count)), newest, resolved, _last(stats, topic, ("row", "ddl", "resolved")))
        )
    return spark.createDataFrame(rows, _TOPICS)


def _last(stats: StreamStats, topic: str, kinds: tuple[str, ...]) -> dict[int, tuple[int, int]]:
    last: dict[int, tuple[int, int]] = {}
    for one in stats.counts:
        if one.topic == topic and one.kind in kinds and one.last is not None:
            last[one.partition] = max(one.last, last.get(one.partition, one.last))
    return last
