"""Verify a topic, a golden folder or a storage folder."""

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
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.offset_ranges import brokers_of, whole_topics
from ticdc_producer.runs.prepare import Job, changefeed_of, prepare
from ticdc_producer.runs.read_session import folder_session, topic_session
from ticdc_producer.runs.traps import settings_of
from ticdc_producer.runs.unverifiable_tables import tables_with_rejected_rows
from ticdc_producer.runs.verification import Expected, OnVerdict, ignore_verdict, verify_messages
from ticdc_producer.runs.verify_storage import verify_storage
from ticdc_producer.runs.write_golden import folder_messages
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.spark.worker_errors import translate_worker_errors
from ticdc_producer.targets.decoding.dataframes import kafka_messages
from ticdc_producer.targets.encoding.event_offsets import event_offsets
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.verdict import Verdict

OnStatus = Callable[[str], None]


@translate_worker_errors()
def verify(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    scenario: str | Path | None = None,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    strict_table_order: bool = False,
    inject: Sequence[str] = (),
    state_at: Sequence[int] = (),
    from_beginning: bool = False,
    resolved_gap_ms: int | None = None,
    examples: int = 3,
    kafka_properties: Sequence[str] = (),
    on_status: OnStatus = lambda _line: None,
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify a topic, a golden folder or the folder of a storage sink against TiCDC's guarantees.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param sink_uri: TiCDC's sink URI of the topic or storage.
    :param folder: a golden folder; its manifest holds the changefeed.
    :param scenario: also compare events and final state with this scenario.
    :param config: a changefeed TOML: dispatch rules, protocol options.
    :param overrides: ``path=value`` for any key of the scenario.
    :param strict_table_order: require commit-ts order per table under every dispatch rule.
    :param inject: traps of the topic in addition to the scenario's; legal ones are expected. A folder's
        traps are in its manifest.
    :param state_at: time stamps (TSO) at which the rows are also compared with the scenario's.
    :param from_beginning: the stream starts at the creation of its tables and omits nothing: require the
        insert of every row, its whole history and every DDL.
    :param resolved_gap_ms: report gaps between two resolved-ts that are longer than this, in milliseconds.
    :param examples: number of examples per violated invariant.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    :raises ProducerError: for a source that cannot be read; violations in it are part of the verdict.
    """
    if (sink_uri is None) == (folder is None):
        raise ChangefeedError("give exactly one source: --sink-uri or --in", parameter="sink-uri")
    if state_at and scenario is None:
        raise ScenarioError("--state-at requires --scenario", hint="add --scenario SCENARIO")
    if (overrides or inject) and scenario is None:
        option = "--set" if overrides else "--inject"
        raise ScenarioError(f"{option} requires --scenario", hint="add --scenario SCENARIO")
    strictness = Strictness(
        strict_table_order=strict_table_order,
        from_beginning=from_beginning,
        resolved_gap_ms=resolved_gap_ms,
        examples=examples,
    )
    if folder is not None:
        if config is not None:
            what, hint = "--config cannot be combined with --in", "a golden folder contains its changefeed"
            raise ChangefeedError(what, parameter="config", hint=hint)
        manifest = golden.manifest(Path(folder))
        changefeed = golden.changefeed(Path(folder), manifest)
        job = None if scenario is None else _folder_job(changefeed, manifest, scenario, overrides, state_at)
        return _verify_folder(
            Path(folder),
            changefeed,
            manifest,
            job,
            strictness=strictness,
            on_status=on_status,
            on_verdict=on_verdict,
        )
    job = (
        None
        if scenario is None
        else prepare(
            scenario,
            sink_uri=sink_uri,
            config=config,
            overrides=overrides,
            inject=inject,
            state_at=state_at,
            kafka_properties=kafka_properties,
        )
    )
    changefeed = (
        changefeed_of(sink_uri, config, kafka_properties=kafka_properties) if job is None else job.changefeed
    )
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        rejected_options = {
            "strict_table_order": strict_table_order,
            "state_at": state_at,
            "from_beginning": from_beginning,
        }
        return verify_storage(
            changefeed,
            job,
            on_status=on_status,
            on_verdict=on_verdict,
            **rejected_options,
            resolved_gap_ms=resolved_gap_ms,
        )
    ranges = whole_topics(brokers_of(changefeed), _topics(changefeed, job))
    # The topic's partition count overrides the URI's.
    changefeed = changefeed.model_copy(update={"partition_num": max(part.partition for part in ranges) + 1})
    job = None if job is None else replace(job, changefeed=changefeed)
    on_status("starting Spark")
    spark = topic_session(changefeed, ranges)
    read_messages, claims = (
        kafka_messages(spark, brokers_of(changefeed), ranges),
        changefeed.claim_check_storage_uri,
    )
    return _verdict(
        read_messages,
        changefeed,
        job,
        claims,
        strictness=strictness,
        on_status=on_status,
        on_verdict=on_verdict,
    )


def _folder_job(
    changefeed: Changefeed,
    manifest: dict[str, Any],
    scenario: str | Path,
    overrides: Sequence[str],
    state_at: Sequence[int],
) -> Job:
    """The scenario, with the changefeed and the traps of a folder's manifest."""
    return prepare(
        scenario, overrides=overrides, changefeed=changefeed, inject=settings_of(manifest), state_at=state_at
    )


def _verify_folder(
    folder: Path,
    changefeed: Changefeed,
    manifest: dict[str, Any],
    job: Job | None,
    *,
    strictness: Strictness,
    on_status: OnStatus,
    on_verdict: OnVerdict,
) -> Verdict:
    on_status("starting Spark")
    spark = folder_session(changefeed, folder)
    read_messages = folder_messages(spark, folder)
    skipped = [str(one["table"]) for one in manifest.get("skipped", ()) if "table" in one]
    return _verdict(
        read_messages,
        changefeed,
        job,
        golden.claims(folder),
        strictness=strictness,
        skipped=skipped,
        schemas=golden.schemas(folder),
        on_status=on_status,
        on_verdict=on_verdict,
    )


def _verdict(
    read_messages: DataFrame,
    changefeed: Changefeed,
    job: Job | None,
    claims: str,
    *,
    strictness: Strictness,
    skipped: Sequence[str] = (),
    schemas: Mapping[int, str] | None = None,
    on_status: OnStatus,
    on_verdict: OnVerdict,
) -> Verdict:
    on_status("verifying")
    with materialized(read_messages) as read_messages, _expected(read_messages.sparkSession, job) as expected:
        return verify_messages(
            changefeed,
            read_messages,
            expected,
            strictness=strictness,
            skipped=skipped,
            claims=claims,
            schemas=schemas,
            on_verdict=on_verdict,
        )


@contextmanager
def _expected(spark: SparkSession, job: Job | None) -> Iterator[Expected | None]:
    """What the job's scenario requires; None without a job."""
    if job is None:
        yield None
        return
    with change_log(spark, job.history).materialize_rows(job.stream) as committed:
        events = committed.events(job.stream, job.event_faults(illegal=False))
        with materialized(event_offsets(events, job.encode_plan(skip_refused=True, faults=False))) as offsets:
            skipped = tables_with_rejected_rows(offsets) if job.scenario.on_error == "skip" else set()
            expected = partial(expected_events, job, events, offsets)
            yield Expected(job, committed.steps, expected, frozenset(skipped))


def _topics(changefeed: Changefeed, job: Job | None) -> list[str]:
    """The topics of the scenario; without a scenario the sink URI's topic."""
    return [changefeed.sink_uri.topic] if job is None else list(job.stream.topic_partitions.topics)
