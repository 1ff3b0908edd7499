"""How many events of what kind a stream has, by partition: a small table, whatever the stream's size."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import functions as sf

from producer.verify.stream import PARTITION, Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Events of one kind in one partition.

    :param duplicates: events identical to an earlier one of the partition.
    :param last_ts: highest commit-ts among them, None where none has one.
    :param unkeyed: rows of tables without handle key.
    :param unruled: rows of tables whose dispatch rule is unknown.
    :param unhashed: rows that lack a column their rule hashes.
    """

    topic: str
    partition: int
    kind: str
    count: int
    duplicates: int
    last_ts: int | None
    unkeyed: int
    unruled: int
    unhashed: int


@dataclass(frozen=True, slots=True)
class Census:
    """Tallies by topic, partition and kind."""

    tallies: tuple[Tally, ...]

    def count(self, kind: str) -> int:
        """Events of a kind in all partitions."""
        return sum(tally.count for tally in self.tallies if tally.kind == kind)

    def rows(self, what: str) -> int:
        """Sum of one of the row counters of :class:`Tally`."""
        return sum(getattr(tally, what) for tally in self.tallies if tally.kind == "row")

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


def take_census(stream: Stream) -> Census:
    """One aggregation over the stream."""
    counted = stream.events.groupBy(*PARTITION, "kind").agg(
        sf.count("*").alias("count"),
        sf.count_if(~sf.col("first")).alias("duplicates"),
        sf.max("commit_ts").alias("last_ts"),
        sf.count_if(sf.col("row_key").isNull()).alias("unkeyed"),
        sf.count_if(sf.col("rule").isNull()).alias("unruled"),
        sf.count_if(sf.col("rule").isNotNull() & sf.col("dispatch_key").isNull()).alias("unhashed"),
    )
    tallies = (Tally(**row.asDict()) for row in counted.collect())
    return Census(tuple(sorted(tallies, key=lambda tally: (tally.topic, tally.partition, tally.kind))))
