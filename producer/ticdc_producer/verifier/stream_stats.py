"""How many events of what kind a stream has, by partition: a small table, whatever the stream's size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import PARTITION, latest


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Events of one kind in one partition.

    :param duplicates: events identical to an earlier one of the partition.
    :param last: commit-ts and position of the newest event, None where none has a commit-ts.
    :param unkeyed: rows of tables without handle key.
    :param unruled: rows of tables whose dispatch rule is unknown.
    :param unhashed: rows that lack a column their rule hashes.
    :param late: rows or DDLs behind a newer row; ``barred``: rows behind a newer DDL; ``after_insert``:
        deletes behind an insert as new. Suspects, by which invariants know whether to look closer.
    :param untraced: rows of tables that nobody can follow.
    :param roaming: rows of tables whose dispatch rule moves a row from partition to partition.
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
    barred: int
    after_insert: int
    untraced: int
    roaming: int
    without_old: int


@dataclass(frozen=True, slots=True)
class Census:
    """Tallies by topic, partition and kind.

    :param links: broken links between a row's events, by what is wrong with them (``row_history.BROKEN``).
    """

    tallies: tuple[Tally, ...]
    links: Mapping[str, int] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """Events of a kind in all partitions."""
        return sum(tally.count for tally in self.tallies if tally.kind == kind)

    def rows(self, what: str) -> int:
        """Sum of one of the counters of :class:`Tally` over the rows."""
        return self.sum("row", what)

    def sum(self, kind: str, what: str) -> int:
        """Sum of one of the counters of :class:`Tally` over the events of a kind."""
        return sum(getattr(tally, what) for tally in self.tallies if tally.kind == kind)

    @property
    def uncovered(self) -> int:
        """Partitions that lack a resolved-ts for some row of their topic."""
        newest = {topic: _last(self, topic, ("row",)) for topic in self.topics}
        behind = 0
        for topic, rows in newest.items():
            resolved = _last(self, topic, ("resolved",))
            seen = {tally.partition for tally in self.tallies if tally.topic == topic}
            row = max((last[0] for last in rows.values()), default=0)
            behind += sum(resolved.get(partition, (0, 0))[0] < row for partition in seen)
        return behind

    @property
    def kinds(self) -> dict[str, int]:
        """Events by kind; ``duplicate`` counts the duplicates among them."""
        duplicates = sum(tally.duplicates for tally in self.tallies)
        return {kind: self.count(kind) for kind in ("row", "ddl", "resolved", "error")} | {
            "duplicate": duplicates
        }

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have events."""
        return tuple(sorted({tally.topic for tally in self.tallies}))


def take_census(events: DataFrame) -> Census:
    """One aggregation over the classified events."""
    counted = events.groupBy(*PARTITION, "kind").agg(
        sf.count("*").alias("count"),
        sf.count_if(~sf.col("first")).alias("duplicates"),
        latest(sf.col("commit_ts").isNotNull()).alias("last"),
        sf.count_if(sf.col("row_key").isNull()).alias("unkeyed"),
        sf.count_if(sf.col("rule").isNull()).alias("unruled"),
        sf.count_if(sf.col("rule").isNotNull() & sf.col("dispatch_key").isNull()).alias("unhashed"),
        sf.count_if(sf.col("newer_row").isNotNull()).alias("late"),
        sf.count_if(sf.col("ddl_before").isNotNull()).alias("barred"),
        sf.count_if(sf.col("after_insert")).alias("after_insert"),
        sf.count_if(sf.col("untraced")).alias("untraced"),
        sf.count_if(sf.expr("not (rule = 'table' or (rule = 'index-value' and hashes_handle))")).alias(
            "roaming"
        ),
        sf.count_if(sf.expr("op != 'insert' and old is null")).alias("without_old"),
    )
    tallies = (Tally(**_plain(row)) for row in counted.collect())
    return Census(tuple(sorted(tallies, key=lambda tally: (tally.topic, tally.partition, tally.kind))))


def _plain(row: Row) -> dict[str, Any]:
    return row.asDict() | {"last": None if row["last"] is None else tuple(row["last"])}


_EVENT = "struct<commit_ts: long, position: long>"
_TOPICS = (
    f"topic string, partitions array<int>, newest_resolved long, last_resolved map<int, {_EVENT}>, "
    f"last_event map<int, {_EVENT}>"
)


def topics(spark: SparkSession, census: Census, options: VerifyOptions) -> DataFrame:
    """Topics whose number of partitions is known, each with the last events of its partitions."""
    rows = []
    for topic, count in options.partitions.items():
        resolved = _last(census, topic, ("resolved",))
        newest = max((last[0] for last in resolved.values()), default=None)
        rows.append(
            (topic, list(range(count)), newest, resolved, _last(census, topic, ("row", "ddl", "resolved")))
        )
    return spark.createDataFrame(rows, _TOPICS)


def _last(census: Census, topic: str, kinds: tuple[str, ...]) -> dict[int, tuple[int, int]]:
    last: dict[int, tuple[int, int]] = {}
    for tally in census.tallies:
        if tally.topic == topic and tally.kind in kinds and tally.last is not None:
            last[tally.partition] = max(tally.last, last.get(tally.partition, tally.last))
    return last
