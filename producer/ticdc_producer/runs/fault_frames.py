"""Where the faults of a stream of any size happened, and the stream as TiCDC would have sent it."""

from __future__ import annotations

from collections import Counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.illegal_event import DROPPED
from ticdc_producer.runs.change_log import RunChangeLog
from ticdc_producer.runs.fault_occurrences import MAX_LISTED, FaultSummary, summarize_faults
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.encoded_stream import FAULT
from ticdc_producer.targets.encoding.ordered_events import EventFrame, OrderedEvents

_OCCURRENCE = "trap string, topic string, partition int, offset long, until long, events long, commit_ts long"


def fault_occurrences(entries: DataFrame) -> DataFrame:
    """One row per fault, in order: the fields of ``runs.fault_occurrences``.

    :param entries: the encoded stream, with its faults (shape ``ENCODED``).
    """
    found = F.from_json(F.col("value").cast("string"), _OCCURRENCE)
    occurrences = entries.where(F.col("type") == FAULT).select(found.alias("fault")).select("fault.*")
    return occurrences.orderBy("topic", "partition", "commit_ts", "offset", "trap")


def summarized(job: Job, occurrences: DataFrame) -> FaultSummary:
    """The number of occurrences of each trap, and the first occurrences.

    :param occurrences: the result of :func:`fault_occurrences`, in order.
    """
    listed = [row.asDict() for row in occurrences.limit(MAX_LISTED).collect()]
    if len(listed) < MAX_LISTED:
        return summarize_faults(job, listed)
    counted = occurrences.groupBy("trap").count().collect()  # one row per trap
    return summarize_faults(job, listed, Counter({row["trap"]: row["count"] for row in counted}))


def sent_events(job: Job, faulted_events: OrderedEvents) -> OrderedEvents:
    """An event stream without the events that faults removed."""
    if job.faults is None or not isinstance(faulted_events, EventFrame):
        return faulted_events
    return EventFrame(faulted_events.frame.where(F.col("kind") != DROPPED))


def events_of_a_correct_stream(
    job: Job, committed: RunChangeLog, faulted_events: OrderedEvents
) -> OrderedEvents:
    """The event stream of ``committed`` with legal faults, without illegal ones.

    :param faulted_events: the event stream with all faults.
    """
    if job.faults is not None and any(trap(one.trap).mechanism == "event" for one in job.faults.illegal):
        return committed.events(job.stream, job.event_faults(illegal=False))
    return sent_events(job, faulted_events)
