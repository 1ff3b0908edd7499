"""Run a scenario: encode it, write it to a topic, a folder or a storage, read it again and verify it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from ticdc_producer.config import SinkKind
from ticdc_producer.config.claim_storage import check_claim_storage
from ticdc_producer.errors import FolderError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.broker_options import check_broker_options
from ticdc_producer.runs.change_log import ChangeLog, change_log
from ticdc_producer.runs.counts import Counts, count, discarded
from ticdc_producer.runs.fault_free import drop_removed
from ticdc_producer.runs.fault_occurrences import fault_occurrences, summarize_faults
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import Job, prepare, with_registered_schemas
from ticdc_producer.runs.prepare_topics import check_resumable, prepare_topics
from ticdc_producer.runs.preview import first_lines
from ticdc_producer.runs.progress import OnProgress, report_progress
from ticdc_producer.runs.read_session import PRELOADED_MODULES
from ticdc_producer.runs.rejected_rows import rejected_rows, skipped_events
from ticdc_producer.runs.run_report import OnStatus, RunReport, ignore_status
from ticdc_producer.runs.run_storage import check_storage, run_storage
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict, verify_run
from ticdc_producer.runs.write_golden import (
    check_same_run,
    folder_messages,
    write_folder,
    write_only_messages,
)
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.spark.session import save_class_archive, spark_session
from ticdc_producer.spark.worker_errors import translate_worker_errors
from ticdc_producer.targets.encoding.event_offsets import event_offsets
from ticdc_producer.targets.encoding.messages import messages
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.kafka.topics import Topics

LIGHT_CHANGES = 20_000
"""Below this many changes, a Spark session that starts quickly beats one that works quickly."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run.

    :param append: write after the messages that a topic already holds.
    :param resume: continue an earlier run of the same scenario that did not finish.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running.
    :param messages_only: write the messages in one pass, without expected events, state or verification.
    :param from_beginning: the change log holds the whole history of each row. True for a scenario without
        ``data`` steps, whose tables may have had rows before.
    :param verify_output: read the written messages again and verify them.
    :param on_status: called with a line of text for each step of the work.
    :param on_progress: called every second with the progress of writing.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    """

    append: bool = False
    resume: bool = False
    dry_run: bool = False
    keep: bool = False
    messages_only: bool = False
    from_beginning: bool = False
    verify_output: bool = True
    on_status: OnStatus = ignore_status
    on_progress: OnProgress | None = None
    on_verdict: OnVerdict = ignore_verdict


@translate_worker_errors()
def run(
    scenario: str | Path,
    *,
    sink_uri: str | None = None,
    config: str | Path | None = None,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    keep: bool = False,
    messages_only: bool = False,
    verify_output: bool = True,
    state_at: Sequence[int] = (),
    inject: Sequence[str] = (),
    kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
    on_progress: OnProgress | None = None,
    on_verdict: OnVerdict = ignore_verdict,
) -> RunReport:
    """Run a scenario into the Kafka or storage of the sink URI, into a folder, or into an embedded broker.

    Nothing is written before all input was checked and, unless ``messages_only`` is set, every event was
    encoded once.

    :param scenario: a ``.yaml``, a ``.sql`` or the name of a shipped scenario.
    :param sink_uri: TiCDC's sink URI; without a host the run writes to ``out`` if that is given, else to
        an embedded broker that lives as long as the run.
    :param config: a changefeed TOML.
    :param out: the golden folder to write; must not exist.
    :param overrides: ``path=value`` for any key of the scenario.
    :param seed: replaces the scenario's seed.
    :param append: write after the messages that a topic already holds.
    :param resume: continue an earlier run of the same scenario that did not finish.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running.
    :param messages_only: write the messages in one pass, without expected events or state, and do not verify
        them.
    :param verify_output: read the written messages again and verify them; else the report has no verdict.
    :param state_at: time stamps (TSO) for which the folder also gets the expected state.
    :param inject: traps in addition to the scenario's: ``ID``, ``ID:rate=0.01``, ``ID:times=3``.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :param on_progress: called every second with the progress of writing.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    :raises ProducerError: if the input is wrong (then nothing was written), or the environment fails.
    """
    if messages_only and (dry_run or state_at):
        option = "--dry-run" if dry_run else "--state-at"
        what = f"--only messages cannot be combined with {option}"
        raise FolderError(what, path="", hint="it writes nothing but messages")
    if state_at and out is None:
        raise FolderError("--state-at requires --out", path="", hint="add --out DIR")
    job = prepare(
        scenario,
        sink_uri=sink_uri,
        config=config,
        overrides=overrides,
        seed=seed,
        state_at=state_at,
        inject=inject,
        kafka_properties=kafka_properties,
    )
    storage = None
    if job.changefeed.sink_uri.kind is SinkKind.STORAGE:
        rejected_options = {
            "out": out,
            "append": append,
            "resume": resume,
            "keep": keep,
            "only": messages_only,
            "state_at": state_at,
        }
        storage = check_storage(job, dry_run=dry_run, **rejected_options)
    options = RunOptions(
        append=append,
        resume=resume,
        dry_run=dry_run,
        keep=keep,
        messages_only=messages_only,
        from_beginning=not job.history.data,
        verify_output=verify_output,
        on_status=on_status,
        on_progress=on_progress,
        on_verdict=on_verdict,
    )
    folder = None if storage else checked_target(job, out, options)
    executed = job.history
    on_status(f"scenario {job.scenario.name}: {executed.commits} commits, {executed.row_changes} row changes")
    on_status("starting Spark")
    light = executed.commits + executed.row_changes < LIGHT_CHANGES and not executed.data
    on_class_archive = partial(
        on_status,
        "saving an archive of Spark's classes: this run takes 15 s longer, later runs start faster",
    )
    spark = spark_session(
        light=light,
        rows=executed.row_changes,
        preload=PRELOADED_MODULES,
        on_class_archive=None if dry_run else on_class_archive,
    )
    committed = change_log(spark, job.history)
    if storage is not None:
        report = run_storage(
            job,
            committed,
            storage,
            dry_run=dry_run,
            verify_output=verify_output,
            on_status=on_status,
            on_verdict=on_verdict,
        )
    else:
        report = execute(job, committed, folder, options)
    save_class_archive(spark)
    return report


def checked_target(job: Job, out: str | Path | None, options: RunOptions) -> Path | None:
    """The folder to write, if any, after the checks of the target that need no Spark.

    :raises ArgumentError: for an option that has no effect with this target.
    :raises FolderError: if the folder exists.
    :raises BrokerError: if no broker answers at the sink URI's address.
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
        Topics(job.changefeed.brokers).existing()
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
            with materialized(fault_occurrences(self.faulted_events, offsets, encoded)) as faults:
                report = replace(report, faults=summarize_faults(self.job, faults))
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
        self.options.on_status("reading the messages again and verifying them")
        whole = self.options.from_beginning and not self.options.append
        done = attach_verdict(
            self.job,
            self.committed,
            self.events,
            offsets,
            read_messages,
            report,
            from_beginning=whole,
            claims=claims,
            on_verdict=self.options.on_verdict,
        )
        return replace(done, target=target)


def attach_verdict(
    job: Job,
    committed: ChangeLog,
    events: DataFrame,
    offsets: DataFrame,
    read_messages: DataFrame,
    report: RunReport,
    *,
    from_beginning: bool,
    claims: str,
    on_verdict: OnVerdict = ignore_verdict,
) -> RunReport:
    """The report, completed by the verdict on the messages that were read from the target.

    :param events: the event stream of ``committed``.
    :param offsets: the offsets of the messages that carry the events (shape ``EVENT_OFFSETS``).
    :param from_beginning: these messages are all that was ever sent for the tables.
    """
    with materialized(read_messages) as read_messages:
        tables = {entry["table"] for entry in report.skipped}
        verdict = verify_run(
            job,
            committed,
            events,
            offsets,
            read_messages,
            tables,
            from_beginning=from_beginning,
            claims=claims,
            on_verdict=on_verdict,
        )
        preview = first_lines(read_messages, job.changefeed.protocol)
    return replace(report, verdict=verdict, preview=preview)
