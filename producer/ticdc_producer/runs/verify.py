"""Verify a topic, a golden folder or a storage folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, Estimate, translate_worker_errors
from ticdc_producer.faults.trap import EXPECTED_EVENTS
from ticdc_producer.local_path import local_path
from ticdc_producer.oracle.folder import FolderOracle
from ticdc_producer.oracle.folder_content import folder_content, rejected_tables, uncounted_faults
from ticdc_producer.oracle.scenario import oracle_of_scenario
from ticdc_producer.runs.options.commands import FaultsOption
from ticdc_producer.runs.options.rule import STORAGE
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.targets.golden import folder_messages, folder_size
from ticdc_producer.runs.targets.run_topics import check_beginning, topic_messages
from ticdc_producer.runs.targets.storage import verify_storage
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict, verify_messages
from ticdc_producer.scenario.load import ScenarioSource
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import TimeStamp, prepare
from ticdc_producer.simulate.scenario_changefeed import settings_of
from ticdc_producer.simulate.simulate import estimate_of
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.kafka.read import OffsetRange, file_messages, file_ranges
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.verdict import Verdict


@translate_worker_errors()
def verify(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    messages: str | Path | None = None,
    scenario: ScenarioSource | ScenarioFile | None = None,
    config: ConfigSource | None = None,
    overrides: Sequence[str] = (),
    strict_table_order: bool = False,
    inject: Sequence[str] = (),
    faults: FaultsOption = "recorded",
    start_ts: TimeStamp | None = None,
    target_ts: TimeStamp | None = None,
    state_at: Sequence[int] = (),
    from_beginning: bool = False,
    resolved_gap_ms: int | None = None,
    examples: int = 3,
    kafka_properties: Sequence[str] = (),
    engine: EngineOption = "auto",
    on_status: OnStatus = ignore_status,
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify a topic, a golden folder or the folder of a storage sink against TiCDC's guarantees.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param sink_uri: TiCDC's sink URI of the topic or storage.
    :param folder: a golden folder; its manifest holds the changefeed.
    :param messages: a file with the messages of the topic that ``sink_uri`` names, which is read in place of
        the topic: lines of ``messages.jsonl``, of ``kcat -J``, or of Kafka's console consumer.
    :param scenario: also compare events and rows with this scenario; without it a folder that this tool
        wrote is compared with the events and rows that it contains.
    :param config: a changefeed TOML, or its content as a mapping: dispatch rules, protocol options.
    :param overrides: ``path=value`` for any key of the scenario.
    :param strict_table_order: require commit-ts order per table under every dispatch rule.
    :param inject: traps of the topic in addition to the scenario's; legal ones are expected. A folder's
        traps are in its manifest.
    :param faults: of a topic: as for ``run`` of the scenario, if that is a recording.
    :param start_ts: the changefeed's start-ts, a TSO or a time; replaces the scenario's. That of a folder is
        in its manifest.
    :param target_ts: the changefeed's target-ts; replaces the scenario's.
    :param state_at: time stamps (TSO) at which the rows are also compared with the scenario's.
    :param from_beginning: the stream starts at the creation of its tables and omits nothing: require the
        insert of every row, its whole history and every DDL.
    :param resolved_gap_ms: report gaps between two resolved-ts that are longer than this, in milliseconds.
    :param examples: number of examples per violated invariant.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param engine: ``local``: verify in this process; ``spark``: in Spark's tasks; ``auto``: in Spark's tasks
        if the messages are not few.
    :param on_status: called with a line of text for each step of the work.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    :raises ProducerError: for a source that cannot be read; violations in it are part of the verdict.
    """
    given: dict[str, object] = {"sink_uri": sink_uri, "folder": folder, "scenario": scenario}
    given |= {"messages": messages}
    given |= {"config": config, "overrides": overrides, "inject": inject, "faults": faults}
    given |= {"state_at": state_at, "examples": examples, "engine": engine}
    given |= {"strict_table_order": strict_table_order, "from_beginning": from_beginning}
    given |= {"resolved_gap_ms": resolved_gap_ms, "start_ts": start_ts, "target_ts": target_ts}
    check_options("verify", given)
    strictness = Strictness(
        strict_table_order=strict_table_order,
        from_beginning=from_beginning,
        resolved_gap_ms=resolved_gap_ms,
        examples=examples,
    )
    options = _Options(strictness, engine, on_status, on_verdict)
    if folder is not None:
        parse_kafka_properties(kafka_properties)
        times = start_ts, target_ts
        return _verify_folder(local_path(folder), scenario, overrides, times, state_at, options)
    job = (
        None
        if scenario is None
        else prepare(
            scenario,
            sink_uri=sink_uri,
            config=config,
            overrides=overrides,
            inject=inject,
            recorded=faults == "recorded",
            start_ts=start_ts,
            target_ts=target_ts,
            state_at=state_at,
            kafka_properties=kafka_properties,
        )
    )
    changefeed = (
        changefeed_of(sink_uri, config, kafka_properties=kafka_properties) if job is None else job.changefeed
    )
    if changefeed.sink_uri.kind is not SinkKind.STORAGE:
        file = None if messages is None else local_path(messages)
        return _verify_topics(changefeed, job, file, options)
    check_options("verify", {**given, "inject": () if job is None else job.traps}, STORAGE)
    return verify_storage(changefeed, job, engine=engine, on_status=on_status, on_verdict=on_verdict)


