"""Where the faults of a run happened: a line per place."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from producer.faults.catalogue import trap
from producer.faults.illegal import DROPPED
from producer.faults.plan import AGAIN
from producer.jobs.events import numbered, places
from producer.jobs.prepare import Job
from producer.jobs.truth import sent
from producer.sink.messages import FAULT

_PARTITION = ("topic", "partition")
_COLUMNS = ("trap", *_PARTITION, "offset", "until", "events", "commit_ts")
_NOTE = "trap string, offset long, event long, commit_ts long"


def fault_places(planned: DataFrame, encoded: DataFrame) -> DataFrame:
    """One row per fault: trap, topic, partition, offsets ``offset`` to ``until`` of its messages, how many
    events it concerns, and their lowest commit-ts.

    What is delivered again is one fault in each partition. What a fault took away has no offset; for a lost
    message it is that of the next one.

    :param planned: the event stream with what faults took away; ``encoded`` what became of the rest.
    """
    kept = numbered(sent(planned)).where("fault is not null")
    found = kept.join(places(encoded), [*_PARTITION, "event"])
    again = found.where(F.col("fault").isin(*AGAIN)).groupBy("fault", *_PARTITION, "epoch")
    stretches = again.agg(
        F.min("offset").alias("offset"),
        F.max("offset").alias("until"),
        F.count("*").alias("events"),
        F.min("commit_ts").alias("commit_ts"),
    )
    one, until = F.lit(1).cast("long").alias("events"), F.col("offset").alias("until")
    single = found.where(~F.col("fault").isin(*AGAIN))
    nowhere = F.lit(None).cast("long")
    gone = planned.where(F.col("kind") == DROPPED)
    frames = [
        stretches.withColumn("trap", F.col("fault")).select(*_COLUMNS),
        single.select(F.col("fault").alias("trap"), *_PARTITION, "offset", until, one, "commit_ts"),
        gone.select(
            F.col("fault").alias("trap"),
            *_PARTITION,
            nowhere.alias("offset"),
            nowhere.alias("until"),
            one,
            "commit_ts",
        ),
        _of_messages(encoded).select(*_PARTITION, "told.*").where("trap is not null").select(
            "trap", *_PARTITION, "offset", until, one, "commit_ts"
        ),
    ]  # fmt: skip
    whole = frames[0].unionByName(frames[1]).unionByName(frames[2]).unionByName(frames[3])
    return whole.orderBy(*_PARTITION, "commit_ts", "offset", "trap")


def _of_messages(encoded: DataFrame) -> DataFrame:
    notes = encoded.where(F.col("type") == FAULT)
    return notes.select(*_PARTITION, F.from_json(F.col("value").cast("string"), _NOTE).alias("told"))


def counted_faults(job: Job, places: DataFrame) -> list[dict[str, Any]]:
    """How many places each trap of a run has; 0 for one that found none."""
    there = {row["trap"]: row["count"] for row in places.groupBy("trap").count().collect()}
    return [
        {"trap": name, "legal": trap(name).legal, "places": there.get(name, 0)}
        for name in job.traps
        if trap(name).means in ("event", "message")
    ]
