"""Runs a small history: one Spark task does the work, the driver writes a golden folder.

Nothing is written before everything was encoded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.attach_verdict import attach_verdict
from ticdc_producer.runs.change_log import StepRows, step_rows
from ticdc_producer.runs.counts import discarded
from ticdc_producer.runs.kafka_target import KafkaTarget, check_speculation
from ticdc_producer.runs.prepare import Job, with_registered_schemas
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.small_task import Outcome, SmallTask
from ticdc_producer.runs.small_verification import (
    SmallExpected,
    SmallVerification,
    TopicRanges,
    message_frame,
    small_step_states,
    small_stream,
)
from ticdc_producer.runs.verification import Expected
from ticdc_producer.runs.write_golden import folder_table, write_files
from ticdc_producer.spark.one_task import run_in_one_task
from ticdc_producer.targets.golden import read as source
from ticdc_producer.verifier.options import Strictness

SMALL_CHANGES = 20_000
"""Up to this many row changes, one task is faster than many."""
SMALL_EVENTS = 100_000
"""Up to this many events, DDL and resolved events of all partitions included."""
SMALL_BYTES = 64 << 20
"""Up to this many bytes of row images."""


def is_small(job: Job) -> bool:
    """Whether a history fits into one task."""
    history = job.history
    events = history.row_changes + history.commits * len(job.stream.topic_partitions)
    if history.data or history.row_changes > SMALL_CHANGES or events > SMALL_EVENTS:
        return False
    images = (image for change in history.changes for image in (change.before, change.after) if image)
    return sum(len(value) for image in images for value in image if value) <= SMALL_BYTES


def run_small(job: Job, spark: SparkSession, folder: Path | None, options: RunOptions) -> RunReport:
    """Run a job whose history is small.

    :param folder: the golden folder to write, if any.
    """
    return _SmallRun(job, spark, folder, options).run()


@dataclass
class _SmallRun:
    job: Job
    spark: SparkSession
    folder: Path | None
    options: RunOptions

    def run(self) -> RunReport:
        embedded = self.job.changefeed.sink_uri.embedded
        if self.options.dry_run or (self.folder is not None and embedded):
            return self._run(None)
        if not embedded:
            return self._run(self.job.changefeed.brokers)
        self.options.on_status("starting the embedded Kafka broker")
        with EmbeddedKafka(keep=self.options.keep) as broker:
            report = self._run(broker.bootstrap)
            return replace(report, broker_pid=broker.pid if self.options.keep else 0)

    def _run(self, brokers: Brokers | None) -> RunReport:
        if brokers is not None:
            check_speculation(self.spark)
        done = self._done(brokers)
        report = RunReport(
            scenario=self.job.scenario.name,
            target="",
            dry_run=self.options.dry_run,
            counts=done.counts,
            discarded=discarded(self.job),
            skipped=list(done.rejected),
            warnings=(*self.job.changefeed.warnings, *self.job.stream.router.warnings),
            faults=done.faults,
        )
        self.options.on_status(
            f"encoded {sum(done.counts.events.values())} events into {done.counts.total} messages"
        )
        if self.options.dry_run:
            return report
        if self.folder is not None:
            report = self._to_folder(self.folder, done, report)
        if brokers is not None:
            report = self._from_kafka(brokers, done, report)
        return report

    def _done(self, brokers: Brokers | None) -> Outcome:
        """Encode, and write to Kafka. A rejected row registers no schema."""
        task = SmallTask(
            job=self.job,
            brokers=brokers,
            to_folder=self.folder is not None and not self.options.dry_run,
            compared=self.options.verify_output and not self.options.dry_run,
            append=self.options.append,
            resume=self.options.resume,
        )
        if brokers is None or not self.job.schemas or not self.job.changefeed.schema_registry:
            return self._outcome(task)
        encoded = self._outcome(replace(task, brokers=None))
        self.job = with_registered_schemas(self.job)
        sent = self._outcome(replace(task, job=self.job, to_folder=False))
        return replace(sent, files=encoded.files)

    def _outcome(self, task: SmallTask) -> Outcome:
        return run_in_one_task(self.spark, task, self._steps.generated)

    @cached_property
    def _steps(self) -> StepRows:
        """The rows of the ``generate`` steps."""
        return step_rows(self.spark, self.job.history)

    def _to_folder(self, folder: Path, done: Outcome, report: RunReport) -> RunReport:
        self.options.on_status(f"writing {folder}")
        write_files(folder, self.job, done.files, self._steps, report)
        report = replace(report, target=str(folder))
        if not self.options.verify_output:
            return report
        source.manifest(folder)
        return self._verified(folder_table(folder), done, report, source.claims(folder))

    def _from_kafka(self, brokers: Brokers, done: Outcome, report: RunReport) -> RunReport:
        target = KafkaTarget(self.job.changefeed, brokers, done.starts)
        report = replace(report, target=target.name)
        if not self.options.verify_output:
            return report
        storage = self.job.changefeed.claim_check_storage_uri
        return self._verified(TopicRanges(brokers=brokers, ranges=target.ranges), done, report, storage)

    def _verified(
        self, messages: pa.Table | TopicRanges, done: Outcome, report: RunReport, claims: str
    ) -> RunReport:
        self.options.on_status("reading the messages again and verifying them")
        skipped = frozenset(entry["table"] for entry in report.skipped)
        task = SmallVerification(
            changefeed=self.job.changefeed,
            messages=messages,
            topics=self.job.stream.topic_partitions.topics,
            expected=SmallExpected(
                job=self.job,
                events=done.expected,
                skipped=skipped,
                step_states=small_step_states(self._steps, self.job),
            ),
            # Whether these messages are all that was ever sent for the tables.
            strictness=Strictness(from_beginning=self.options.from_beginning and not self.options.append),
            claims=claims,
        )
        found = run_in_one_task(self.spark, task.with_fetched_schemas())
        if found is None:
            return self._verified_by_many(messages, done, report, claims, skipped)
        self.options.on_verdict(small_stream(self.spark, task, found))
        return replace(report, verdict=found.verdict, preview=found.preview)

    def _verified_by_many(
        self,
        messages: pa.Table | TopicRanges,
        done: Outcome,
        report: RunReport,
        claims: str,
        skipped: frozenset[str],
    ) -> RunReport:
        """Verify messages that are too large for one task."""
        expected = Expected(self.job, self._steps, lambda: self.spark.createDataFrame(done.expected), skipped)
        return attach_verdict(
            expected, message_frame(self.spark, messages), report, self.options, claims=claims
        )
