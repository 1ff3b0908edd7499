"""Compares expected events with the delivered ones: missing, unexpected and out-of-order events.

Events are matched within their partition, by identity and by their columns (names, types, flags). More
copies than expected are duplicates, which at-least-once delivery allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.model.event_line import event_text
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.verifier.identity import fingerprint, identity
from ticdc_producer.verifier.stream import OFFSET_INDEX, PARTITION

MAX_EXAMPLES = 5
"""Maximum number of examples of each kind of difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison; all counts are numbers of events.

    :param duplicates: copies of an expected event beyond the expected number.
    :param out_of_order: events that come before an event that they were expected after.
    :param diff: examples: ``-`` missing, ``+`` unexpected, ``~`` out of order.
    """

    expected: int
    missing: int
    unexpected: int
    duplicates: int
    out_of_order: int
    diff: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (self.missing or self.unexpected or self.out_of_order)

    def to_json(self) -> dict[str, Any]:
        """The fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {"ok": self.ok, **fields, "diff": list(self.diff)}


def compare(expected: DataFrame, actual: DataFrame) -> Comparison:
    """Compare two sets of decoded events.

    :param expected: events of shape ``DECODED``; offsets count from the first expected message.
    :param actual: the delivered events, likewise; messages that do not decode are ignored.
    """
    # Examples are looked up in the expected events, which otherwise would be generated and encoded again.
    with (
        materialized(expected) as wanted,
        materialized(_matched(wanted, actual.where(sf.col("kind") != "error"))) as both,
    ):
        sums = both.agg(
            _total(_wanted()).alias("expected"),
            _total(sf.greatest(_wanted() - _delivered(), sf.lit(0))).alias("missing"),
            _total(sf.when(_wanted() == 0, _delivered()).otherwise(0)).alias("unexpected"),
            _total(sf.when(_wanted() > 0, sf.greatest(_delivered() - _wanted(), sf.lit(0)))).alias(
                "duplicates"
            ),
            _total(sf.col("late").cast("long")).alias("out_of_order"),
        ).collect()[0]
        found = Comparison(**sums.asDict())
        return found if found.ok else _with_diff(found, both, wanted, actual)


def _total(number: Column) -> Column:
    return sf.coalesce(sf.sum(number), sf.lit(0))


def _wanted() -> Column:
    return sf.coalesce("wanted", sf.lit(0))


def _delivered() -> Column:
    return sf.coalesce("delivered", sf.lit(0))


def _matched(expected: DataFrame, actual: DataFrame) -> DataFrame:
    """One row per identity: expected and delivered number of events, and whether it was delivered late."""
    wanted = _counted(expected, "wanted", "wanted_at")
    delivered = _counted(actual, "delivered", "delivered_at")
    both = wanted.join(delivered, [*PARTITION, "identity"], "full_outer")
    before = (
        Window.partitionBy(*PARTITION, sf.col("delivered_at").isNull() | sf.col("wanted_at").isNull())
        .orderBy("wanted_at")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    late = (sf.max("delivered_at").over(before) > sf.col("delivered_at")) & sf.col("wanted_at").isNotNull()
    return both.withColumn("late", sf.coalesce(late, sf.lit(False)))


def _counted(events: DataFrame, count: str, first: str) -> DataFrame:
    named = events.withColumns({name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table")})
    named = named.withColumn("table_id", sf.coalesce("table_id", sf.lit(0)))
    content = fingerprint(identity(), sf.array_sort("columns"))
    grouped = named.withColumn("identity", content).groupBy(*PARTITION, "identity")
    return grouped.agg(sf.count("*").alias(count), sf.min(sf.struct(*OFFSET_INDEX)).alias(first))


def _with_diff(found: Comparison, both: DataFrame, expected: DataFrame, actual: DataFrame) -> Comparison:
    missing = both.where(_wanted() > _delivered()).select(*PARTITION, "wanted_at.*")
    unexpected = both.where(_wanted() == 0).select(*PARTITION, "delivered_at.*")
    late = both.where("late").select(*PARTITION, "delivered_at.*")
    lines = [
        *_examples("-", missing, expected),
        *_examples("+", unexpected, actual),
        *_examples("~", late, actual),
    ]
    diff = tuple(line for _, line in sorted(lines, key=lambda line: line[0]))
    counts = {name: getattr(found, name) for name in found.__slots__ if name != "diff"}
    return Comparison(**counts, diff=diff)


def _examples(sign: str, offsets: DataFrame, events: DataFrame) -> list[tuple[tuple[Any, ...], str]]:
    chosen = offsets.orderBy(*PARTITION, *OFFSET_INDEX).limit(MAX_EXAMPLES)
    rows = events.join(sf.broadcast(chosen), [*PARTITION, *OFFSET_INDEX], "left_semi").collect()
    return [
        ((row["commit_ts"], row["topic"], row["partition"]), f"{sign} {event_text(row.asDict())}")
        for row in rows
    ]
