"""The run job: scenario in, topic or folder out, read back and judged."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyspark.sql import DataFrame

from ticdc_producer.config import SinkKind
from ticdc_producer.config.claim_storage import check_claim_storage
from ticdc_producer.errors import FolderError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.broker_options import check_broker_options
from ticdc_producer.runs.change_log import Upstream, upstream
from ticdc_producer.runs.counts import Counts, count, discarded
from ticdc_producer.runs.fault_free import sent
from ticdc_producer.runs.fault_occurrences import fault_places, summed_faults
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import Job, prepare, with_registered_schemas
from ticdc_producer.runs.prepare_topics import begin, check_resumable
from ticdc_producer.runs.preview import first_lines
from ticdc_producer.runs.progress import Watcher, watched
from ticdc_producer.runs.read_session import LOADS
from ticdc_producer.runs.rejected_rows import refused, skipped_events
from ticdc_producer.runs.run_report import RunReport, Say, silent
from ticdc_producer.runs.run_storage import check_storage, run_storage
from ticdc_producer.runs.verification import Observe, judge, unobserved
from ticdc_producer.runs.write_golden import (
    check_same_run,
    folder_messages,
    write_folder,
    write_only_messages,
)
from ticdc_producer.spark.materialize import kept
from ticdc_producer.spark.session import keep_loaded, spark_session
from ticdc_producer.spark.worker_errors import values_refused
from ticdc_producer.targets.encoding.event_offsets import event_places
from ticdc_producer.targets.encoding.messages import messages
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.kafka.topics import Topics

LIGHT_CHANGES = 20_000
"""Scenarios below it get a session that starts quickly; above, one that works quickly."""

Only: TypeAlias = Literal["messages"]


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How a run goes about its work.

    :param append: write behind the messages that a topic holds.
    :param resume: go on with the same run, which ended before it was done.
    :param keep: leave the embedded broker running.
    :param only: write the messages in one pass, and nothing beside them.
    :param from_beginning: the change log holds each row's whole history; so of a scenario, unless data of
        somebody else's is in it.
    :param read_back: read back what was written, and judge it.
    :param say: is told what happens, a line at a time.
    :param watcher: is told every second how far the writing got.
    :param observe: is handed the decoded stream and the verdict, for reports.
    """

    append: bool = False
    resume: bool = False
    dry_run: bool = False
    keep: bool = False
    only: Only | None = None
    from_beginning: bool = False
    read_back: bool = True
    say: Say = silent
    watcher: Watcher | None = None
    observe: Observe = unobserved


@values_refused()
def run(
    scenario: str | Path,
    *,
    sink_uri: str | None = None,
    config: str | Path | None = None,
    out: str | Path | None = None,
    sets: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    keep: bool = False,
    only: Only | None = None,
    state_at: Sequence[int] = (),
    inject: Sequence[str] = (),
    client: Sequence[str] = (),
    say: Say = silent,
    watcher: Watcher | None = None,
    observe: Observe = unobserved,
) -> RunReport:
    """Run a scenario: to the Kafka or the storage of the sink URI, to a folder, or to an embedded broker.

    Nothing is written before all of the input was checked and, unless ``only`` is given, every event was
    encoded once.

    :param scenario: a ``.yaml``, a ``.sql`` or the name of a shipped scenario.
    :param sink_uri: TiCDC's sink URI; without a host it means the folder where ``out`` is given, else
        an embedded broker that lives as long as the run.
    :param config: a changefeed TOML.
    :param out: a golden folder to write; must not exist.
    :param sets: ``path=value`` for any key of the scenario.
    :param append: write behind the messages that a topic holds.
    :param resume: go on with the same run, which ended before it was done.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running.
    :param only: ``messages``: write them in one pass and nothing beside them, and do not read them back.
    :param state_at: time stamps (TSO) at which the folder shall hold the expected state, too.
    :param inject: traps to set beside the scenario's: ``ID``, ``ID:rate=0.01``, ``ID:times=3``.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param say: is told what happens, a line at a time.
    :param watcher: is told every second how far the writing got.
    :param observe: is handed the decoded stream and the verdict, for reports.
    :raises ProducerError: if something is wrong with the input (nothing was written then), or the
        environment fails.
    """
    if only and (dry_run or state_at):
        option = "--dry-run" if dry_run else "--state-at"
        what = f"--only messages does not go with {option}"
        raise FolderError(what, path="", hint="it writes messages and nothing beside them")
    if state_at and out is None:
        raise FolderError("--state-at needs a folder to write to", path="", hint="add --out DIR")
    job = prepare(
        scenario,
        sink_uri=sink_uri,
        config=config,
        sets=sets,
        seed=seed,
        state_at=state_at,
        inject=inject,
        client=client,
    )
    storage = None
    if job.changefeed.sink_uri.kind is SinkKind.STORAGE:
        given = {
            "out": out,
            "append": append,
            "resume": resume,
            "keep": keep,
            "only": only,
            "state_at": state_at,
        }
        storage = check_storage(job, dry_run=dry_run, **given)
    manner = Manner(
        append=append,
        resume=resume,
        dry_run=dry_run,
        keep=keep,
        only=only,
        from_beginning=not job.history.data,
        say=say,
        watcher=watcher,
        observe=observe,
    )
    folder = None if storage else checked_target(job, out, manner)
    played = job.history
    say(f"scenario {job.scenario.name}: {played.commits} commits, {played.row_changes} row changes")
    say("starting Spark")
    light = played.commits + played.row_changes < LIGHT_CHANGES and not played.data
    recording = partial(say, "keeping what Spark loads: this run ends 15 s later, the next ones start sooner")
    spark = spark_session(
        light=light, rows=played.row_changes, loads=LOADS, recording=None if dry_run else recording
    )
    committed = upstream(spark, job.history)
    if storage is not None:
        report = run_storage(job, committed, storage, dry_run=dry_run, say=say, observe=observe)
    else:
        report = execute(job, committed, folder, manner)
    keep_loaded(spark)
    return report


