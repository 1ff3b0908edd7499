"""The topics of a Kafka as the target of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from ticdc_producer.config.file_system import check_claim_storage
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded.starting import StartingKafka
from ticdc_producer.runs.counts import Counts, rejected_rows
from ticdc_producer.runs.encoded import Encoded, encode_once
from ticdc_producer.runs.fault_frames import sent_events
from ticdc_producer.runs.prepare import with_registered_schemas
from ticdc_producer.runs.progress import report_progress
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.run_topics import RunTopics, prepare_topics
from ticdc_producer.runs.small_task import Outcome
from ticdc_producer.runs.step_rows import StepRows
from ticdc_producer.runs.target import MessageTarget
from ticdc_producer.runs.topic_ranges import TopicMessages, TopicRanges
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.targets.kafka.topics import Topics


class KafkaTarget(MessageTarget):
    """The topics of the sink URI's brokers, or of an embedded broker."""

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

    def register_schemas(self) -> None:
        self.job = with_registered_schemas(self.job)

    def write(self, encoded: Encoded, _steps: StepRows, report: RunReport, /) -> RunReport:
        total = report.counts.total
        self._prepare(f"{total} messages ")
        plan = self.job.encode_plan(skip_refused=True)
        with report_progress(self._topics, total, self.options.on_progress):
            if self.encodes_again:
                self._topics.write(sent_events(self.job, encoded.events), plan)
            else:
                self._topics.write_stored(encoded.entries, plan.claim_storage)
        return report

    def take(self, outcome: Outcome, _report: RunReport, /) -> None:
        self._topics = RunTopics(self.job.changefeed, self.brokers, outcome.starts)

    def write_in_one_pass(self, events: OrderedEvents) -> tuple[Counts, list[dict[str, Any]]]:
        """Write the messages. A rejected row ends the run, unless such rows are skipped.

        The error names the messages that were delivered before.
        """
        skips = self.job.scenario.on_error == "skip"
        skipped = self._skipped(events) if skips else []
        self._prepare("")
        clock, commits = self.job.stream.resolved.clock, self.job.history.commits
        span = clock.ts(0), clock.ts(commits - 1)
        with report_progress(self._topics, span, self.options.on_progress):
            counts = self._topics.write(events, self.job.encode_plan(skip_refused=skips))
        return counts, skipped

    def _skipped(self, events: OrderedEvents) -> list[dict[str, Any]]:
        with encode_once(self.job, events) as encoded:
            return rejected_rows(encoded.entries)

    def _prepare(self, what: str) -> None:
        """Register the schemas and create the topics.

        :param what: what will be written, for the status.
        """
        self.register_schemas()
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

    def read(self, spark: SparkSession) -> TopicMessages:
        return self._topics.read(spark)

    def few_messages(self) -> TopicRanges:
        return TopicRanges(brokers=self.brokers, ranges=self._topics.ranges)

    @property
    def claims(self) -> str:
        return self.job.changefeed.claim_check_storage_uri
