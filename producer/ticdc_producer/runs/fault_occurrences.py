"""Where the faults of a run happened: one row per occurrence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.illegal import DROPPED
from ticdc_producer.faults.plan import SEGMENT_FAULTS
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.messages import FAULT

_PARTITION = ("topic", "partition")
_COLUMNS = ("trap", *_PARTITION, "offset", "until", "events", "commit_ts")
_NOTE = "trap string, offset long, event long, commit_ts long"


MAX_LISTED = 1000
"""Occurrences that a report lists; a golden folder lists all of them."""


@dataclass(frozen=True)
class FaultSummary:
    """The faults that one run injected.

    :param counts: for each trap its id, whether it is legal, and its number of occurrences (``places``).
    :param occurrences: the first occurrences, as rows of :func:`fault_occurrences`.
    """

    counts: tuple[dict[str, Any], ...] = ()
    occurrences: tuple[dict[str, Any], ...] = ()


def fault_occurrences(faulted_events: DataFrame, offsets: DataFrame, encoded: DataFrame) -> DataFrame:
    """One row per fault: trap, topic, partition, offsets ``offset`` to ``until`` of its messages, how many
    events it concerns, and their lowest commit-ts.

    A redelivered segment is one fault in each partition. An event that a fault removed has the offset of the
    next message, NULL at the end of a partition.

    :param faulted_events: the event stream, including the events that faults removed.
    :param offsets: the offsets of the messages that carry the other events (shape ``EVENT_OFFSETS``).
    :param encoded: these messages.
    """
    in_order = Window.partitionBy(*_PARTITION).orderBy(*DELIVERY_KEY)
    in_stream = (F.col("kind") != DROPPED).cast("long")
    number = F.coalesce(F.sum(in_stream).over(in_order.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    faulty = faulted_events.withColumn("event_ordinal", number).where("fault is not null")
    found = faulty.join(
        offsets.select(*_PARTITION, "event_ordinal", "offset"), [*_PARTITION, "event_ordinal"], "left"
    )
    redelivered_fault = F.col("fault").isin(*SEGMENT_FAULTS)
    segments = found.where(redelivered_fault).groupBy(
        F.col("fault").alias("trap"), *_PARTITION, "restart_epoch"
    )
    redelivered = segments.agg(
        F.min("offset").alias("offset"),
        F.max("offset").alias("until"),
        F.count("*").alias("events"),
        F.min("commit_ts").alias("commit_ts"),
    )
    message_faults = _message_faults(encoded).select(*_PARTITION, "fault.*")
    parts = [
        redelivered.select(*_COLUMNS),
        _single_events(found.where(~redelivered_fault).withColumn("trap", F.col("fault"))),
        _single_events(message_faults),
    ]
    return reduce(DataFrame.unionByName, parts).orderBy(*_PARTITION, "commit_ts", "offset", "trap")


def _single_events(faults: DataFrame) -> DataFrame:
    one = F.lit(1).cast("long").alias("events")
    return faults.select("trap", *_PARTITION, "offset", F.col("offset").alias("until"), one, "commit_ts")


def _message_faults(encoded: DataFrame) -> DataFrame:
    notes = encoded.where(F.col("type") == FAULT)
    return notes.select(*_PARTITION, F.from_json(F.col("value").cast("string"), _NOTE).alias("fault"))


def summarize_faults(job: Job, occurrences: DataFrame) -> FaultSummary:
    """The number of occurrences of each trap of a run, possibly 0, and the first occurrences."""
    listed = [row.asDict() for row in occurrences.limit(MAX_LISTED).collect()]
    counted = Counter(occurrence["trap"] for occurrence in listed)
    if len(listed) == MAX_LISTED:
        counted = Counter(
            {row["trap"]: row["count"] for row in occurrences.groupBy("trap").count().collect()}
        )
    counts = tuple(
        {"trap": name, "legal": trap(name).legal, "places": counted[name]}
        for name in job.traps
        if trap(name).mechanism in ("event", "message")
    )
    return FaultSummary(counts, tuple(listed))
