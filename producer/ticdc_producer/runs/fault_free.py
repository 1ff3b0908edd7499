"""The stream as TiCDC would have sent it: the reference for a stream with illegal faults."""

from __future__ import annotations

from pyspark.sql import functions as F

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.illegal_event import DROPPED
from ticdc_producer.runs.change_log import ChangeLog
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.ordered_events import EventFrame, OrderedEvents


def sent_events(job: Job, faulted_events: OrderedEvents) -> OrderedEvents:
    """An event stream without the events that faults removed."""
    if job.faults is None or not isinstance(faulted_events, EventFrame):
        return faulted_events
    return EventFrame(faulted_events.frame.where(F.col("kind") != DROPPED))


def events_of_a_correct_stream(
    job: Job, committed: ChangeLog, faulted_events: OrderedEvents
) -> OrderedEvents:
    """The event stream of ``committed`` with legal faults, without illegal ones.

    :param faulted_events: the event stream with all faults.
    """
    if job.faults is not None and any(trap(one.trap).mechanism == "event" for one in job.faults.illegal):
        return committed.events(job.stream, job.event_faults(illegal=False))
    return sent_events(job, faulted_events)
