"""Execute a prepared job: encode its events, write them to a topic or folder, read them again and verify."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from ticdc_producer.config.claim_storage import check_claim_storage
from ticdc_producer.errors import FolderError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.attach_verdict import attach_verdict
from ticdc_producer.runs.broker_options import check_broker_options
from ticdc_producer.runs.change_log import ChangeLog
from ticdc_producer.runs.counts import Counts, discarded
from ticdc_producer.runs.encoded import Encoded, encode_once
from ticdc_producer.runs.fault_frames import fault_occurrences, summarized
from ticdc_producer.runs.fault_free import drop_removed, events_of_a_correct_stream
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import Job, with_registered_schemas
from ticdc_producer.runs.prepare_topics import check_resumable, prepare_topics
from ticdc_producer.runs.progress import report_progress
from ticdc_producer.runs.rejected_rows import rejected_rows, skipped_events
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.verification import Expected
from ticdc_producer.runs.write_golden import (
    check_same_run,
    folder_messages,
    write_folder,
    write_only_messages,
)
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.kafka.topics import Topics


def checked_target(job: Job, out: str | Path | None, options: RunOptions) -> Path | None:
    """The folder to write, if any, after the checks of the target that need no Spark.

    :raises ArgumentError: for an option that has no effect with this target.
    :raises FolderError: if the folder exists.
    :raises BrokerError: if no broker answers at the sink URI's address.
    :raises TopicError: for a topic that has messages, or another number of partitions.
    :raises ChangefeedError: for a claim-check storage whose client library is not installed.
    :raises StorageError: for a claim-check storage that cannot be reached.
    """
    uri = job.changefeed.sink_uri
    check_broker_options(
        uri, to_folder=out is not None, dry_run=options.dry_run, append=options.append, keep=options.keep
    )
    if options.resume:
        check_resumable(job)
    folder = None if out is None else Path(out)
    if options.resume and folder is not None and folder.exists():
        check_same_run(folder, job)  # a folder gets its name when it is complete
        folder = None
    if folder is not None and folder.exists():
        raise FolderError("the folder already exists", path=str(folder), hint="name a new one")
    storage = job.encode_plan(skip_refused=True).claim_storage
    if storage and (folder is None or not uri.embedded):
        check_claim_storage(storage)
    if not uri.embedded and not options.dry_run:
        cluster = Topics(job.changefeed.brokers)
        if options.resume:
            cluster.existing()
        else:
            cluster.check(job.changefeed, job.stream.topic_partitions.topics, append=options.append)
    return folder


def execute(job: Job, committed: ChangeLog, folder: Path | None, options: RunOptions) -> RunReport:
    """Run a prepared job on a change log."""
    faults = job.event_faults()
    with nullcontext(committed) if faults is None else committed.materialize_rows(job.stream) as committed:
        run = _Run(job, committed, committed.events(job.stream, faults), folder, options)
        return run.only_messages() if options.messages_only else run.execute()


@dataclass
class _Run:
    """A run.

    :param faulted_events: the event stream, including the events that faults removed.
    """

    job: Job
    committed: ChangeLog
    faulted_events: DataFrame
    folder: Path | None
    options: RunOptions

    @property
    def events(self) -> DataFrame:
        return self.faulted_events if self.job.faults is None else drop_removed(self.faulted_events)

    def execute(self) -> RunReport:
        with ExitStack() as stack:
            if self._encodes_again:
                self.faulted_events = stack.enter_context(materialized(self.faulted_events, in_order=True))
            encoded = stack.enter_context(self._encoded())
            report = self._report_of(encoded)
            if self.options.dry_run:
                return report
            correct = stack.enter_context(self._correct(encoded))
            return self._write(encoded, correct, report)

    @property
    def _writes_kafka(self) -> bool:
        return self.folder is None or not self.job.changefeed.sink_uri.embedded

    @property
    def _encodes_again(self) -> bool:
        """Whether the events are encoded in another way, too: without faults, or with registered schemas."""
        return not self.options.dry_run and (self.job.faults is not None or self._registers)

    @property
    def _registers(self) -> bool:
        """Whether messages for Kafka have other schema ids than those that are counted and stored."""
        return self._writes_kafka and bool(self.job.schemas and self.job.changefeed.schema_registry)

    def _encoded(self) -> AbstractContextManager[Encoded]:
        written = not self.options.dry_run
        compared = self.options.verify_output and self.job.faults is None
        return encode_once(
            self.job,
            self.faulted_events,
            messages=written and (self.folder is not None or not self._registers),
            carried=written and (self.folder is not None or compared),
        )

    def _correct(self, encoded: Encoded) -> AbstractContextManager[Encoded]:
        """The stream with which the messages are compared: with legal faults, without illegal ones."""
        if self.job.faults is None or not self.options.verify_output:
            return nullcontext(encoded)
        events = events_of_a_correct_stream(self.job, self.committed, self.faulted_events)
        return encode_once(self.job, events, carried=True, faults=False)

    def _report_of(self, encoded: Encoded) -> RunReport:
        counts = encoded.counts
        skipped = skipped_events(self.job, encoded.entries, counts.rejected)
        self.options.on_status(f"encoded {sum(counts.events.values())} events into {counts.total} messages")
        report = self._report(counts, skipped)
        if self.job.faults is None:
            return report
        return replace(report, faults=summarized(self.job, fault_occurrences(encoded.entries)))

    def _write(self, encoded: Encoded, correct: Encoded, report: RunReport) -> RunReport:
        if self.folder is not None:
            report = self._to_folder(self.folder, encoded, correct, report)
        if self._writes_kafka:
            report = self._to_kafka(encoded, correct, report)
        return report

    def only_messages(self) -> RunReport:
        """Write the messages in one pass, without verifying them."""
        uri = self.job.changefeed.sink_uri
        if self.folder is not None:
            self.options.on_status(f"writing {self.folder}")
            counts, skipped = write_only_messages(self.folder, self.job, self.events)
            return self._report(counts, skipped, target=str(self.folder))
        if not uri.embedded:
            return self._only_delivered(self.job.changefeed.brokers)
        self.options.on_status("starting the embedded Kafka broker")
        with EmbeddedKafka(keep=self.options.keep) as broker:
            done = self._only_delivered(broker.bootstrap)
            return replace(done, broker_pid=broker.pid if self.options.keep else 0)

    def _only_delivered(self, brokers: Brokers) -> RunReport:
        """Write to Kafka. A rejected row ends the run, unless such rows are skipped.

        The error names the messages that were delivered before.
        """
        skips = self.job.scenario.on_error == "skip"
        plan = self.job.encode_plan(skip_refused=skips)
        skipped = self._skipped() if skips else []
        target = self._target(brokers)
        self.options.on_status(
            f"writing to {brokers}, topic {', '.join(self.job.stream.topic_partitions.topics)}"
        )
        clock, commits = self.job.stream.resolved.clock, self.job.history.commits
        span = clock.ts(0), clock.ts(commits - 1)
        with report_progress(target, span, self.options.on_progress):
            counts = target.write(self.events, plan)
        return self._report(counts, skipped, target=self._name(brokers))

    def _skipped(self) -> list[dict[str, Any]]:
        with encode_once(self.job, self.faulted_events) as encoded:
            return rejected_rows(encoded.entries)

    def _report(self, counts: Counts, skipped: list[dict[str, Any]], *, target: str = "") -> RunReport:
        return RunReport(
            scenario=self.job.scenario.name,
            target=target,
            dry_run=self.options.dry_run,
            counts=counts,
            discarded=discarded(self.job),
            skipped=skipped,
            warnings=(*self.job.changefeed.warnings, *self.job.stream.router.warnings),
        )

    def _target(self, brokers: Brokers) -> KafkaTarget:
        self.job = with_registered_schemas(self.job)
        starts = prepare_topics(self.job, brokers, append=self.options.append, resume=self.options.resume)
        return KafkaTarget(self.job.changefeed, brokers, starts)

    def _name(self, brokers: Brokers) -> str:
        return f"kafka://{brokers}/{self.job.changefeed.sink_uri.topic}"

    def _to_folder(self, folder: Path, encoded: Encoded, correct: Encoded, report: RunReport) -> RunReport:
        self.options.on_status(f"writing {folder}")
        write_folder(folder, encoded, self.committed.steps, report)
        if not self.options.verify_output:
            return replace(report, target=str(folder))
        source.manifest(folder)
        read_messages = folder_messages(self.committed.spark, folder)
        return self._attach_verdict(read_messages, correct, report, str(folder), source.claims(folder))

    def _to_kafka(self, encoded: Encoded, correct: Encoded, report: RunReport) -> RunReport:
        changefeed = self.job.changefeed
        if not changefeed.sink_uri.embedded:
            return self._deliver(changefeed.brokers, encoded, correct, report)
        self.options.on_status("starting the embedded Kafka broker")
        with EmbeddedKafka(keep=self.options.keep) as broker:
            done = self._deliver(broker.bootstrap, encoded, correct, report)
            pid = broker.pid if self.options.keep else 0
        return replace(done, broker_pid=pid)

    def _deliver(self, brokers: Brokers, encoded: Encoded, correct: Encoded, report: RunReport) -> RunReport:
        topics = self.job.stream.topic_partitions.topics
        target = self._target(brokers)
        self.options.on_status(
            f"writing {report.counts.total} messages to {brokers}, topic {', '.join(topics)}"
        )
        plan = self.job.encode_plan(skip_refused=True)
        with report_progress(target, report.counts.total, self.options.on_progress):
            if self._registers:
                target.write(self.events, plan)
            else:
                target.write_stored(encoded.entries, plan.claim_storage)
        if not self.options.verify_output:
            return replace(report, target=self._name(brokers))
        storage = self.job.changefeed.claim_check_storage_uri
        return self._attach_verdict(
            target.read(self.committed.spark), correct, report, self._name(brokers), storage
        )

    def _attach_verdict(
        self, read_messages: DataFrame, correct: Encoded, report: RunReport, target: str, claims: str
    ) -> RunReport:
        skipped = frozenset(entry["table"] for entry in report.skipped)
        expected = Expected(self.job, self.committed.steps, correct.expected_events, skipped)
        report = replace(report, target=target)
        return attach_verdict(expected, read_messages, report, self.options, claims=claims)
