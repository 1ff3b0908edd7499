"""Selects the targets of a run by its sink URI and options.

The module of a target is imported only for runs with this target: a folder needs no Kafka client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ticdc_producer.config import SinkKind
from ticdc_producer.runs.run_options import RunOptions, check_sink_options
from ticdc_producer.runs.targets.golden import GoldenTarget
from ticdc_producer.runs.targets.target import Target
from ticdc_producer.simulate.job import Job


def checked_targets(job: Job, options: RunOptions) -> tuple[Target, ...]:
    """Return the targets that a run writes, in this order, after the checks that need no Spark.

    :raises ProducerError: for a target that the run must not write.
    """
    check_sink_options(job, options)
    targets = _targets(job, options)
    for target in targets:
        target.check()
    return tuple(target for target in targets if not target.is_complete)


@contextmanager
def started(targets: Sequence[Target]) -> Iterator[None]:
    """Start the services of the targets, such as a broker, in the background; end them with the block."""
    with ExitStack() as stack:
        for target in targets:
            stack.enter_context(target.started())
        yield


def _targets(job: Job, options: RunOptions) -> list[Target]:
    uri = job.changefeed.sink_uri
    if uri.kind is SinkKind.STORAGE:
        from ticdc_producer.runs.targets.storage import StorageTarget

        return [StorageTarget(job, options)]
    if options.resume:
        from ticdc_producer.runs.targets.run_topics import check_resumable

        check_resumable(job)
    golden = [] if options.out is None else [GoldenTarget(job, options, options.out)]
    if golden and uri.embedded and not options.keep:
        return [*golden]
    from ticdc_producer.runs.targets.kafka import KafkaTarget

    return [*golden, KafkaTarget(job, options)]
