"""The topics of a Kafka as the target of a run, and its progress by their end offsets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

from ticdc_producer.config.storage import check_claim_storage
from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded.broker import StartingKafka
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.rows.origin import Origin
from ticdc_producer.runs.run_report import OnProgress, Progress, RunReport
from ticdc_producer.runs.targets.run_topics import RunTopics, prepare_topics
from ticdc_producer.runs.targets.target import MessageTarget
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import merged_counts
from ticdc_producer.simulate.job import with_registered_schemas
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.decode import event_rows
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.targets.kafka.read import OffsetRange, read
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.verifier.messages import Messages

INTERVAL_S = 1.0
"""Seconds between two measurements."""

Span: TypeAlias = tuple[int, int]
"""TSOs of the first and the last commit of a run."""


@contextmanager
def report_progress(target: RunTopics, total: int | Span, on_progress: OnProgress | None) -> Iterator[None]:
    """Report the progress of writing while the block runs, and at its end.

    A known total is reported before the first measurement.

    :param total: number of messages of the run, or the time stamps between which they are.
    :param on_progress: called from a separate thread, the last time from this one; None: no reports.
    """
    if on_progress is None:
        yield
        return
    finished = threading.Event()

    def report() -> None:
        with suppress(ProducerError):  # a failed measurement does not stop the run
            on_progress(current_progress(target, total))

    def poll() -> None:
        while not finished.wait(INTERVAL_S):
            report()

    if isinstance(total, int):
        on_progress(Progress(0, total))
    thread = threading.Thread(target=poll, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        finished.set()
        thread.join()
    report()


def current_progress(target: RunTopics, total: int | Span) -> Progress:
    """Measure the progress once.

    :param total: as for ``report_progress``.
    :raises BrokerError: if the broker does not answer.
    """
    ends = Topics(target.brokers).ends(target.partitions)
    written = sum(end - target.starts[partition] for partition, end in ends.items())
    written_ts = _written_ts(target, ends)
    return Progress(
        written,
        total if isinstance(total, int) else _extrapolate(written, written_ts, total),
        min(written_ts),
    )


def _written_ts(target: RunTopics, ends: Offsets) -> list[int]:
    """Return the TSO up to which each partition is written; 0 for an empty one."""
    options = target.changefeed.codec_options()
    decoder = registry.decoder(target.changefeed.protocol, options)
    return [
        0
        if end == target.starts[topic, n]
        else _commit_ts(
            target.brokers, OffsetRange(topic=topic, partition=n, start=end - 1, end=end), decoder
        )
        for (topic, n), end in ends.items()
    ]


def _extrapolate(written: int, written_ts: Sequence[int], span: Span) -> int | None:
    """Extrapolate the total number of messages from the written share of the time span; None at its start."""
    first_ts, last_ts = span
    fractions = [min(max(ts - first_ts, 0) / max(last_ts - first_ts, 1), 1.0) for ts in written_ts]
    fraction = sum(fractions) / len(fractions)
    return round(written / fraction) if fraction else None


def _commit_ts(brokers: Brokers, message: OffsetRange, decoder: Decoder) -> int:
    """Return the commit-ts of the last event of one message; 0 if it has none."""
    rows = [row for record in read(brokers, message) for row in event_rows(record, decoder)]
    return int(rows[-1].get("commit_ts") or 0) if rows else 0


class KafkaTarget(MessageTarget):
    """The topics of the sink URI's brokers, or of an embedded broker."""

    measures_progress = True
    _brokers: Brokers
    """Known when the target is open."""
    _topics: RunTopics
    """Known when the topics are prepared."""
    _kafka: StartingKafka | None = None
    """The embedded broker of the run."""

    @property
    def name(self) -> str:
        return self._topics.name

    @property
    def brokers(self) -> Brokers:
        return self._brokers

    def check(self) -> None:
        """Check that the run may write the topics, and the storage of claim-check objects.

        :raises BrokerError: if no broker answers at the sink URI's address.
        :raises TopicError: for a topic that has messages, or another number of partitions.
        :raises ChangefeedError: for a claim-check storage whose client library is not installed.
        :raises StorageError: for a claim-check storage that cannot be reached.
        """
        self.check_claims()
        changefeed = self.job.changefeed
        if changefeed.sink_uri.embedded or self.options.dry_run:
            return
        cluster = Topics(changefeed.brokers)
        if self.options.resume:
            cluster.existing()
        else:
            topics = self.job.stream.topic_partitions.topics
            cluster.check(changefeed, topics, append=self.options.append, replace=self.options.replace)

    def check_claims(self) -> None:
        """Check the storage of claim-check objects.

        :raises ChangefeedError: for a claim-check storage whose client library is not installed.
        :raises StorageError: for a claim-check storage that cannot be reached.
        """
        storage = self.job.encode_plan(skip_rejected=True).claim_storage
        if storage:
            check_claim_storage(storage)

    @property
    def encodes_again(self) -> bool:
        """Whether a registry assigns the schema ids of the messages; stored messages have other ids."""
        return bool(self.job.schemas and self.job.changefeed.schema_registry)

    @contextmanager
    def started(self) -> Iterator[None]:
        if not self.job.changefeed.sink_uri.embedded or self.options.dry_run:
            yield
            return
        self.options.on_status("starting the embedded Kafka broker")
        self._kafka, self.embedded = StartingKafka(keep=self.options.keep), True
        try:
            yield
        finally:
            if not self.broker_pid:
                self._kafka.stop()

    @contextmanager
    def opened(self) -> Iterator[None]:
        if self._kafka is None:
            self._brokers = self.job.changefeed.brokers
        else:
            broker = self._kafka.running()
            self._brokers = broker.bootstrap
            self.broker_pid = broker.pid if self.options.keep else 0
        yield

    def check_encoded(self, _simulation: Simulation, /) -> None:
        """Register the schemas: a registry that fails ends the run before a target is written.

        :raises RegistryError: if the registry does not answer or rejects a schema.
        """
        if not self.options.dry_run:
            self._register_schemas()

    def _register_schemas(self) -> None:
        if self.job.schema_ids is None:
            self.job = with_registered_schemas(self.job)

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        total = report.counts.total
        self._prepare(f"{total:,} messages ")
        with report_progress(self._topics, total, self.options.on_progress):
            if self.encodes_again:
                self._topics.encode_and_write(self.job, simulation.events)
            else:
                claims = self.job.encode_plan(skip_rejected=True).claim_storage
                self._topics.write(simulation.encoded.messages, claims)
        return report

    def write_in_one_pass(self, simulation: Simulation, /) -> tuple[Counts, list[Rejection]]:
        """Write the messages. A rejected row ends the run, unless such rows are skipped.

        The error names the messages that were delivered before.
        """
        skips = self.job.scenario.on_error == "skip"
        self._prepare("")
        clock, commits = self.job.stream.resolved.clock, self.job.history.commits
        span = clock.ts(0), clock.ts(commits - 1)
        with report_progress(self._topics, span, self.options.on_progress):
            summaries = self._topics.encode_and_write(self.job, simulation.events, skip_rejected=skips)
        return merged_counts(self.job, summaries)

    def _prepare(self, what: str) -> None:
        """Register the schemas and create the topics.

        :param what: name of the messages, for the status.
        """
        self._register_schemas()
        starts = prepare_topics(
            self.job,
            self.brokers,
            append=self.options.append,
            resume=self.options.resume,
            replace_existing=self.options.replace,
        )
        self._topics = RunTopics(self.job.changefeed, self.brokers, starts)
        topics = ", ".join(self.job.stream.topic_partitions.topics)
        self.options.on_status(f"writing {what}to {self.brokers}, topic {topics}")

    def origin(self) -> Callable[[], Origin] | None:
        return None if self.embedded and not self.options.keep else self._topics.origin(self.job)

    def read(self, simulation: Simulation) -> Messages:
        return self._topics.read(simulation.engine)

    @property
    def claims(self) -> str:
        return self.job.changefeed.claim_check_storage_uri
