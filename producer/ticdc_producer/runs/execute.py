"""Execute a prepared job: encode its events, write them to a topic or folder, read them again and verify."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
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
from ticdc_producer.runs.counts import Counts, count, discarded
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.fault_frames import fault_occurrences, summarized
from ticdc_producer.runs.fault_free import drop_removed, expected_stream
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
from ticdc_producer.targets.encoding.event_offsets import event_offsets
from ticdc_producer.targets.encoding.messages import messages
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
        faulted_events = committed.events(job.stream, faults)
        if options.messages_only:
            return _Run(job, committed, faulted_events, folder, options).only_messages()
        with materialized(faulted_events, in_order=True) as faulted_events:
            return _Run(job, committed, faulted_events, folder, options).execute()


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

    @cached_property
    def events(self) -> DataFrame:
        return self.faulted_events if self.job.faults is None else drop_removed(self.faulted_events)

    def execute(self) -> RunReport:
        plan = self.job.encode_plan(skip_refused=True)
        encoded = messages(self.events, plan)
        counts = count(encoded)
        skipped = skipped_events(self.job, encoded, counts.rejected)
        self.options.on_status(f"encoded {sum(counts.events.values())} events into {counts.total} messages")
        report = self._report(counts, skipped)
        if self.job.faults is None and self.options.dry_run:
            return report
        with materialized(event_offsets(self.events, plan)) as offsets:
            if self.job.faults is None:
                return self._write(encoded, offsets, report, None)
            with materialized(fault_occurrences(self.faulted_events, plan)) as faults:
                report = replace(report, faults=summarized(self.job, faults))
                return report if self.options.dry_run else self._write(encoded, offsets, report, faults)

    def _write(
        self, encoded: DataFrame, offsets: DataFrame, report: RunReport, faults: DataFrame | None
    ) -> RunReport:
        if self.folder is not None:
            report = self._to_folder(self.folder, encoded, offsets, report, faults)
        if self.folder is None or not self.job.changefeed.sink_uri.embedded:
            report = self._to_kafka(offsets, report)
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
        skipped = rejected_rows(messages(self.events, plan)) if skips else []
        target = self._target(brokers)
        self.options.on_status(
            f"writing to {brokers}, topic {', '.join(self.job.stream.topic_partitions.topics)}"
        )
        clock, commits = self.job.stream.resolved.clock, self.job.history.commits
        span = clock.ts(0), clock.ts(commits - 1)
        with report_progress(target, span, self.options.on_progress):
            counts = target.write(self.events, plan)
        return self._report(counts, skipped, target=self._name(brokers))

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

    def _to_folder(
        self,
        folder: Path,
        encoded: DataFrame,
        offsets: DataFrame,
        report: RunReport,
        faults: DataFrame | None,
    ) -> RunReport:
        self.options.on_status(f"writing {folder}")
        write_folder(folder, self.job, self.committed, self.events, encoded, offsets, report, faults)
        if not self.options.verify_output:
            return replace(report, target=str(folder))
        source.manifest(folder)
        read_messages = folder_messages(self.committed.spark, folder)
        return self._attach_verdict(read_messages, offsets, report, str(folder), source.claims(folder))

    def _to_kafka(self, offsets: DataFrame, report: RunReport) -> RunReport:
        changefeed = self.job.changefeed
        if not changefeed.sink_uri.embedded:
            return self._deliver(changefeed.brokers, offsets, report)
        self.options.on_status("starting the embedded Kafka broker")
        with EmbeddedKafka(keep=self.options.keep) as broker:
            done = self._deliver(broker.bootstrap, offsets, report)
            pid = broker.pid if self.options.keep else 0
        return replace(done, broker_pid=pid)

    def _deliver(self, brokers: Brokers, offsets: DataFrame, report: RunReport) -> RunReport:
        topics = self.job.stream.topic_partitions.topics
        target = self._target(brokers)
        self.options.on_status(
            f"writing {report.counts.total} messages to {brokers}, topic {', '.join(topics)}"
        )
        with report_progress(target, report.counts.total, self.options.on_progress):
            target.write(self.events, self.job.encode_plan(skip_refused=True))
        if not self.options.verify_output:
            return replace(report, target=self._name(brokers))
        storage = self.job.changefeed.claim_check_storage_uri
        return self._attach_verdict(
            target.read(self.committed.spark), offsets, report, self._name(brokers), storage
        )

    def _attach_verdict(
        self, read_messages: DataFrame, offsets: DataFrame, report: RunReport, target: str, claims: str
    ) -> RunReport:
        def events() -> DataFrame:
            return expected_events(self.job, *expected_stream(self.job, self.committed, self.events, offsets))

        skipped = frozenset(entry["table"] for entry in report.skipped)
        expected = Expected(self.job, self.committed.steps, events, skipped)
        report = replace(report, target=target)
        return attach_verdict(expected, read_messages, report, self.options, claims=claims)
