"""Where the faults of a run happened: a line per place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.illegal import DROPPED
from ticdc_producer.faults.plan import AGAIN
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.messages import FAULT

_PARTITION = ("topic", "partition")
_COLUMNS = ("trap", *_PARTITION, "offset", "until", "events", "commit_ts")
_NOTE = "trap string, offset long, event long, commit_ts long"


MOST_SHOWN = 1000
"""So many places are told one by one in a report; a folder has them all."""


@dataclass(frozen=True)
class Faults:
    """What went wrong on purpose in one run.

    :param counts: of each trap its id, whether it is legal, and how many places it has.
    :param places: the first places, as :func:`fault_places` tells them.
    """

    counts: tuple[dict[str, Any], ...] = ()
    places: tuple[dict[str, Any], ...] = ()


def fault_places(planned: DataFrame, places: DataFrame, encoded: DataFrame) -> DataFrame:
    """One row per fault: trap, topic, partition, offsets ``offset`` to ``until`` of its messages, how many
    events it concerns, and their lowest commit-ts.

    What is delivered again is one fault in each partition. What a fault took away has the offset of the next
    message, NULL at the end.

    :param planned: the event stream with what faults took away; ``encoded`` the messages of the rest.
    :param places: where they carry its events (shape ``EVENT_PLACES``).
    """
    in_order = Window.partitionBy(*_PARTITION).orderBy(*DELIVERY_KEY)
    kept = (F.col("kind") != DROPPED).cast("long")
    number = F.coalesce(F.sum(kept).over(in_order.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    faulty = planned.withColumn("event", number).where("fault is not null")
    found = faulty.join(places.select(*_PARTITION, "event", "offset"), [*_PARTITION, "event"], "left")
    again = F.col("fault").isin(*AGAIN)
    stretches = found.where(again).groupBy(F.col("fault").alias("trap"), *_PARTITION, "epoch")
    of_stretches = stretches.agg(
        F.min("offset").alias("offset"),
        F.max("offset").alias("until"),
        F.count("*").alias("events"),
        F.min("commit_ts").alias("commit_ts"),
    )
    told = _of_messages(encoded).select(*_PARTITION, "told.*")
    frames = [
        of_stretches.select(*_COLUMNS),
        _single(found.where(~again).withColumn("trap", F.col("fault"))),
        _single(told),
    ]
    return reduce(DataFrame.unionByName, frames).orderBy(*_PARTITION, "commit_ts", "offset", "trap")


def _single(faults: DataFrame) -> DataFrame:
    one = F.lit(1).cast("long").alias("events")
    return faults.select("trap", *_PARTITION, "offset", F.col("offset").alias("until"), one, "commit_ts")


def _of_messages(encoded: DataFrame) -> DataFrame:
    notes = encoded.where(F.col("type") == FAULT)
    return notes.select(*_PARTITION, F.from_json(F.col("value").cast("string"), _NOTE).alias("told"))


def summed_faults(job: Job, places: DataFrame) -> Faults:
    """How many places each trap of a run has, 0 for one that found none; and the first of them."""
    shown = [row.asDict() for row in places.limit(MOST_SHOWN).collect()]
    there = Counter(place["trap"] for place in shown)
    if len(shown) == MOST_SHOWN:
        there = Counter({row["trap"]: row["count"] for row in places.groupBy("trap").count().collect()})
    counts = tuple(
        {"trap": name, "legal": trap(name).legal, "places": there[name]}
        for name in job.traps
        if trap(name).means in ("event", "message")
    )
    return Faults(counts, tuple(shown))