def checked_target(job: Job, out: str | Path | None, manner: Manner) -> Path | None:
    """The folder to write, if any, after the cheap checks of where a run goes.

    :raises ArgumentError: for an option that has no effect there.
    :raises FolderError: if the folder exists.
    :raises BrokerError: if nobody answers at the sink URI's address.
    :raises ChangefeedError: for a storage of large rows that nothing is installed for.
    :raises StorageError: for one that cannot be reached.
    """
    uri = job.changefeed.sink_uri
    check_broker_options(
        uri, to_folder=out is not None, dry_run=manner.dry_run, append=manner.append, keep=manner.keep
    )
    if manner.resume:
        check_resumable(job)
    folder = None if out is None else Path(out)
    if manner.resume and folder is not None and folder.exists():
        check_same_run(folder, job)  # a folder has its name only when all of it is there
        folder = None
    if folder is not None and folder.exists():
        raise FolderError("the folder exists already", path=str(folder), hint="name a new one")
    storage = job.encode_plan(skip_refused=True).claim_storage
    if storage and (folder is None or not uri.embedded):
        check_claim_storage(storage)
    if not uri.embedded and not manner.dry_run:
        Topics(job.changefeed.brokers).existing()
    return folder


def execute(job: Job, committed: Upstream, folder: Path | None, manner: Manner) -> RunReport:
    """The run of a planned job on what was committed, wherever that came from."""
    faults = job.event_faults()
    with nullcontext(committed) if faults is None else committed.drawn_once(job.stream) as committed:
        planned = committed.events(job.stream, faults)
        if manner.only:
            return _Run(job, committed, planned, folder, manner).only_messages()
        with kept(planned, in_order=True) as planned:
            return _Run(job, committed, planned, folder, manner).execute()