@dataclass(frozen=True)
class _Options:
    """Options of a verification that do not depend on its source."""

    strictness: Strictness
    engine: EngineOption
    on_status: OnStatus
    on_verdict: OnVerdict

    def started(self, estimate: Estimate, job: Job | None) -> EngineStart:
        """Return the start of the engine.

        :param estimate: the messages that are read.
        :param job: the scenario with which they are compared, whose events are encoded again.
        """
        if job is not None:
            of_job = estimate_of(job)
            estimate = Estimate(
                events=max(estimate.events, of_job.events),
                nbytes=max(estimate.nbytes, of_job.nbytes),
                rows=max(estimate.rows, of_job.rows),
                requires_spark=of_job.requires_spark,
            )
        return EngineStart.of(self.engine, estimate, self.on_status)


def for_topics(changefeed: Changefeed, ranges: Sequence[OffsetRange]) -> Changefeed:
    """Return the changefeed for the partitions of the topics that are read.

    ``partition-num`` counts if no partition of the sink URI's topic after these has messages.
    """
    counts = Counter(part.topic for part in ranges)
    topic, named = changefeed.sink_uri.topic, changefeed.partition_num
    after = (part for part in ranges if part.topic == topic and part.partition >= named)
    uses_first = changefeed.sets_partition_num and all(part.start == part.end for part in after)
    number = min(named, counts[topic]) if uses_first else counts[topic]
    number = number or named  # a file of messages may have other topics alone
    return changefeed.model_copy(update={"partition_num": number}).with_topics({**counts, topic: number})


def _verify_topics(changefeed: Changefeed, job: Job | None, file: Path | None, options: _Options) -> Verdict:
    topic = changefeed.sink_uri.topic
    topics = [topic] if job is None else job.stream.topic_partitions.topics
    if file is None:
        options.on_status(f"connecting to {brokers_of(changefeed)}")
        ranges = whole_topics(brokers_of(changefeed), topics)
    else:
        named = changefeed.partition_num if changefeed.sets_partition_num else 0
        ranges = file_ranges(file, topic, named)
        topics = [*dict.fromkeys(part.topic for part in ranges)] if job is None else topics
    if options.strictness.from_beginning:
        check_beginning(ranges)
    changefeed = for_topics(changefeed, ranges)
    ranges = [part for part in ranges if part.partition < changefeed.partitions_of(part.topic)]
    job = None if job is None else replace(job, changefeed=changefeed)
    number = sum(part.size for part in ranges)
    start = options.started(messages_estimate(changefeed, number), job)
    engine = start()
    options.on_status(f"verifying {number:,} messages of {', '.join(topics) if file is None else file}")
    with oracle_of_scenario(job, engine) as oracle:
        verified = verify_messages(
            engine,
            changefeed,
            topic_messages(engine, brokers_of(changefeed), ranges)
            if file is None
            else Messages(file_messages(engine, file, topic).reused()),
            oracle,
            topics=topics,
            strictness=options.strictness,
            claims=changefeed.claim_check_storage_uri,
        )
        options.on_verdict(verified)
    return replace(verified.verdict, engine=start.choice)


def messages_estimate(changefeed: Changefeed, messages: int, nbytes: int = 0) -> Estimate:
    """Return the amount of work of some messages, with the most rows that they can have.

    :param messages: their number.
    """
    rows = messages * changefeed.most_batch_rows if changefeed.batches_rows else messages
    return Estimate(events=messages, nbytes=nbytes, rows=rows)


def _verify_folder(
    folder: Path,
    scenario: ScenarioSource | ScenarioFile | None,
    overrides: Sequence[str],
    times: tuple[TimeStamp | None, TimeStamp | None],
    state_at: Sequence[int],
    options: _Options,
) -> Verdict:
    manifest: Mapping[str, Any] = golden.manifest(folder)
    changefeed = golden.changefeed(folder, manifest)
    job, own = None, None
    if scenario is None:
        own = folder_content(folder, manifest, changefeed)
    else:
        traps = settings_of(manifest)
        job = prepare(
            scenario,
            overrides=overrides,
            changefeed=changefeed,
            inject=traps,
            recorded=bool(manifest.get("recorded-faults")),
            start_ts=manifest.get("start-ts") if times[0] is None else times[0],
            target_ts=manifest.get("target-ts") if times[1] is None else times[1],
            state_at=state_at,
        )
    estimate = folder_estimate(folder, changefeed, 0 if own is None else own.size)
    start = options.started(estimate, job)
    engine = start()
    options.on_status(f"verifying the messages of {folder}")
    with oracle_of_scenario(job, engine) as of_scenario:
        verified = verify_messages(
            engine,
            changefeed,
            Messages(folder_messages(engine, folder)),
            FolderOracle(own, engine) if own is not None else of_scenario,
            strictness=options.strictness,
            skipped=rejected_tables(manifest),
            claims=golden.claims(folder),
            schemas=golden.schemas(folder),
        )
        if job is None:
            verified = replace(verified, verdict=_with_uncounted(verified.verdict, manifest))
        options.on_verdict(verified)
    return replace(verified.verdict, engine=start.choice)


def _with_uncounted(verdict: Verdict, manifest: Mapping[str, object]) -> Verdict:
    """Return the verdict with the illegal faults that were requested, and that nothing compares."""
    if not (traps := uncounted_faults(manifest)):
        return verdict
    finding = Finding(
        id=EXPECTED_EVENTS,
        severity="not checked",
        count=0,
        statement="The events are those of a correct stream.",
        hint=f"the folder was written with {', '.join(traps)} and has messages alone, no expected events; "
        "`scenario` gives them",
    )
    return replace(verdict, findings=(*verdict.findings, finding))


def folder_estimate(folder: Path, changefeed: Changefeed, nbytes: int = 0) -> Estimate:
    """Return the amount of work of the messages of a golden folder.

    :param nbytes: bytes of other files that are read with them.
    """
    messages = folder_size(folder)
    largest = max(messages.nbytes, nbytes)
    return messages_estimate(changefeed, messages.count, largest // 2)  # Base64, names of columns
