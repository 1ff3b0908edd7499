"""The stream as TiCDC would have sent it, beside the one with illegal faults."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.illegal import DROPPED
from ticdc_producer.runs.change_log import Upstream
from ticdc_producer.runs.prepare import Job
from ticdc_producer.targets.encoding.event_offsets import event_places


def sent(planned: DataFrame) -> DataFrame:
    """An event stream without what faults took away."""
    return planned.where(F.col("kind") != DROPPED)


def truth(job: Job, committed: Upstream, events: DataFrame, places: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The events that a right stream has, and where its messages carry them: legal faults, no illegal ones.

    :param events: the event stream of ``committed``; ``places`` where its messages carry them.
    """
    if job.faults is None:
        return events, places
    if any(trap(one.trap).means == "event" for one in job.faults.single):
        events = committed.events(job.stream, job.event_faults(illegal=False))
    return events, event_places(events, job.encode_plan(skip_refused=True, faults=False))
