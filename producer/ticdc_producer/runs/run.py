"""Runs a scenario: prepares it, selects and checks its targets, and executes it on an engine.

The module of a target is imported only for runs with this target: a folder needs no Kafka client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ticdc_producer.config import ConfigSource, SinkKind
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, choose_engine, translate_worker_errors
from ticdc_producer.hints import counted
from ticdc_producer.local_path import local_path
from ticdc_producer.oracle.scenario import ScenarioOracle, expected_messages
from ticdc_producer.runs.options.commands import FaultsOption
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.run_options import OnStatus, RunOptions, check_sink_options, ignore_status
from ticdc_producer.runs.run_report import OnProgress, RunReport, final_progress, report_of
from ticdc_producer.runs.targets.golden import GoldenTarget
from ticdc_producer.runs.targets.target import Target
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict
from ticdc_producer.scenario.load import ScenarioSource
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import EncodedStream, encoded
from ticdc_producer.simulate.fault_counts import uninjected_summary
from ticdc_producer.simulate.fitted_faults import check_times, check_times_are_known, with_fitted_faults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import TimeStamp, prepare
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.verifier.match import ExpectedStream


def checked_targets(job: Job, options: RunOptions) -> tuple[Target, ...]:
    """Return the targets that a run writes, in this order, after the checks that need no Spark.

    :raises ProducerError: for a target that the run must not write.
    """
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


def _for_existing_topics(job: Job, options: RunOptions) -> Job:
    uri = job.changefeed.sink_uri
    if uri.kind is not SinkKind.KAFKA or uri.embedded or options.dry_run or options.replace:
        return job  # the Kafka client is not needed
    from ticdc_producer.runs.targets.run_topics import for_existing_topics

    return for_existing_topics(job, options.on_status)


def _targets(job: Job, options: RunOptions) -> list[Target]:
    uri = job.changefeed.sink_uri
    if uri.kind is SinkKind.STORAGE:
        from ticdc_producer.runs.targets.storage import StorageTarget

        return [StorageTarget(job, options)]
    if uri.kind is SinkKind.PULSAR:
        from ticdc_producer.runs.targets.pulsar import PulsarTarget

        return [PulsarTarget(job, options)]
    if options.resume:
        from ticdc_producer.runs.targets.run_topics import check_resumable

        check_resumable(job)
    golden = [] if options.out is None else [GoldenTarget(job, options, options.out)]
    if golden and uri.embedded and not options.keep:
        return [*golden]
    from ticdc_producer.runs.targets.kafka import KafkaTarget

    return [*golden, KafkaTarget(job, options)]


def execute(simulation: Simulation, targets: Sequence[Target], options: RunOptions) -> RunReport:
    """Run a prepared job.

    :param targets: as returned by ``checked_targets``.
    """
    with ExitStack() as stack:
        simulation.events = targets[0].events(simulation, stack)
        run = _Run(simulation, targets, options, stack)
        return run.only_messages() if options.messages_only else run.execute()


@dataclass
class _Run:
    """A run."""

    simulation: Simulation
    targets: Sequence[Target]
    options: RunOptions
    stack: ExitStack

    def execute(self) -> RunReport:
        if self._encodes_again:
            events = self.simulation.events.cached(in_order=True)
            self.simulation.events = self.stack.enter_context(events)
        self.simulation.encoded = self._encoded()
        report = self._report_of(self.simulation.encoded)
        if self.options.dry_run:
            return report
        self.simulation.correct = self._correct()
        for target in self.targets:
            with target.opened():
                report = self._written(target, report)
        reported = any(target.measures_progress for target in self.targets)
        if self.options.on_progress is not None and not reported:
            self.options.on_progress(final_progress(self.simulation.job, report.counts.total))
        return report

    @property
    def _encodes_again(self) -> bool:
        """Whether the events are also encoded in another way: without faults, or with registered schemas."""
        again = self.simulation.job.faults is not None
        again = again or any(target.encodes_again for target in self.targets)
        return again and not self.options.dry_run and not self.simulation.is_divided

    def _encoded(self) -> EncodedStream:
        job, written = self.simulation.job, not self.options.dry_run
        compared = self.options.verify_output and job.faults is None
        stream = encoded(
            job,
            self.simulation.events,
            messages=written and not all(target.encodes_again for target in self.targets),
            expected_events=written
            and (compared or any(target.holds_expected_events for target in self.targets)),
            digests=written and compared,
        )
        return self.stack.enter_context(stream)

    def _correct(self) -> EncodedStream:
        """Return the stream with which the messages are compared: with legal faults, without illegal ones."""
        job = self.simulation.job
        if job.faults is None or not self.options.verify_output:
            return self.simulation.encoded
        events = self.simulation.correct_events(self.simulation.events, self.stack)
        stream = encoded(job, events, expected_events=True, faults=False, digests=True)
        return self.stack.enter_context(stream)

    def _report_of(self, stream: EncodedStream) -> RunReport:
        counts = stream.counts
        skipped = stream.rejected_events()
        check_times(self.simulation.job, stream.fault_numbers)
        events = sum(counts.events.values())
        self.options.on_status(f"encoded {counted(events, 'event')} into {counted(counts.total, 'message')}")
        for target in self.targets:
            target.check_encoded(self.simulation)
        return replace(self._report(stream.counts, skipped), faults=self.simulation.faults_of(stream))

    def _written(self, target: Target, report: RunReport) -> RunReport:
        """Write an open target and verify it."""
        report = target.write(self.simulation, report)
        report = _of_target(report, target)
        if not self.options.verify_output:
            return report
        correct = self.simulation.correct
        wire = expected_messages(target.job, correct.events)
        expected = ExpectedStream(correct.compared_events, wire=wire)
        skipped = self.simulation.encoded.rejected_tables
        oracle = ScenarioOracle(target.job, self.simulation.engine, self.simulation.log, expected, skipped)
        return target.verified(self.simulation, oracle, report)

    def only_messages(self) -> RunReport:
        """Write the messages of the first target in one pass, without verifying them."""
        target = self.targets[0]
        with target.opened():
            counts, skipped = target.write_in_one_pass(self.simulation)
            faults = uninjected_summary(self.simulation.job, counts)
            report = replace(self._report(counts, skipped), faults=faults)
            return _of_target(report, target)

    def _report(self, counts: Counts, skipped: list[Rejection]) -> RunReport:
        return report_of(
            self.simulation, counts, skipped, self.targets[0].warnings, dry_run=self.options.dry_run
        )


def _of_target(report: RunReport, target: Target) -> RunReport:
    return replace(
        report,
        target=target.name,
        broker_pid=target.broker_pid,
        embedded=target.embedded,
        origin=target.origin(),
    )


@translate_worker_errors()
def run(
    scenario: ScenarioSource,
    *,
    sink_uri: str | None = None,
    config: ConfigSource | None = None,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    replace: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    keep: bool = False,
    messages_only: bool = False,
    verify_output: bool = True,
    engine: EngineOption = "auto",
    start_ts: TimeStamp | None = None,
    target_ts: TimeStamp | None = None,
    state_at: Sequence[int] = (),
    inject: Sequence[str] = (),
    faults: FaultsOption = "recorded",
    kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
    on_progress: OnProgress | None = None,
    on_verdict: OnVerdict = ignore_verdict,
) -> RunReport:
    """Run a scenario into the Kafka or storage of the sink URI, into a folder, or into an embedded broker.

    Nothing is written before all input was checked and, unless ``messages_only`` is set, every event was
    encoded once.

    :param scenario: a ``.yaml``, a ``.sql``, the name of a shipped scenario, or a ``Scenario``.
    :param sink_uri: TiCDC's sink URI; without a host the run writes to ``out`` if that is given, else to
        an embedded broker that lives as long as the run.
    :param config: a changefeed TOML, or its content as a mapping.
    :param out: the golden folder to write; must not exist, or be empty.
    :param overrides: ``path=value`` for any key of the scenario.
    :param seed: replaces the scenario's seed.
    :param append: write after the messages that a topic already holds.
    :param replace: delete the topics and the golden folder that exist, once all events are encoded.
    :param resume: continue an earlier run of the same scenario that did not finish.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running; with ``out`` both are written.
    :param messages_only: write the messages in one pass, without expected events or state, and do not verify
        them.
    :param verify_output: read the written messages again and verify them; else the report has no verdict.
    :param engine: ``local``: run in this process; ``spark``: in Spark's tasks; ``auto``: in Spark's tasks if
        the scenario is not small, or if only Spark can run it. The bytes are the same.
    :param start_ts: send only what commits after this time, a TSO or a time; replaces the scenario's. The
        folder then has a snapshot.
    :param target_ts: send only what commits up to this time; replaces the scenario's.
    :param state_at: time stamps (TSO) for which the folder also gets the expected state.
    :param inject: traps in addition to the scenario's: ``ID``, ``ID:rate=0.01``, ``ID:times=3``.
    :param faults: ``recorded``: events that came again in a recorded topic come again; ``none``: once.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :param on_progress: called every second with the progress of writing, and at its end.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    :raises ProducerError: if the input is wrong (then nothing was written), or the environment fails.
    """
    given: dict[str, object] = {"out": out, "append": append, "replace": replace, "resume": resume}
    given |= {"dry_run": dry_run, "keep": keep, "messages_only": messages_only, "state_at": state_at}
    given |= {"overrides": overrides, "seed": seed, "inject": inject, "faults": faults, "engine": engine}
    check_options("run", given)
    job = prepare(
        scenario,
        sink_uri=sink_uri,
        config=config,
        overrides=overrides,
        seed=seed,
        start_ts=start_ts,
        target_ts=target_ts,
        state_at=state_at,
        inject=inject,
        recorded=faults == "recorded",
        kafka_properties=kafka_properties,
    )
    options = RunOptions(
        out=None if out is None else local_path(out),
        append=append,
        replace=replace,
        resume=resume,
        dry_run=dry_run,
        keep=keep,
        messages_only=messages_only,
        from_beginning=not job.history.data,
        verify_output=verify_output,
        engine=engine,
        on_status=on_status,
        on_progress=on_progress,
        on_verdict=on_verdict,
    )
    return run_job(job, options)


@translate_worker_errors()
def run_job(job: Job, options: RunOptions) -> RunReport:
    """Check the targets of a prepared job, and execute it.

    :raises ProducerError: if a target must not be written (nothing was written), or the environment fails.
    """
    check_sink_options(job, options)
    if options.messages_only:
        check_times_are_known(job)
    job = with_fitted_faults(_for_existing_topics(job, options))
    targets = checked_targets(job, options)
    on_status = options.on_status
    history = job.history
    size = f"{counted(history.commits, 'commit')}, {counted(history.row_changes, 'row change')}"
    on_status(f"scenario {job.scenario.name}: {size}")
    for note in history.ignored_statements.notes:
        on_status(f"{note.file}:{note.line}: note: {note.text}")
    only_local = any(target.only_local for target in targets)
    choice = choose_engine("local" if only_local else options.engine, estimate_of(job))
    with started(targets):
        simulation = Simulation.of(job, EngineStart(choice, history.row_changes, on_status)())
        report = execute(simulation, targets, options)
    changes = 0 if history.data else history.row_changes
    return replace(report, row_changes=changes, engine=choice, traps=tuple(job.traps))
