"""The stream as TiCDC would have sent it: the reference for a stream with illegal faults."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.illegal import DROPPED
from ticdc_producer.runs.change_log import ChangeLog
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.event_offsets import event_offsets


def drop_removed(faulted_events: DataFrame) -> DataFrame:
    """An event stream without the events that faults removed."""
    return faulted_events.where(F.col("kind") != DROPPED)


def expected_stream(
    job: Job, committed: ChangeLog, events: DataFrame, offsets: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """The events of a correct stream and their offsets: with legal faults, without illegal ones.

    :param events: the event stream of ``committed``.
    :param offsets: the offsets of the messages that carry the events (shape ``EVENT_OFFSETS``).
    """
    if job.faults is None:
        return events, offsets
    if any(trap(one.trap).mechanism == "event" for one in job.faults.illegal):
        events = committed.events(job.stream, job.event_faults(illegal=False))
    return events, event_offsets(events, job.encode_plan(skip_refused=True, faults=False))
