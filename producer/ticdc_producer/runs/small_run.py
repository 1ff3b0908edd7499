"""Runs a small history in one process: this one, or a Spark worker if the history or the options require it.

Nothing is written before everything was encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.runs.counts import discarded
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.progress import final_progress
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.run_topics import check_speculation
from ticdc_producer.runs.small_task import Outcome, SmallTask
from ticdc_producer.runs.small_verification import (
    SmallExpected,
    SmallVerification,
    small_stream,
    small_verdict,
)
from ticdc_producer.runs.step_rows import Session, StepRows, call_with_generated_rows
from ticdc_producer.runs.target import MessageTarget
from ticdc_producer.runs.verification import Expected
from ticdc_producer.verifier.distributed_comparison import ExpectedFrame
from ticdc_producer.verifier.options import Strictness

SMALL_EVENTS = 100_000
"""Up to this many events, DDL and resolved events of all partitions included, one process is faster."""
SMALL_BYTES = 64 << 20
"""Up to this many bytes of row images."""


def is_small(job: Job) -> bool:
    """Whether one process runs a history."""
    history = job.history
    events = history.row_changes + history.commits * len(job.stream.topic_partitions)
    if history.data or events > SMALL_EVENTS:
        return False
    images = (image for change in history.changes for image in (change.before, change.after) if image)
    generated = max((plan.most_bytes_of_a_row for plan in history.generated), default=0)
    size = 2 * generated * history.row_changes  # an update has two images
    return size + sum(len(value) for image in images for value in image if value) <= SMALL_BYTES


def run_small(job: Job, session: Session, targets: Sequence[MessageTarget], options: RunOptions) -> RunReport:
    """Run a job whose history is small.

    :param session: called if Spark is needed: with ``in_worker``, for columns with an ``expression``, for
        more bytes than one process verifies, and for reports that query the decoded events.
    :param targets: as returned by ``checked_targets``.
    """
    return _SmallRun(job, session, targets, options).run()


@dataclass
class _SmallRun:
    job: Job
    session: Session
    targets: Sequence[MessageTarget]
    options: RunOptions

    def run(self) -> RunReport:
        if self.options.dry_run:
            return self._report_of(self._outcome(SmallTask(job=self.job)))
        with ExitStack() as stack:
            for target in self.targets:
                stack.enter_context(target.opened())
            done = self._done(next((one.brokers for one in self.targets if one.brokers is not None), None))
            report = self._report_of(done)
            for target in self.targets:
                report = self._finished(target, done, report)
            if self.options.on_progress is not None:
                self.options.on_progress(final_progress(self.job, done.counts.total))
            return report

    def _report_of(self, done: Outcome) -> RunReport:
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
        return report

    def _done(self, brokers: Brokers | None) -> Outcome:
        """Encode, and write to Kafka. A rejected row registers no schema."""
        task = SmallTask(
            job=self.job,
            brokers=brokers,
            to_folder=any(target.takes_files for target in self.targets),
            compared=self.options.verify_output,
            append=self.options.append,
            replace=self.options.replace,
            resume=self.options.resume,
        )
        registering = next((target for target in self.targets if target.encodes_again), None)
        if registering is None:
            return self._outcome(task)
        encoded = self._outcome(replace(task, brokers=None))
        registering.register_schemas()
        sent = self._outcome(replace(task, job=registering.job, to_folder=False))
        return replace(sent, messages=encoded.messages, events=encoded.events, files=encoded.files)

    def _outcome(self, task: SmallTask) -> Outcome:
        def session() -> SparkSession:
            spark = self.session()
            if task.brokers is not None:
                check_speculation(spark)
            return spark

        return call_with_generated_rows(session, self.job, task, in_worker=self.options.in_worker)

    def _finished(self, target: MessageTarget, done: Outcome, report: RunReport) -> RunReport:
        """Finish what the task has done, and verify it."""
        target.take(done, report)
        report = replace(report, target=target.name, broker_pid=target.broker_pid)
        if not self.options.verify_output:
            return report
        self.options.on_status(f"reading {target.name} again and verifying it")
        skipped = done.skipped_tables
        task = SmallVerification(
            changefeed=target.job.changefeed,
            messages=target.few_messages(),
            topics=target.job.stream.topic_partitions.topics,
            expected=SmallExpected(
                job=target.job,
                events=done.expected,
                skipped=skipped,
                step_states=done.step_states,
            ),
            # Whether these messages are all that was ever sent for the tables.
            strictness=Strictness(from_beginning=self.options.from_beginning and not self.options.append),
            claims=target.claims,
        )
        found = small_verdict(task, None, self.session, in_worker=self.options.in_worker)
        if found is None:  # too many bytes for one process
            spark = self.session()
            events = ExpectedFrame(spark.createDataFrame(done.expected))
            steps = StepRows(spark, self.job.history.generated)
            return target.verified(Expected(target.job, steps, events, skipped), report)
        self.options.on_verdict(small_stream(self.session, task, found))
        return replace(report, verdict=found.verdict, preview=found.preview)
