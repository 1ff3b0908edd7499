"""The verify job: a topic or a golden folder, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.config import Changefeed, SinkKind
from ticdc_producer.errors import ChangefeedError, ScenarioError
from ticdc_producer.runs.change_log import upstream
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.offset_ranges import brokers_of, whole_topics
from ticdc_producer.runs.prepare import Job, changefeed_of, prepare
from ticdc_producer.runs.read_session import folder_session, topic_session
from ticdc_producer.runs.traps import settings_of
from ticdc_producer.runs.unverifiable_tables import tables_with_refused_rows
from ticdc_producer.runs.verification import Expected, Observe, unobserved, verdict
from ticdc_producer.runs.verify_storage import verify_storage
from ticdc_producer.runs.write_golden import folder_messages
from ticdc_producer.spark.materialize import kept
from ticdc_producer.spark.worker_errors import values_refused
from ticdc_producer.targets.decoding.dataframes import kafka_messages
from ticdc_producer.targets.encoding.event_offsets import event_places
from ticdc_producer.targets.golden.read import changefeed, claims, manifest, schemas
from ticdc_producer.verifier.options import Demands
from ticdc_producer.verifier.verdict import Verdict

Say = Callable[[str], None]


@values_refused()
def verify(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    scenario: str | Path | None = None,
    config: str | Path | None = None,
    sets: Sequence[str] = (),
    strict_seed: bool = False,
    inject: Sequence[str] = (),
    state_at: Sequence[int] = (),
    from_beginning: bool = False,
    resolved_gap_ms: int | None = None,
    witnesses: int = 3,
    client: Sequence[str] = (),
    say: Say = lambda _line: None,
    observe: Observe = unobserved,
) -> Verdict:
    """Check a topic, a golden folder or the folder of a storage sink against TiCDC's guarantees.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param folder: a golden folder; its manifest says how it was written.
    :param scenario: compare events and final state with what this scenario gives, too.
    :param config: a changefeed TOML: dispatch rules, protocol options.
    :param sets: ``path=value`` for any key of the scenario.
    :param strict_seed: demand commit-ts order per table under every dispatch rule.
    :param inject: traps that the topic was made with, beside the scenario's. The legal ones are expected. A
        folder's manifest tells its own.
    :param state_at: time stamps (TSO) at which the rows are compared with the scenario's, too.
    :param from_beginning: the stream starts where its tables were created and hides nothing: demand the
        insert of every row, its whole history and every DDL.
    :param resolved_gap_ms: tell of resolved events that come later than this after the one before them.
    :param witnesses: examples to show of each violated invariant.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param observe: is handed the decoded stream and the verdict, for reports.
    :raises ProducerError: for a source that cannot be read; what is wrong in it is in the verdict.
    """
    if (sink_uri is None) == (folder is None):
        raise ChangefeedError("name one thing to verify: --sink-uri or --in", parameter="sink-uri")
    if state_at and scenario is None:
        raise ScenarioError("a state is compared with a scenario's", hint="add --scenario SCENARIO")
    if (sets or inject) and scenario is None:
        option = "--set" if sets else "--inject"
        raise ScenarioError(f"{option} is of a scenario, and none is given", hint="add --scenario SCENARIO")
    demands = Demands(
        strict_seed=strict_seed,
        from_beginning=from_beginning,
        resolved_gap_ms=resolved_gap_ms,
        witnesses=witnesses,
    )
    if folder is not None:
        if config is not None:
            what, hint = "a golden folder says itself how it was written", "leave --config out"
            raise ChangefeedError(what, parameter="config", hint=hint)
        written = manifest(Path(folder))
        feed = changefeed(Path(folder), written)
        job = None if scenario is None else _folders_job(feed, written, scenario, sets, state_at)
        return _verify_folder(Path(folder), feed, written, job, demands=demands, say=say, observe=observe)
    job = (
        None
        if scenario is None
        else prepare(
            scenario,
            sink_uri=sink_uri,
            config=config,
            sets=sets,
            inject=inject,
            state_at=state_at,
            client=client,
        )
    )
    feed = changefeed_of(sink_uri, config, client=client) if job is None else job.changefeed
    if feed.sink_uri.kind is SinkKind.STORAGE:
        given = {"strict_seed": strict_seed, "state_at": state_at, "from_beginning": from_beginning}
        return verify_storage(feed, job, say=say, observe=observe, **given, resolved_gap=resolved_gap_ms)
    ranges = whole_topics(brokers_of(feed), _topics(feed, job))
    # How many partitions there are the topic knows better than the URI.
    feed = feed.model_copy(update={"partition_num": max(part.partition for part in ranges) + 1})
    job = None if job is None else replace(job, changefeed=feed)
    say("starting Spark")
    spark = topic_session(feed, ranges)
    back, claims = kafka_messages(spark, brokers_of(feed), ranges), feed.claim_check_storage_uri
    return _verdict(back, feed, job, claims, demands=demands, say=say, observe=observe)


def _folders_job(
    feed: Changefeed,
    written: dict[str, Any],
    scenario: str | Path,
    sets: Sequence[str],
    state_at: Sequence[int],
) -> Job:
    """The scenario as a folder was made of it; ``written`` is the folder's manifest."""
    return prepare(scenario, sets=sets, changefeed=feed, inject=settings_of(written), state_at=state_at)


def _verify_folder(
    folder: Path,
    feed: Changefeed,
    written: dict[str, Any],
    job: Job | None,
    *,
    demands: Demands,
    say: Say,
    observe: Observe,
) -> Verdict:
    say("starting Spark")
    spark = folder_session(feed, folder)
    back = folder_messages(spark, folder)
    skipped = [str(one["table"]) for one in written.get("skipped", ()) if "table" in one]
    return _verdict(
        back,
        feed,
        job,
        claims(folder),
        demands=demands,
        skipped=skipped,
        known=schemas(folder),
        say=say,
        observe=observe,
    )


def _verdict(
    back: DataFrame,
    feed: Changefeed,
    job: Job | None,
    claims: str,
    *,
    demands: Demands,
    skipped: Sequence[str] = (),
    known: Mapping[int, str] | None = None,
    say: Say,
    observe: Observe,
) -> Verdict:
    say("verifying")
    with kept(back) as there, _wanted(there.sparkSession, job) as wanted:
        return verdict(
            feed,
            there,
            wanted,
            demands=demands,
            skipped=skipped,
            claims=claims,
            schemas=known,
            observe=observe,
        )


@contextmanager
def _wanted(spark: SparkSession, job: Job | None) -> Iterator[Expected | None]:
    """What the job's scenario says that must come; None without one."""
    if job is None:
        yield None
        return
    with upstream(spark, job.history).drawn_once(job.stream) as committed:
        events = committed.events(job.stream, job.event_faults(illegal=False))
        with kept(event_places(events, job.encode_plan(skip_refused=True, faults=False))) as places:
            skipped = tables_with_refused_rows(places) if job.scenario.on_error == "skip" else set()
            wanted = partial(expected_events, job, events, places)
            yield Expected(job, committed, wanted, frozenset(skipped))


def _topics(feed: Changefeed, job: Job | None) -> list[str]:
    """The topics of the scenario; without one the sink URI's."""
    return [feed.sink_uri.topic] if job is None else list(job.stream.slots.topics)
