"""The topics of a Kafka as the target of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ticdc_producer.config.file_system import check_claim_storage
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded.starting import StartingKafka
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.run_topics import RunTopics, prepare_topics
from ticdc_producer.runs.target import MessageTarget
from ticdc_producer.runs.topic_progress import report_progress
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import merged_counts
from ticdc_producer.simulate.job import with_registered_schemas
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.verifier.messages import Messages


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
        changefeed = self.job.changefeed
        storage = self.job.encode_plan(skip_refused=True).claim_storage
        if storage:
            check_claim_storage(storage)
        if changefeed.sink_uri.embedded or self.options.dry_run:
            return
        cluster = Topics(changefeed.brokers)
        if self.options.resume:
            cluster.existing()
        else:
            topics = self.job.stream.topic_partitions.topics
            cluster.check(changefeed, topics, append=self.options.append, replace=self.options.replace)

    @property
    def encodes_again(self) -> bool:
        """Whether a registry assigns the schema ids of the messages; those that are stored have others."""
        return bool(self.job.schemas and self.job.changefeed.schema_registry)

    @contextmanager
    def started(self) -> Iterator[None]:
        if not self.job.changefeed.sink_uri.embedded or self.options.dry_run:
            yield
            return
        self.options.on_status("starting the embedded Kafka broker")
        self._kafka = StartingKafka(keep=self.options.keep)
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

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        total = report.counts.total
        self._prepare(f"{total} messages ")
        with report_progress(self._topics, total, self.options.on_progress):
            if self.encodes_again:
                self._topics.encode_and_write(self.job, simulation.events)
            else:
                claims = self.job.encode_plan(skip_refused=True).claim_storage
                self._topics.write(simulation.encoded.messages, claims)
        return report

    def write_in_one_pass(self, simulation: Simulation, /) -> tuple[Counts, list[dict[str, Any]]]:
        """Write the messages. A rejected row ends the run, unless such rows are skipped.

        The error names the messages that were delivered before.
        """
        skips = self.job.scenario.on_error == "skip"
        self._prepare("")
        clock, commits = self.job.stream.resolved.clock, self.job.history.commits
        span = clock.ts(0), clock.ts(commits - 1)
        with report_progress(self._topics, span, self.options.on_progress):
            summaries = self._topics.encode_and_write(self.job, simulation.events, skip_refused=skips)
        return merged_counts(self.job, summaries)

    def _prepare(self, what: str) -> None:
        """Register the schemas and create the topics.

        :param what: what will be written, for the status.
        """
        self.job = with_registered_schemas(self.job)
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

    def read(self, simulation: Simulation) -> Messages:
        return self._topics.read(simulation.engine)

    @property
    def claims(self) -> str:
        return self.job.changefeed.claim_check_storage_uri
