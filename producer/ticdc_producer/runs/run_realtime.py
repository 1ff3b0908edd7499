"""A run in real time: generated changes at a rate, until they are done or somebody asks it to end."""

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
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model import tso
from ticdc_producer.pipeline.event_stream import event_stream
from ticdc_producer.runs.change_log import Upstream, upstream
from ticdc_producer.runs.clock import Pacemaker, RealTime
from ticdc_producer.runs.counts import count, discarded
from ticdc_producer.runs.kafka_target import KafkaTarget
from ticdc_producer.runs.prepare import Job, with_registered_schemas
from ticdc_producer.runs.prepare_topics import begin
from ticdc_producer.runs.rate import paced_job, started
from ticdc_producer.runs.rejected_rows import refused
from ticdc_producer.runs.run import Manner, checked_target, judged
from ticdc_producer.runs.run_report import RunReport, Say, silent
from ticdc_producer.runs.slices import Slice, slices
from ticdc_producer.runs.verification import Observe, unobserved
from ticdc_producer.spark.materialize import kept
from ticdc_producer.spark.session import spark_session
from ticdc_producer.spark.worker_errors import values_refused
from ticdc_producer.targets.encoding.event_offsets import event_places
from ticdc_producer.targets.encoding.messages import messages
from ticdc_producer.targets.kafka.topics import Offsets


@values_refused()
def run_paced(
    scenario: str | Path,
    rate: str,
    duration: str | None = None,
    *,
    sink_uri: str | None = None,
    config: str | Path | None = None,
    sets: Sequence[str] = (),
    seed: int | None = None,
    append: bool = False,
    keep: bool = False,
    client: Sequence[str] = (),
    time: Pacemaker | None = None,
    say: Say = silent,
    observe: Observe = unobserved,
) -> RunReport:
    """Run a scenario that ends with a ``generate`` step in real time.

    The clock starts now, unless the scenario names its start. Ctrl-C ends the run behind a resolved event on
    every partition; then it is verified like one that is done.

    :param rate: row changes by time, such as ``5000/s``.
    :param duration: how long, such as ``10m``; None: until the transactions of the step are done.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param time: instead of real time.
    :param say: is told what happens, a line at a time.
    :param observe: is handed the decoded stream and the verdict, for reports.
    :raises ProducerError: as ``run``.
    """
    job = paced_job(
        scenario, rate, duration, sink_uri=sink_uri, config=config, sets=sets, seed=seed, client=client
    )
    checked_target(job, None, Manner(append=append, keep=keep))
    say(f"scenario {job.scenario.name}: {job.history.row_changes} row changes")
    say("starting Spark")
    spark = spark_session()
    # In the order of commits, so that a slice finds its changes without a look at all of them.
    committed = upstream(spark, job.history)
    log = committed.changes.repartition("commit_seq").sortWithinPartitions("commit_seq")
    with kept(log, in_order=True) as log:
        say(f"making {log.count()} row changes")
        broker = EmbeddedKafka(keep=keep) if job.changefeed.sink_uri.embedded else None
        with broker or nullcontext():
            brokers = broker.bootstrap if broker else job.changefeed.brokers
            report = _run(job, committed, log, brokers, append, time or RealTime(), say, observe)
            return replace(report, broker_pid=broker.pid if broker and keep else 0)


def _run(
    job: Job,
    committed: Upstream,
    log: DataFrame,
    brokers: Brokers,
    append: bool,
    time: Pacemaker,
    say: Say,
    observe: Observe,
) -> RunReport:
    job = with_registered_schemas(job)
    starts = begin(job, brokers, append=append, resume=False)
    job = started(job, time.begin())
    with time.ended_by_signals() if isinstance(time, RealTime) else nullcontext():
        end = _write(job, log, KafkaTarget(job.changefeed, brokers, starts), time, say)
    commits = job.commits_until(end)
    if commits < job.history.commits:
        job = replace(job, sent=commits)
    say("reading back and verifying")
    with kept(_events(job, log, Slice(-1, end)), in_order=True) as events:
        target = KafkaTarget(job.changefeed, brokers, starts)
        return _judged(job, committed, events, target, observe, from_beginning=not append)


def _write(job: Job, log: DataFrame, target: KafkaTarget, time: Pacemaker, say: Say) -> int:
    """Write slice by slice.

    :return: TSO of the last resolved event.
    """
    plan = job.encode_plan(skip_refused=job.scenario.on_error == "skip")
    end = written = 0
    for part in slices(job, time):
        counts = target.write(_events(job, log, part), plan)
        target = replace(target, starts=_behind(target.starts, counts.messages))
        written, end = written + counts.total, part.to
        say(_far(written, end, job, time))
    return end


def _far(written: int, end: int, job: Job, time: Pacemaker) -> str:
    """Messages, their rate, resolved-ts, and what of the time is left."""
    moment = tso.to_datetime(end).replace(tzinfo=None).isoformat(" ", "milliseconds")
    last = job.stream.resolved.clock.ts(job.history.commits - 1)
    left = timedelta(seconds=(tso.physical(last) - tso.physical(end)) // 1000)
    rate = written * 1000 // max(1, time.passed())
    return f"written {written:,} messages, {rate:,}/s, resolved-ts {end} ({moment}), {left} left"


def _behind(starts: Offsets, messages: Counter[tuple[str, int, str]]) -> Offsets:
    ends = dict(starts)
    for (topic, partition, _), number in messages.items():
        ends[topic, partition] += number
    return ends


def _events(job: Job, log: DataFrame, part: Slice) -> DataFrame:
    """The ordered event stream of one slice."""
    first, behind = (job.commits_until(ts) for ts in (part.behind, part.to))
    changes = log.where((F.col("commit_seq") >= first) & (F.col("commit_seq") < behind))
    events = event_stream(log.sparkSession, changes, job.stream)
    return events.where((F.col("at") > part.behind) & (F.col("at") <= part.to))


def _judged(
    job: Job,
    committed: Upstream,
    events: DataFrame,
    target: KafkaTarget,
    observe: Observe,
    *,
    from_beginning: bool,
) -> RunReport:
    plan = job.encode_plan(skip_refused=True)
    encoded = messages(events, plan)
    counts = count(encoded)
    report = RunReport(
        scenario=job.scenario.name,
        target=f"kafka://{target.brokers}/{job.changefeed.sink_uri.topic}",
        dry_run=False,
        counts=counts,
        discarded=discarded(job),
        skipped=refused(encoded) if counts.refused else [],
        warnings=(*job.changefeed.warnings, *job.stream.router.warnings),
    )
    back = target.read(events.sparkSession)
    storage = job.changefeed.claim_check_storage_uri
    return judged(
        job,
        committed,
        events,
        event_places(events, plan),
        back,
        report,
        from_beginning=from_beginning,
        claims=storage,
        observe=observe,
    )
