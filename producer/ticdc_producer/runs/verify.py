"""Verify a topic, a golden folder or a storage folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from ticdc_producer.config import Changefeed, SinkKind
from ticdc_producer.errors import ChangefeedError, ScenarioError
from ticdc_producer.runs.folder_expectations import folder_expectations
from ticdc_producer.runs.offset_ranges import brokers_of, whole_topics
from ticdc_producer.runs.prepare import Job, changefeed_of, prepare
from ticdc_producer.runs.read_session import folder_session, topic_session
from ticdc_producer.runs.small_verification import SMALL_MESSAGES, is_small_folder
from ticdc_producer.runs.stream_source import StreamSource
from ticdc_producer.runs.topic_ranges import SMALL_BYTES, TopicMessages, TopicRanges
from ticdc_producer.runs.traps import settings_of
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict
from ticdc_producer.runs.verify_storage import verify_storage
from ticdc_producer.runs.write_golden import folder_messages, folder_table
from ticdc_producer.scenario.load import ScenarioFile
from ticdc_producer.spark.session import announce_start
from ticdc_producer.spark.spark_errors import translate_worker_errors
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.verifier.messages import MessageFrame
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
    options = _Options(
        Strictness(
            strict_table_order=strict_table_order,
            from_beginning=from_beginning,
            resolved_gap_ms=resolved_gap_ms,
            examples=examples,
        ),
        in_worker,
        on_status,
        on_verdict,
    )
    if folder is not None:
        if config is not None:
            what, hint = "--config cannot be combined with --in", "a golden folder contains its changefeed"
            raise ChangefeedError(what, parameter="config", hint=hint)
        return _verify_folder(Path(folder), scenario, overrides, state_at, options)
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
    if changefeed.sink_uri.kind is not SinkKind.STORAGE:
        return _verify_topics(changefeed, job, options)
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


@dataclass(frozen=True)
class _Options:
    """Options of a verification that do not depend on its source."""

    strictness: Strictness
    in_worker: bool
    on_status: OnStatus
    on_verdict: OnVerdict


def _verify_topics(changefeed: Changefeed, job: Job | None, options: _Options) -> Verdict:
    topics = [changefeed.sink_uri.topic] if job is None else job.stream.topic_partitions.topics
    ranges = whole_topics(brokers_of(changefeed), topics)
    # The topic's partition count overrides the URI's.
    changefeed = changefeed.model_copy(update={"partition_num": max(part.partition for part in ranges) + 1})

    def session() -> SparkSession:
        announce_start(options.on_status)
        return topic_session(changefeed, ranges)

    source = StreamSource(
        changefeed=changefeed,
        topics=topics,
        session=session,
        job=None if job is None else replace(job, changefeed=changefeed),
        strictness=options.strictness,
        in_worker=options.in_worker,
        claims=changefeed.claim_check_storage_uri,
        on_verdict=options.on_verdict,
    )
    options.on_status("verifying")
    messages = TopicRanges(brokers=brokers_of(changefeed), ranges=ranges)
    if sum(part.end - part.start for part in ranges) <= SMALL_MESSAGES:
        found = source.small_verdict(messages)
        if found is not None:
            return found
    return source.verdict(TopicMessages(spark=session(), brokers=messages.brokers, ranges=ranges))


def _verify_folder(
    folder: Path,
    scenario: str | Path | ScenarioFile | None,
    overrides: Sequence[str],
    state_at: Sequence[int],
    options: _Options,
) -> Verdict:
    manifest = golden.manifest(folder)
    changefeed = golden.changefeed(folder, manifest)
    job, own = None, None
    if scenario is None:
        own = folder_expectations(folder, manifest, changefeed)
    else:
        traps = settings_of(manifest)
        job = prepare(scenario, overrides=overrides, changefeed=changefeed, inject=traps, state_at=state_at)

    def session() -> SparkSession:
        announce_start(options.on_status)
        return folder_session(changefeed, folder)

    source = StreamSource(
        changefeed=changefeed,
        topics=None,
        session=session,
        job=job,
        own=own,
        strictness=options.strictness,
        in_worker=options.in_worker,
        skipped=[str(one["table"]) for one in manifest.get("skipped", ()) if "table" in one],
        claims=golden.claims(folder),
        schemas=golden.schemas(folder),
        on_verdict=options.on_verdict,
    )
    options.on_status("verifying")
    if is_small_folder(folder) and (own is None or own.size <= 2 * SMALL_BYTES):
        found = source.small_verdict(folder_table(folder))
        if found is not None:
            return found
    return source.verdict(MessageFrame(folder_messages(session(), folder)))
