"""Expected events against those that came: what is missing, what nobody expected, what is out of order.

Events are matched inside their partition, by identity and by what they say of their columns. More copies
than expected are duplicates, which at-least-once delivery allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.model.event_line import event_text
from ticdc_producer.spark.materialize import kept
from ticdc_producer.verifier.identity import fingerprint, identity
from ticdc_producer.verifier.stream import PARTITION, PLACE

SHOWN = 5
"""Examples of each kind of difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The outcome; all counts are events.

    :param duplicates: copies beyond what was expected of an event that was.
    :param out_of_order: events that stand before one they were expected behind.
    :param diff: examples, ``-`` expected and missing, ``+`` come and not expected, ``~`` out of order.
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

    :param expected: columns of ``DECODED``, offsets counted from the first expected message.
    :param actual: likewise, as the topic has them; damaged messages are nobody's expected event.
    """
    # Examples of a difference are looked up in what was expected, which would be drawn and encoded once more.
    with kept(expected) as wanted, kept(_matched(wanted, actual.where(sf.col("kind") != "error"))) as both:
        sums = both.agg(
            _total(_wanted()).alias("expected"),
            _total(sf.greatest(_wanted() - _there(), sf.lit(0))).alias("missing"),
            _total(sf.when(_wanted() == 0, _there()).otherwise(0)).alias("unexpected"),
            _total(sf.when(_wanted() > 0, sf.greatest(_there() - _wanted(), sf.lit(0)))).alias("duplicates"),
            _total(sf.col("late").cast("long")).alias("out_of_order"),
        ).collect()[0]
        found = Comparison(**sums.asDict())
        return found if found.ok else _with_diff(found, both, wanted, actual)


def _total(number: Column) -> Column:
    return sf.coalesce(sf.sum(number), sf.lit(0))


def _wanted() -> Column:
    return sf.coalesce("wanted", sf.lit(0))


def _there() -> Column:
    return sf.coalesce("there", sf.lit(0))


def _matched(expected: DataFrame, actual: DataFrame) -> DataFrame:
    """One row per identity: how often it was wanted, how often it came, whether it came too late."""
    wanted = _counted(expected, "wanted", "wanted_at")
    there = _counted(actual, "there", "there_at")
    both = wanted.join(there, [*PARTITION, "identity"], "full_outer")
    before = (
        Window.partitionBy(*PARTITION, sf.col("there_at").isNull() | sf.col("wanted_at").isNull())
        .orderBy("wanted_at")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    late = (sf.max("there_at").over(before) > sf.col("there_at")) & sf.col("wanted_at").isNotNull()
    return both.withColumn("late", sf.coalesce(late, sf.lit(False)))


def _counted(events: DataFrame, count: str, first: str) -> DataFrame:
    named = events.withColumns({name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table")})
    named = named.withColumn("table_id", sf.coalesce("table_id", sf.lit(0)))
    told = fingerprint(identity(), sf.array_sort("columns"))
    grouped = named.withColumn("identity", told).groupBy(*PARTITION, "identity")
    return grouped.agg(sf.count("*").alias(count), sf.min(sf.struct(*PLACE)).alias(first))


def _with_diff(found: Comparison, both: DataFrame, expected: DataFrame, actual: DataFrame) -> Comparison:
    missing = both.where(_wanted() > _there()).select(*PARTITION, "wanted_at.*")
    unexpected = both.where(_wanted() == 0).select(*PARTITION, "there_at.*")
    late = both.where("late").select(*PARTITION, "there_at.*")
    lines = [
        *_examples("-", missing, expected),
        *_examples("+", unexpected, actual),
        *_examples("~", late, actual),
    ]
    diff = tuple(line for _, line in sorted(lines, key=lambda line: line[0]))
    counts = {name: getattr(found, name) for name in found.__slots__ if name != "diff"}
    return Comparison(**counts, diff=diff)


def _examples(sign: str, places: DataFrame, events: DataFrame) -> list[tuple[tuple[Any, ...], str]]:
    chosen = places.orderBy(*PARTITION, *PLACE).limit(SHOWN)
    rows = events.join(sf.broadcast(chosen), [*PARTITION, *PLACE], "left_semi").collect()
    return [
        ((row["commit_ts"], row["topic"], row["partition"]), f"{sign} {event_text(row.asDict())}")
        for row in rows
    ]
