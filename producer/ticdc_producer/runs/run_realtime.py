"""A run in real time: sends generated changes at a rate, until all are sent or a signal ends the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta

from ticdc_producer.config import ConfigSource
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, choose_engine, translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.hints import counted
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model import tso
from ticdc_producer.oracle.scenario import ScenarioOracle, expected_messages
from ticdc_producer.runs.rate import Slice, SystemClock, WallClock, realtime_job, slices, with_clock_start
from ticdc_producer.runs.run_options import OnStatus, RunOptions, check_sink_options, ignore_status
from ticdc_producer.runs.run_report import RunReport, report_of
from ticdc_producer.runs.targets.kafka import KafkaTarget
from ticdc_producer.runs.targets.run_topics import RunTopics, for_existing_topics, prepare_topics
from ticdc_producer.runs.targets.target import attach_verdict
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict
from ticdc_producer.scenario.load import ScenarioSource
from ticdc_producer.simulate.change_log import shuffled_row_events
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import encoded
from ticdc_producer.simulate.job import Job, with_registered_schemas
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.simulate.stream import ordered_events
from ticdc_producer.targets.kafka.topics import Offsets
from ticdc_producer.verifier.match import ExpectedStream


@translate_worker_errors()
def run_realtime(
    scenario: ScenarioSource,
    rate: str,
    duration: str | None = None,
    *,
    sink_uri: str | None = None,
    config: ConfigSource | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    keep: bool = False,
    engine: EngineOption = "auto",
    kafka_properties: Sequence[str] = (),
    wall_clock: WallClock | None = None,
    on_status: OnStatus = ignore_status,
    on_verdict: OnVerdict = ignore_verdict,
) -> RunReport:
    """Run a scenario that ends with a ``generate`` step in real time.

    The clock starts now, unless the scenario names its start. Ctrl-C ends the run after a resolved event on
    every partition; then the written messages are verified.

    :param scenario: a ``.yaml``, a ``.sql``, the name of a shipped scenario, or a ``Scenario``.
    :param rate: row changes per time, such as ``5000/s``.
    :param duration: length of the run, such as ``10m``; None: until all transactions of the step are sent.
    :param sink_uri: TiCDC's sink URI; without a host the run starts an embedded broker.
    :param config: a changefeed TOML, or its content as a mapping.
    :param overrides: ``path=value`` for any key of the scenario.
    :param seed: replaces the scenario's seed.
    :param append: write after the messages that a topic already holds.
    :param keep: leave the embedded broker running.
    :param engine: as for ``run``.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param wall_clock: replaces the system's clock.
    :param on_status: called with a line of text for each step of the work.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    :raises ProducerError: as ``run``.
    """
    job = realtime_job(
        scenario,
        rate,
        duration,
        sink_uri=sink_uri,
        config=config,
        overrides=overrides,
        seed=seed,
        kafka_properties=kafka_properties,
    )
    options = RunOptions(append=append, keep=keep, engine=engine, on_status=on_status, on_verdict=on_verdict)
    check_sink_options(job, options)
    job = for_existing_topics(job, on_status)
    target = KafkaTarget(job, options)
    target.check()
    on_status(f"scenario {job.scenario.name}: {counted(job.history.row_changes, 'row change')}")
    choice = choose_engine(engine, estimate_of(job))
    with target.started(), ExitStack() as stack:
        simulation = Simulation.of(job, EngineStart(choice, job.history.row_changes, on_status)())
        # Sorted by commit, so that a slice reads only the batches with its changes.
        by_commit = simulation.log.changes(simulation.engine).shuffle(_COMMIT, Order(_COMMIT))
        changes = stack.enter_context(by_commit.cached(in_order=True))
        number = sum(changes.results(_count))
        on_status(f"generated {counted(number, 'row change')}")
        with target.opened():
            run = _Run(simulation, changes, stack, options, wall_clock or SystemClock())
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


def _count(_part: Part, batches: Batches) -> int:
    return sum(batch.num_rows for batch in batches)


@dataclass(frozen=True)
class _Run:
    """A run in real time.

    :param changes: all changes (shape ``CHANGE_LOG``).
    """

    simulation: Simulation
    changes: Dataset
    stack: ExitStack
    options: RunOptions
    wall_clock: WallClock

    def execute(self, brokers: Brokers) -> RunReport:
        job, wall_clock = with_registered_schemas(self.simulation.job), self.wall_clock
        starts = prepare_topics(job, brokers, append=self.options.append, resume=False)
        job = with_clock_start(job, wall_clock.start())
        topics = RunTopics(job.changefeed, brokers, starts)
        with wall_clock.ended_by_signals() if isinstance(wall_clock, SystemClock) else nullcontext():
            end = self._write(job, topics)
        commits = job.commits_until(end)
        if commits < job.history.commits:
            job = replace(job, sent=commits)
        return self._with_verdict(job, self._events(job, Slice(-1, end)), topics)

    def _write(self, job: Job, topics: RunTopics) -> int:
        """Write slice by slice.

        :return: TSO of the last resolved event.
        """
        skips = job.scenario.on_error == "skip"
        end = written = 0
        for slice_ in slices(job, self.wall_clock):
            summaries = topics.encode_and_write(job, self._events(job, slice_), skip_rejected=skips)
            counts = Counts.of_partitions(summaries)
            topics = replace(topics, starts=_next_starts(topics.starts, counts.messages))
            written, end = written + counts.total, slice_.end_ts
            self.options.on_status(_progress_line(written, end, job, self.wall_clock))
        return end

    def _events(self, job: Job, slice_: Slice) -> Dataset:
        """Return the ordered event stream of a slice."""
        first, next_commit = (job.commits_until(ts) for ts in (slice_.after_ts, slice_.end_ts))
        changes = self.changes.within("commit_seq", first, next_commit)
        rows = shuffled_row_events(changes, job.stream, self.stack)
        log = replace(self.simulation.log, row_events=rows)
        events = ordered_events(log, job.stream, self.simulation.engine, self.stack)
        return events.within("deliver_after_ts", slice_.after_ts + 1, slice_.end_ts + 1)

    def _with_verdict(self, job: Job, events: Dataset, topics: RunTopics) -> RunReport:
        simulation = replace(self.simulation, job=job)
        with encoded(job, events, expected_events=True, digests=True) as stream:
            warnings = (*job.changefeed.warnings, *job.stream.router.warnings)
            report = report_of(simulation, stream.counts, stream.rejections, warnings)
            report = replace(
                report, target=topics.name, origin=topics.origin(job), faults=stream.fault_summary
            )
            skipped = frozenset(entry["table"] for entry in report.skipped)
            wire = expected_messages(job, events)
            expected = ExpectedStream(stream.compared_events, wire=wire)
            oracle = ScenarioOracle(job, simulation.engine, simulation.log, expected, skipped)
            messages = topics.read(simulation.engine)
            claims = job.changefeed.claim_check_storage_uri
            return attach_verdict(simulation, oracle, messages, report, self.options, claims=claims)


def _progress_line(written: int, end: int, job: Job, wall_clock: WallClock) -> str:
    """Return the status line: messages, their rate, resolved-ts, and the remaining time of the scenario."""
    moment = tso.to_datetime(end).replace(tzinfo=None).isoformat(" ", "milliseconds")
    last = job.stream.resolved.clock.ts(job.history.commits - 1)
    remaining = timedelta(seconds=(tso.physical(last) - tso.physical(end)) // 1000)
    rate = written * 1000 // max(1, wall_clock.elapsed_ms())
    return f"written {written:,} messages, {rate:,}/s, resolved-ts {end} ({moment}), {remaining} left"


def _next_starts(starts: Offsets, messages: Counter[tuple[str, int, str]]) -> Offsets:
    ends = dict(starts)
    for (topic, partition, _), number in messages.items():
        ends[topic, partition] += number
    return ends
