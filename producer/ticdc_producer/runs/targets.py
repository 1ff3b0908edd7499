"""The targets of a run, chosen by its sink URI and options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ticdc_producer.config import SinkKind
from ticdc_producer.runs.golden_target import GoldenTarget
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_options import RunOptions, check_broker_options
from ticdc_producer.runs.run_storage import StorageTarget
from ticdc_producer.runs.run_topics import check_resumable
from ticdc_producer.runs.target import Target


def checked_targets(job: Job, options: RunOptions) -> tuple[Target, ...]:
    """The targets that a run writes, in this order, after the checks that need no Spark.

    :raises ArgumentError: for an option that has no effect with these targets.
    :raises ProducerError: for a target that the run must not write.
    """
    found = _targets(job, options)
    for target in found:
        target.check()
    return tuple(target for target in found if not target.is_complete)


@contextmanager
def started(targets: Sequence[Target]) -> Iterator[None]:
    """Start, in the background, what the targets need besides Spark, and end it with the block."""
    with ExitStack() as stack:
        for target in targets:
            stack.enter_context(target.started())
        yield


def _targets(job: Job, options: RunOptions) -> list[Target]:
    uri = job.changefeed.sink_uri
    if uri.kind is SinkKind.STORAGE:
        return [StorageTarget(job, options)]
    check_broker_options(uri, options)
    if options.resume:
        check_resumable(job)
    if options.out is None:
        return [KafkaTarget(job, options)]
    golden = GoldenTarget(job, options, options.out)
    return [golden] if uri.embedded and not options.keep else [golden, KafkaTarget(job, options)]
