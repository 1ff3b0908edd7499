"""A run in real time: sends generated changes at a rate, until all are sent or a signal ends the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model import tso
from ticdc_producer.runs.attach_verdict import attach_verdict
from ticdc_producer.runs.change_log import RunChangeLog, change_log
from ticdc_producer.runs.counts import discarded, rejected_rows
from ticdc_producer.runs.encoded import encode_once
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import Job, with_registered_schemas
from ticdc_producer.runs.rate import Slice, realtime_job, slices, with_clock_start
from ticdc_producer.runs.run_options import RunOptions, check_broker_options
from ticdc_producer.runs.run_report import OnStatus, RunReport, ignore_status
from ticdc_producer.runs.run_topics import RunTopics, prepare_topics
from ticdc_producer.runs.verification import Expected, OnVerdict, ignore_verdict
from ticdc_producer.runs.wall_clock import SystemClock, WallClock
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.spark.event_stream import ordered_events
from ticdc_producer.spark.row_events import row_events
from ticdc_producer.spark.session import announce_start, spark_session
from ticdc_producer.spark.spark_errors import translate_worker_errors
from ticdc_producer.targets.encoding.ordered_events import EventFrame
from ticdc_producer.targets.kafka.topics import Offsets


@translate_worker_errors()
def run_realtime(
    scenario: str | Path,
    rate: str,
    duration: str | None = None,
    *,
    sink_uri: str | None = None,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    keep: bool = False,
    kafka_properties: Sequence[str] = (),
    wall_clock: WallClock | None = None,
    on_status: OnStatus = ignore_status,
    on_verdict: OnVerdict = ignore_verdict,
) -> RunReport:
    """Run a scenario that ends with a ``generate`` step in real time.

    The clock starts now, unless the scenario names its start. Ctrl-C ends the run after a resolved event on
    every partition; then the written messages are verified.

    :param scenario: a ``.yaml``, a ``.sql`` or the name of a shipped scenario.
    :param rate: row changes per time, such as ``5000/s``.
    :param duration: length of the run, such as ``10m``; None: until all transactions of the step are sent.
    :param sink_uri: TiCDC's sink URI; without a host the run starts an embedded broker.
    :param config: a changefeed TOML.
    :param overrides: ``path=value`` for any key of the scenario.
    :param seed: replaces the scenario's seed.
    :param append: write after the messages that a topic already holds.
    :param keep: leave the embedded broker running.
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
    options = RunOptions(append=append, keep=keep, on_status=on_status, on_verdict=on_verdict)
    check_broker_options(job.changefeed.sink_uri, options)
    target = KafkaTarget(job, options)
    target.check()
    on_status(f"scenario {job.scenario.name}: {job.history.row_changes} row changes")
    with target.started():
        announce_start(on_status)
        spark = spark_session()
        # Sorted by commit, so that a slice reads only the batches with its changes.
        committed = change_log(spark, job.history)
        changes = committed.changes.repartition("commit_seq").sortWithinPartitions("commit_seq")
        with materialized(changes, in_order=True) as changes:
            on_status(f"generated {changes.count()} row changes")
            with target.opened():
                report = _run(job, committed, changes, target.brokers, options, wall_clock or SystemClock())
                return replace(report, broker_pid=target.broker_pid)


def _run(
    job: Job,
    committed: RunChangeLog,
    changes: DataFrame,
    brokers: Brokers,
    options: RunOptions,
    wall_clock: WallClock,
) -> RunReport:
    job = with_registered_schemas(job)
    starts = prepare_topics(job, brokers, append=options.append, resume=False)
    job = with_clock_start(job, wall_clock.start())
    with wall_clock.ended_by_signals() if isinstance(wall_clock, SystemClock) else nullcontext():
        end = _write(job, changes, RunTopics(job.changefeed, brokers, starts), wall_clock, options.on_status)
    commits = job.commits_until(end)
    if commits < job.history.commits:
        job = replace(job, sent=commits)
    target = RunTopics(job.changefeed, brokers, starts)
    events = _slice_events(job, changes, Slice(-1, end))
    return _with_verdict(job, committed, events, target, options)


def _write(
    job: Job, changes: DataFrame, target: RunTopics, wall_clock: WallClock, on_status: OnStatus
) -> int:
    """Write slice by slice.

    :return: TSO of the last resolved event.
    """
    plan = job.encode_plan(skip_refused=job.scenario.on_error == "skip")
    end = written = 0
    for slice_ in slices(job, wall_clock):
        counts = target.write(_slice_events(job, changes, slice_), plan)
        target = replace(target, starts=_next_starts(target.starts, counts.messages))
        written, end = written + counts.total, slice_.end_ts
        on_status(_progress_line(written, end, job, wall_clock))
    return end


def _progress_line(written: int, end: int, job: Job, wall_clock: WallClock) -> str:
    """Status line: messages, their rate, resolved-ts, and the remaining time of the scenario."""
    moment = tso.to_datetime(end).replace(tzinfo=None).isoformat(" ", "milliseconds")
    last = job.stream.resolved.clock.ts(job.history.commits - 1)
    left = timedelta(seconds=(tso.physical(last) - tso.physical(end)) // 1000)
    rate = written * 1000 // max(1, wall_clock.elapsed_ms())
    return f"written {written:,} messages, {rate:,}/s, resolved-ts {end} ({moment}), {left} left"


def _next_starts(starts: Offsets, messages: Counter[tuple[str, int, str]]) -> Offsets:
    ends = dict(starts)
    for (topic, partition, _), number in messages.items():
        ends[topic, partition] += number
    return ends


def _slice_events(job: Job, changes: DataFrame, slice_: Slice) -> EventFrame:
    """The ordered event stream of one slice."""
    first, next_commit = (job.commits_until(ts) for ts in (slice_.after_ts, slice_.end_ts))
    changes = changes.where((F.col("commit_seq") >= first) & (F.col("commit_seq") < next_commit))
    events = ordered_events(row_events(changes, job.stream), job.stream)
    return EventFrame(
        events.where(
            (F.col("deliver_after_ts") > slice_.after_ts) & (F.col("deliver_after_ts") <= slice_.end_ts)
        )
    )


def _with_verdict(
    job: Job, committed: RunChangeLog, events: EventFrame, target: RunTopics, options: RunOptions
) -> RunReport:
    with encode_once(job, events, carried=True) as encoded:
        report = RunReport(
            scenario=job.scenario.name,
            target=target.name,
            dry_run=False,
            counts=encoded.counts,
            discarded=discarded(job),
            skipped=rejected_rows(encoded.entries) if encoded.counts.rejected else [],
            warnings=(*job.changefeed.warnings, *job.stream.router.warnings),
        )
        skipped = frozenset(entry["table"] for entry in report.skipped)
        expected = Expected(job, committed.steps, encoded, skipped)
        storage = job.changefeed.claim_check_storage_uri
        return attach_verdict(expected, target.read(committed.spark), report, options, claims=storage)
