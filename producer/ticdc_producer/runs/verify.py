"""Verify a topic, a golden folder or a storage folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from ticdc_producer.config import Changefeed, SinkKind
from ticdc_producer.errors import ChangefeedError, ScenarioError
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.encoded import encode_once
from ticdc_producer.runs.expected_stream import ReencodedEvents
from ticdc_producer.runs.folder_expectations import FolderExpectations, folder_expectations
from ticdc_producer.runs.folder_expected import FolderExpected, small_folder_expected
from ticdc_producer.runs.offset_ranges import brokers_of, whole_topics
from ticdc_producer.runs.prepare import Job, changefeed_of, prepare
from ticdc_producer.runs.read_session import folder_session, topic_session
from ticdc_producer.runs.small_run import is_small
from ticdc_producer.runs.small_verification import (
    SMALL_MESSAGES,
    SmallExpectation,
    SmallExpected,
    SmallVerification,
    is_small_folder,
    small_stream,
    small_verdict,
)
from ticdc_producer.runs.step_rows import Session
from ticdc_producer.runs.topic_ranges import SMALL_BYTES, TopicMessages, TopicRanges
from ticdc_producer.runs.traps import settings_of
from ticdc_producer.runs.verification import Expectation, Expected, OnVerdict, ignore_verdict, verify_messages
from ticdc_producer.runs.verify_storage import verify_storage
from ticdc_producer.runs.write_golden import folder_messages, folder_table
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.spark.session import announce_start
from ticdc_producer.spark.spark_errors import translate_worker_errors
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.verifier.messages import MessageFrame, Messages
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.verdict import Verdict

OnStatus = Callable[[str], None]


@translate_worker_errors()
def verify(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    scenario: str | Path | ScenarioFile | None = None,
    config: str | Path | None = None,
    overrides: Sequence[str] = (),
    strict_table_order: bool = False,
    inject: Sequence[str] = (),
    state_at: Sequence[int] = (),
    from_beginning: bool = False,
    resolved_gap_ms: int | None = None,
    examples: int = 3,
    kafka_properties: Sequence[str] = (),
    in_worker: bool = False,
    on_status: OnStatus = lambda _line: None,
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify a topic, a golden folder or the folder of a storage sink against TiCDC's guarantees.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param sink_uri: TiCDC's sink URI of the topic or storage.
    :param folder: a golden folder; its manifest holds the changefeed.
    :param scenario: also compare events and rows with this scenario; without it a folder that this tool
        wrote is compared with the events and rows that it contains.
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
    :param in_worker: verify even few messages in a Spark worker: such a verification can be cancelled, and
        has a memory of its own.
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
        own = folder_expectations(Path(folder), manifest, changefeed) if job is None else None
        return _verify_folder(
            Path(folder),
            changefeed,
            manifest,
            job,
            own,
            strictness=strictness,
            in_worker=in_worker,
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

    def session() -> SparkSession:
        announce_start(on_status)
        return topic_session(changefeed, ranges)

    source = _Source(
        changefeed=changefeed,
        topics=_topics(changefeed, job),
        session=session,
        in_worker=in_worker,
        claims=changefeed.claim_check_storage_uri,
    )
    few = sum(part.end - part.start for part in ranges) <= SMALL_MESSAGES
    messages = TopicRanges(brokers=brokers_of(changefeed), ranges=ranges)
    on_status("verifying")
    found = _small_verdict(source, messages, job, strictness, on_verdict) if few else None
    if found is not None:
        return found
    topics = TopicMessages(spark=session(), brokers=messages.brokers, ranges=ranges)
    return _verdict(source, topics, job, strictness, on_verdict)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """What is verified.

    :param in_worker: whether to verify even few messages in a Spark worker.
    :param skipped: ``schema.table`` of tables with rejected rows.
    :param claims: location of the claim-check objects, as URI or path.
    :param schemas: Avro schemas stored in a folder, by the ids in its messages.
    :param own: what a folder expects of its messages, if no scenario is given.
    """

    changefeed: Changefeed
    topics: Sequence[str] | None
    session: Session
    in_worker: bool = False
    skipped: Sequence[str] = ()
    claims: str = ""
    schemas: Mapping[int, str] = field(default_factory=dict)
    own: FolderExpectations | None = None


def _folder_job(
    changefeed: Changefeed,
    manifest: dict[str, Any],
    scenario: str | Path | ScenarioFile,
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
    own: FolderExpectations | None,
    *,
    strictness: Strictness,
    in_worker: bool,
    on_status: OnStatus,
    on_verdict: OnVerdict,
) -> Verdict:
    def session() -> SparkSession:
        announce_start(on_status)
        return folder_session(changefeed, folder)

    source = _Source(
        changefeed=changefeed,
        topics=None,
        session=session,
        in_worker=in_worker,
        skipped=[str(one["table"]) for one in manifest.get("skipped", ()) if "table" in one],
        claims=golden.claims(folder),
        schemas=golden.schemas(folder),
        own=own,
    )
    on_status("verifying")
    if is_small_folder(folder) and (own is None or own.size <= 2 * SMALL_BYTES):
        messages = folder_table(folder)
        found = _small_verdict(source, messages, job, strictness, on_verdict)
        if found is not None:
            return found
    return _verdict(source, MessageFrame(folder_messages(session(), folder)), job, strictness, on_verdict)


def _small_verdict(
    source: _Source,
    messages: pa.Table | TopicRanges,
    job: Job | None,
    strictness: Strictness,
    on_verdict: OnVerdict,
) -> Verdict | None:
    """The verdict of one process; None if messages or scenario are too large for it."""
    if job is not None and not is_small(job):
        return None
    topics = source.topics
    if topics is None:
        topics = sorted(set(messages.column("topic").to_pylist())) if isinstance(messages, pa.Table) else ()
    expected: SmallExpectation | None = None
    if job is not None:
        expected = SmallExpected(job=job)
    elif source.own is not None:
        expected = small_folder_expected(source.own)
    task = SmallVerification(
        changefeed=source.changefeed,
        messages=messages,
        topics=topics,
        expected=expected,
        strictness=strictness,
        skipped=source.skipped,
        claims=source.claims,
        schemas=source.schemas,
    )
    found = small_verdict(task, job, source.session, in_worker=source.in_worker)
    if found is None:
        return None
    on_verdict(small_stream(source.session, task, found))
    return found.verdict


def _verdict(
    source: _Source,
    messages: Messages,
    job: Job | None,
    strictness: Strictness,
    on_verdict: OnVerdict,
) -> Verdict:
    with _expected(source, job) as expected:
        return verify_messages(
            source.changefeed,
            messages,
            expected,
            topics=source.topics,
            strictness=strictness,
            skipped=source.skipped,
            claims=source.claims,
            schemas=source.schemas,
            on_verdict=on_verdict,
        )


@contextmanager
def _expected(source: _Source, job: Job | None) -> Iterator[Expectation | None]:
    """What the job's scenario requires; without a job what the folder itself expects."""
    if job is None:
        yield None if source.own is None else FolderExpected(folder=source.own, spark=source.session())
        return
    with ExitStack() as stack:
        committed = change_log(source.session(), job.history)
        faults = job.event_faults(illegal=False)
        if faults is not None and committed.shuffles(faults):
            committed = stack.enter_context(committed.materialize_rows(job.stream))
        events, skipped = committed.events(job.stream, faults), frozenset[str]()
        if job.scenario.on_error == "skip":
            with encode_once(job, events, faults=False) as encoded:
                skipped = encoded.skipped_tables
        yield Expected(job, committed.steps, ReencodedEvents(job, events), skipped)


def _topics(changefeed: Changefeed, job: Job | None) -> list[str]:
    """The topics of the scenario; without a scenario the sink URI's topic."""
    return [changefeed.sink_uri.topic] if job is None else list(job.stream.topic_partitions.topics)
