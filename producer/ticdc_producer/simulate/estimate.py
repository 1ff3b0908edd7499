"""How much work a job is, without doing it."""

from __future__ import annotations

from ticdc_producer.engine.choose import Estimate
from ticdc_producer.scenario.dump_step import DumpPlan
from ticdc_producer.scenario.generate.plan import has_expressions
from ticdc_producer.simulate.job import Job

_MANY = 1 << 62


def estimate_of(job: Job) -> Estimate:
    """Return the events and the bytes of a job; those of its ``data`` steps are unknown, and count as
    many."""
    history = job.history
    images = (image for change in history.changes for image in (change.before, change.after) if image)
    generated = max((plan.most_bytes_of_a_row for plan in history.generated), default=0)
    size = 2 * generated * history.row_changes  # an update has two images
    size += sum(len(value) for image in images for value in image if value)
    events = history.row_changes + history.commits * len(job.stream.topic_partitions)
    return Estimate(
        events=_MANY if history.data else events,
        nbytes=size,
        rows=history.row_changes,
        requires_spark=_requires_spark(job),
    )


def _requires_spark(job: Job) -> str:
    """Return what only Spark can do; empty: nothing."""
    if any(not isinstance(step, DumpPlan) for step in job.history.data):
        return "a `data` step"
    if job.history.data:
        return "a large dump"
    return "an `expression` of a generated column" if has_expressions(job.history.generated) else ""