@dataclass
class _Run:
    """:param planned: the event stream, with what faults took away."""

    job: Job
    committed: Upstream
    planned: DataFrame
    folder: Path | None
    manner: Manner

    @cached_property
    def events(self) -> DataFrame:
        return self.planned if self.job.faults is None else sent(self.planned)

    def execute(self) -> RunReport:
        plan = self.job.encode_plan(skip_refused=True)
        encoded = messages(self.events, plan)
        counts = count(encoded)
        skipped = skipped_events(self.job, encoded, counts.refused)
        self.manner.say(f"encoded {sum(counts.events.values())} events into {counts.total} messages")
        report = self._report(counts, skipped)
        if self.job.faults is None and self.manner.dry_run:
            return report
        with kept(event_places(self.events, plan)) as places:
            if self.job.faults is None:
                return self._written(encoded, places, report, None)
            with kept(fault_places(self.planned, places, encoded)) as faults:
                report = replace(report, faults=summed_faults(self.job, faults))
                return report if self.manner.dry_run else self._written(encoded, places, report, faults)

    def _written(
        self, encoded: DataFrame, places: DataFrame, report: RunReport, faults: DataFrame | None
    ) -> RunReport:
        if self.folder is not None:
            report = self._to_folder(self.folder, encoded, places, report, faults)
        if self.folder is None or not self.job.changefeed.sink_uri.embedded:
            report = self._to_kafka(places, report)
        return report

    def only_messages(self) -> RunReport:
        """Write the messages in one pass; whoever wants to, verifies them later."""
        uri = self.job.changefeed.sink_uri
        if self.folder is not None:
            self.manner.say(f"writing {self.folder}")
            counts, skipped = write_only_messages(self.folder, self.job, self.events)
            return self._report(counts, skipped, target=str(self.folder))
        if not uri.embedded:
            return self._only_delivered(self.job.changefeed.brokers)
        self.manner.say("starting the embedded Kafka broker")
        with EmbeddedKafka(keep=self.manner.keep) as broker:
            done = self._only_delivered(broker.bootstrap)
            return replace(done, broker_pid=broker.pid if self.manner.keep else 0)

    def _only_delivered(self, brokers: Brokers) -> RunReport:
        """A refused row ends the run with an account of what was delivered, unless such rows are skipped."""
        skips = self.job.scenario.on_error == "skip"
        plan = self.job.encode_plan(skip_refused=skips)
        skipped = refused(messages(self.events, plan)) if skips else []
        target = self._target(brokers)
        self.manner.say(f"writing to {brokers}, topic {', '.join(self.job.stream.slots.topics)}")
        clock, commits = self.job.stream.resolved.clock, self.job.history.commits
        span = clock.ts(0), clock.ts(commits - 1)
        with watched(target, span, self.manner.watcher):
            counts = target.write(self.events, plan)
        return self._report(counts, skipped, target=self._name(brokers))

    def _report(self, counts: Counts, skipped: list[dict[str, Any]], *, target: str = "") -> RunReport:
        return RunReport(
            scenario=self.job.scenario.name,
            target=target,
            dry_run=self.manner.dry_run,
            counts=counts,
            discarded=discarded(self.job),
            skipped=skipped,
            warnings=(*self.job.changefeed.warnings, *self.job.stream.router.warnings),
        )

    def _target(self, brokers: Brokers) -> KafkaTarget:
        self.job = with_registered_schemas(self.job)
        starts = begin(self.job, brokers, append=self.manner.append, resume=self.manner.resume)
        return KafkaTarget(self.job.changefeed, brokers, starts)

    def _name(self, brokers: Brokers) -> str:
        return f"kafka://{brokers}/{self.job.changefeed.sink_uri.topic}"

    def _to_folder(
        self,
        folder: Path,
        encoded: DataFrame,
        places: DataFrame,
        report: RunReport,
        faults: DataFrame | None,
    ) -> RunReport:
        self.manner.say(f"writing {folder}")
        write_folder(folder, self.job, self.committed, self.events, encoded, places, report, faults)
        if not self.manner.read_back:
            return replace(report, target=str(folder))
        source.manifest(folder)
        back = folder_messages(self.committed.spark, folder)
        return self._judged(back, places, report, str(folder), source.claims(folder))

    def _to_kafka(self, places: DataFrame, report: RunReport) -> RunReport:
        feed = self.job.changefeed
        if not feed.sink_uri.embedded:
            return self._deliver(feed.brokers, places, report)
        self.manner.say("starting the embedded Kafka broker")
        with EmbeddedKafka(keep=self.manner.keep) as broker:
            done = self._deliver(broker.bootstrap, places, report)
            pid = broker.pid if self.manner.keep else 0
        return replace(done, broker_pid=pid)

    def _deliver(self, brokers: Brokers, places: DataFrame, report: RunReport) -> RunReport:
        topics = self.job.stream.slots.topics
        target = self._target(brokers)
        self.manner.say(f"writing {report.counts.total} messages to {brokers}, topic {', '.join(topics)}")
        with watched(target, report.counts.total, self.manner.watcher):
            target.write(self.events, self.job.encode_plan(skip_refused=True))
        storage = self.job.changefeed.claim_check_storage_uri
        return self._judged(target.read(self.committed.spark), places, report, self._name(brokers), storage)

    def _judged(
        self, back: DataFrame, places: DataFrame, report: RunReport, target: str, claims: str
    ) -> RunReport:
        self.manner.say("reading back and verifying")
        whole = self.manner.from_beginning and not self.manner.append
        done = judged(
            self.job,
            self.committed,
            self.events,
            places,
            back,
            report,
            from_beginning=whole,
            claims=claims,
            observe=self.manner.observe,
        )
        return replace(done, target=target)


def judged(
    job: Job,
    committed: Upstream,
    events: DataFrame,
    places: DataFrame,
    back: DataFrame,
    report: RunReport,
    *,
    from_beginning: bool,
    claims: str,
    observe: Observe = unobserved,
) -> RunReport:
    """A report with the verdict on the messages that were read back.

    :param events: the event stream of ``committed``; ``places`` where its messages carry them.
    :param from_beginning: these messages are all that was ever sent of the tables.
    """
    with kept(back) as there:
        tables = {entry["table"] for entry in report.skipped}
        verdict = judge(
            job,
            committed,
            events,
            places,
            there,
            tables,
            from_beginning=from_beginning,
            claims=claims,
            observe=observe,
        )
        log = first_lines(there, job.changefeed.protocol)
    return replace(report, verdict=verdict, log=log)
