"""A run in real time: generated changes at a rate, or a history at the pace of its time stamps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypedDict

from ticdc_producer.config import ConfigSource
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, choose_engine, translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import counted
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model import tso
from ticdc_producer.model.event import Kind
from ticdc_producer.oracle.scenario import ScenarioOracle, expected_messages
from ticdc_producer.runs.options.commands import FaultsOption
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.pace import DueEvents, HistoryPace, check_paced, check_speed, paced_slices
from ticdc_producer.runs.rate import (
    Slice,
    SystemClock,
    WallClock,
    ends_with_generate,
    read_rate,
    realtime_job,
    slices,
    with_clock_start,
)
from ticdc_producer.runs.run_options import OnStatus, RunOptions, check_sink_options, ignore_status
from ticdc_producer.runs.run_report import RunReport, report_of
from ticdc_producer.runs.targets.kafka import KafkaTarget
from ticdc_producer.runs.targets.run_topics import RunTopics, for_existing_topics, prepare_topics
from ticdc_producer.runs.targets.target import attach_verdict
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict
from ticdc_producer.scenario.load import ScenarioSource
from ticdc_producer.simulate.change_log import shuffled_row_events, sorted_again
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import encoded
from ticdc_producer.simulate.job import Job, with_registered_schemas
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.simulate.stream import ordered_events
from ticdc_producer.verifier.match import ExpectedStream


@translate_worker_errors()
def run_realtime(
    scenario: ScenarioSource,
    rate: str | None = None,
    duration: str | None = None,
    *,
    speed: float | None = None,
    sink_uri: str | None = None,
    config: ConfigSource | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    keep: bool = False,
    faults: FaultsOption = "recorded",
    engine: EngineOption = "auto",
    kafka_properties: Sequence[str] = (),
    wall_clock: WallClock | None = None,
    on_status: OnStatus = ignore_status,
    on_verdict: OnVerdict = ignore_verdict,
) -> RunReport:
    """Run a scenario in real time.

    With ``rate`` and a ``generate`` step at its end the clock starts now, unless the scenario names its
    start, and Ctrl-C ends the run after a resolved event on every partition. Otherwise the time stamps are
    those of the scenario, and its messages are sent at their pace. The written messages are verified.

    :param scenario: a ``.yaml``, a ``.sql``, the name of a shipped scenario, or a ``Scenario``.
    :param rate: row changes per time, such as ``5000/s``; on average, if no ``generate`` step ends the
        scenario.
    :param duration: length of the run, such as ``10m``; None: until all transactions of the step are sent.
    :param speed: in place of ``rate``: how many times as fast as the scenario's clock.
    :param sink_uri: TiCDC's sink URI; without a host the run starts an embedded broker.
    :param config: a changefeed TOML, or its content as a mapping.
    :param overrides: ``path=value`` for any key of the scenario.
    :param seed: replaces the scenario's seed.
    :param append: write after the messages that a topic already holds.
    :param keep: leave the embedded broker running.
    :param faults: as for ``run``.
    :param engine: as for ``run``.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param wall_clock: replaces the system's clock.
    :param on_status: called with a line of text for each step of the work.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    :raises ProducerError: as ``run``.
    """
    check_options("run", {"rate": rate, "speed": speed, "duration": duration})
    if rate is None and speed is None:
        what = "a run in real time needs `rate` or `speed`"
        raise ArgumentError(what, argument="rate", hint="rate='5000/s' or speed=10").about("rate")
    if speed is not None:
        check_speed(speed)
    given: _Given = {"sink_uri": sink_uri, "config": config, "overrides": overrides, "seed": seed}
    given["kafka_properties"] = kafka_properties
    job = prepare(scenario, recorded=faults == "recorded", **given)
    generates = rate is not None and ends_with_generate(job)
    if rate is not None and generates:
        job = realtime_job(scenario, rate, duration, recorded=faults == "recorded", **given)
    else:
        check_paced(job, duration)
    options = RunOptions(append=append, keep=keep, engine=engine, on_status=on_status, on_verdict=on_verdict)
    check_sink_options(job, options)
    job = for_existing_topics(job, on_status)
    target = KafkaTarget(job, options)
    target.check()
    on_status(f"scenario {job.scenario.name}: {counted(job.history.row_changes, 'row change')}")
    choice = choose_engine(engine, estimate_of(job))
    with target.started(), ExitStack() as stack:
        simulation = Simulation.of(job, EngineStart(choice, job.history.row_changes, on_status)())
        events: _Generated | _Paced
        if generates:
            events = _Generated.of(simulation, stack)
            on_status(f"generated {counted(events.number, 'row change')}")
        else:
            events = _Paced.of(simulation, stack, rate, speed)
        with target.opened():
            run = _Run(simulation, events, options, wall_clock or SystemClock())
            report = run.execute(target.brokers)
            origin = None if target.embedded and not keep else report.origin
            return replace(
                report,
                broker_pid=target.broker_pid,
                embedded=target.embedded,
                engine=choice,
                origin=origin,
            )


_COMMIT = ("commit_seq",)


class _Given(TypedDict, total=False):
    sink_uri: str | None
    config: ConfigSource | None
    overrides: Sequence[str]
    seed: int | None
    kafka_properties: Sequence[str]


@dataclass(frozen=True)
class _Generated:
    """The events of a scenario that ends with a ``generate`` step.

    :param changes: all changes (shape ``CHANGE_LOG``), sorted by commit, so that a slice reads only the
        batches with its changes.
    :param number: of the changes.
    """

    simulation: Simulation
    stack: ExitStack
    changes: Dataset
    number: int

    @classmethod
    def of(cls, simulation: Simulation, stack: ExitStack) -> _Generated:
        by_commit = simulation.log.changes(simulation.engine).shuffle(_COMMIT, Order(_COMMIT))
        changes = stack.enter_context(by_commit.cached(in_order=True))
        return cls(simulation, stack, changes, changes.count())

    def started(self, job: Job, now_ms: int) -> Job:
        """Return the job with a clock that starts now."""
        return with_clock_start(job, now_ms)

    def slices(self, job: Job, wall_clock: WallClock) -> Iterator[Slice]:
        return slices(job, wall_clock)

    def end_text(self, end_ts: int) -> str:
        """Return the end of a slice for the status line: it is a resolved-ts."""
        return f"resolved-ts {end_ts} ({_moment(end_ts)})"

    def of_slice(self, job: Job, slice_: Slice) -> Dataset:
        """Return the ordered event stream of a slice."""
        first, next_commit = (job.commits_until(ts) for ts in (slice_.after_ts, slice_.end_ts))
        changes = self.changes.within("commit_seq", first, next_commit)
        shuffled = shuffled_row_events(changes, job.stream, self.stack)
        rows = sorted_again(self.simulation.engine, shuffled, job.stream, self.stack)
        log = replace(self.simulation.log, row_events=rows)
        events = ordered_events(log, job.stream, self.simulation.engine, self.stack)
        return events.within("deliver_after_ts", slice_.after_ts + 1, slice_.end_ts + 1)


@dataclass(frozen=True)
class _Paced:
    """The events of a history with given time stamps, sent at their pace.

    :param events: the ordered event stream.
    :param due: when they are due.
    """

    events: Dataset
    pace: HistoryPace
    due: DueEvents

    @classmethod
    def of(cls, simulation: Simulation, stack: ExitStack, rate: str | None, speed: float | None) -> _Paced:
        ordered = simulation.ordered_events(stack)
        events = stack.enter_context(ordered.cached(in_order=True))
        rows, first, last = _span(events)
        if speed is None:
            seconds = rows / read_rate(rate or "")
            speed = (tso.physical(last) - tso.physical(first)) / 1000 / seconds if rows else math.inf
        pace = HistoryPace(first, last, speed or math.inf)
        return cls(events, pace, _due_events(events, pace))

    def started(self, job: Job, _now_ms: int) -> Job:
        """Return the job, whose time stamps are given."""
        return job

    def slices(self, _job: Job, wall_clock: WallClock) -> Iterator[Slice]:
        return paced_slices(self.pace, self.due, wall_clock)

    def end_text(self, end_ts: int) -> str:
        """Return the end of a slice for the status line: a time that is due, which no event need have."""
        return f"up to {_moment(end_ts)}"

    def of_slice(self, _job: Job, slice_: Slice) -> Dataset:
        """Return the ordered event stream of a slice."""
        return self.events.within("deliver_after_ts", slice_.after_ts + 1, slice_.end_ts + 1)


def _span(events: Dataset) -> tuple[int, int, int]:
    """Return the number of rows of events, and their first and last TSO."""

    def of_part(_part: Part, batches: Batches) -> tuple[int, int, int]:
        rows, first, last = 0, tso.MAX_TS, 0
        for batch in batches:
            times = batch.column("deliver_after_ts").to_numpy()
            rows += int((batch.column("kind").to_numpy() == Kind.ROW).sum())
            first, last = min(first, int(times.min(initial=first))), max(last, int(times.max(initial=last)))
        return rows, first, last

    parts = events.select("deliver_after_ts", "kind").results(of_part)
    counts, firsts, lasts = zip(*parts, strict=True) if parts else ((0,), (0,), (0,))
    return sum(counts), min(firsts), max(lasts)


def _due_events(events: Dataset, pace: HistoryPace) -> DueEvents:
    """Return when events are due, in memory that does not grow with them."""

    def of_part(_part: Part, batches: Batches) -> DueEvents:
        times = (batch.column("deliver_after_ts").to_numpy() for batch in batches)
        return DueEvents.merged((DueEvents.of(ts, pace) for ts in times), pace)

    return DueEvents.merged(events.select("deliver_after_ts").results(of_part), pace)


@dataclass(frozen=True)
class _Run:
    """A run in real time."""

    simulation: Simulation
    events: _Generated | _Paced
    options: RunOptions
    wall_clock: WallClock

    def execute(self, brokers: Brokers) -> RunReport:
        job, wall_clock = with_registered_schemas(self.simulation.job), self.wall_clock
        starts = prepare_topics(job, brokers, append=self.options.append, resume=False)
        job = self.events.started(job, wall_clock.start())
        topics = RunTopics(job.changefeed, brokers, starts, described={})
        with wall_clock.ended_by_signals() if isinstance(wall_clock, SystemClock) else nullcontext():
            end = self._write(job, topics)
        commits = job.commits_until(end)
        if commits < job.history.commits:
            job = replace(job, sent=commits)
        return self._with_verdict(job, self.events.of_slice(job, Slice(-1, end)), topics)

    def _write(self, job: Job, topics: RunTopics) -> int:
        """Write slice by slice.

        :return: TSO of the last resolved event.
        """
        skips = job.scenario.on_error == "skip"
        end = written = 0
        for slice_ in self.events.slices(job, self.wall_clock):
            summaries = topics.encode_and_write(job, self.events.of_slice(job, slice_), skip_rejected=skips)
            count = Counts.of_partitions(summaries).total
            topics = topics.after(summaries)
            written, end = written + count, slice_.end_ts
            if count:
                end_text = self.events.end_text(end)
                self.options.on_status(_progress_line(written, end, end_text, job, self.wall_clock))
        return end

    def _with_verdict(self, job: Job, events: Dataset, topics: RunTopics) -> RunReport:
        simulation = replace(self.simulation, job=job)
        with encoded(job, events, expected_events=True, digests=True) as stream:
            warnings = (*job.changefeed.warnings, *job.stream.router.warnings)
            report = report_of(simulation, stream.counts, stream.rejections, warnings)
            # The clock of this job is another one; what the stream lacks is known of the one before.
            faults = self.simulation.faults_of(stream)
            report = replace(report, target=topics.name, origin=topics.origin(job), faults=faults)
            skipped = frozenset(entry["table"] for entry in report.skipped)
            wire = expected_messages(job, events)
            expected = ExpectedStream(stream.compared_events, wire=wire)
            oracle = ScenarioOracle(job, simulation.engine, simulation.log, expected, skipped)
            messages = topics.read(simulation.engine)
            claims = job.changefeed.claim_check_storage_uri
            return attach_verdict(simulation, oracle, messages, report, self.options, claims=claims)


def _moment(ts: int) -> str:
    return tso.to_datetime(ts).replace(tzinfo=None).isoformat(" ", "milliseconds")


def _progress_line(written: int, end: int, end_text: str, job: Job, wall_clock: WallClock) -> str:
    """Return the status line: messages, their rate, their end, and the remaining time of the scenario."""
    last = job.stream.resolved.clock.ts(job.history.commits - 1)
    remaining = timedelta(seconds=max(0, tso.physical(last) - tso.physical(end)) // 1000)
    rate = written * 1000 // max(1, wall_clock.elapsed_ms())
    return f"written {written:,} messages, {rate:,}/s, {end_text}, {remaining} left"
