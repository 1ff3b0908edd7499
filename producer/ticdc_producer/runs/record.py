"""Records a topic, a golden folder or a file of messages as a scenario that gives the same history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.parameters import BY_NAME, has_parameter
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.engine.local import LocalDataset, LocalEngine, local
from ticdc_producer.errors import (
    ArgumentError,
    ChangefeedError,
    DecodeError,
    MessageError,
    RecordingError,
    ScenarioError,
)
from ticdc_producer.local_path import local_path
from ticdc_producer.model import tso
from ticdc_producer.model.fidelity import COARSE, Fidelity, has_commit_ts
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.recording.events import CHANGES, RESOLVED, Accepts, EventReader, Summary
from ticdc_producer.recording.folder import write_rows, write_scenario
from ticdc_producer.recording.history import Deliveries, recorded_changes, recorded_resolved
from ticdc_producer.rows.changes import sends_base64
from ticdc_producer.rows.origin import Origin, golden_folder, messages_of_topics
from ticdc_producer.runs.decode import likely_protocol, protocol_hint
from ticdc_producer.runs.options import check_options
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.run_topics import brokers_of, whole_topics
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.prepare import TimeStamp, changefeed_of, prepare, read_ts
from ticdc_producer.targets.decode import events_decoder
from ticdc_producer.targets.golden.write import golden_folder as new_folder
from ticdc_producer.targets.kafka.read import OffsetRange, file_messages, file_ranges
from ticdc_producer.targets.kafka.schema_registry import schemas_of_registry
from ticdc_producer.targets.record_batches import with_table_schemas

_EXTENSION = "enable-tidb-extension"


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What was recorded.

    :param folder: the scenario.
    :param protocol: of the messages.
    :param partitions: number of partitions that were read.
    :param events: number of recorded events by kind; a DDL or resolved event of several partitions is one.
    :param repeated: number of row events that were delivered again, which are recorded once.
    :param repetitions: the messages of the first of them, each with that of the first delivery.
    :param damaged: number of messages that were left out.
    :param notes: what the messages do not carry.
    """

    folder: Path
    protocol: str
    partitions: int
    events: Counter[str]
    repeated: int = 0
    repetitions: tuple[tuple[str, str], ...] = ()
    damaged: int = 0
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "folder": str(self.folder), "events": dict(self.events)}

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        count = ", ".join(f"{self.events[kind]:,} {kind}" for kind in ("row", "ddl", "resolved"))
        where = f"{self.partitions} partition{'s' * (self.partitions != 1)}"
        yield f"recorded {count} events of {where} in {self.protocol} as {self.folder}"
        if self.repeated:
            again, first = self.repetitions[0]
            yield f"{self.repeated:,} row events came again, and are recorded once: {again} as {first}"
        if self.damaged:
            yield f"{self.damaged:,} messages are damaged, and were left out"
        yield from self.notes


@dataclass
class _Source:
    """The messages to record.

    :param partitions: their number by topic.
    """

    origin: Origin
    partitions: dict[str, int] = field(default_factory=dict)


def record(
    *,
    out: str | Path,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    messages: str | Path | None = None,
    config: ConfigSource | None = None,
    table: Sequence[str] = (),
    until: TimeStamp | None = None,
    skip_damaged: bool = False,
    kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
) -> Recording:
    """Record a topic, a golden folder or a file of messages as a scenario.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param out: folder of the scenario to write; must not exist, or be empty.
    :param sink_uri: TiCDC's sink URI of the topic.
    :param folder: a golden folder; its manifest holds the changefeed.
    :param messages: a file with the messages of the topic that ``sink_uri`` names, which is read in place of
        the topic: lines of ``messages.jsonl``, of ``kcat -J``, or of Kafka's console consumer.
    :param config: a changefeed TOML, or its content as a mapping: dispatch rules, protocol options.
    :param table: filter rules of TiCDC for the tables that are recorded, such as ``shop.*``; all by default.
    :param until: the last commit that is recorded: a TSO, or a time.
    :param skip_damaged: leave out messages that cannot be recorded, and count them.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: for a topic that cannot be read or recorded, with the place of the message; then
        nothing is written.
    """
    given = {"sink_uri": sink_uri, "folder": folder, "messages": messages, "config": config}
    check_options("record", given)
    accepts = _accepts(table)
    path = local_path(out)
    last = tso.MAX_TS if until is None else read_ts(until, "until")
    source = _source(sink_uri, folder, messages, config, kafka_properties, on_status)
    origin, fidelity = source.origin, source.origin.fidelity
    _check_protocol(origin.changefeed, fidelity)
    options = with_table_schemas(origin.messages, origin.changefeed.protocol, origin.options)
    reader = EventReader(
        decode=events_decoder(origin.changefeed.protocol, options, origin.claims, row_ids=True),
        accepts=accepts,
        until=last,
        exact=fidelity.commit_ts == "exact",
        skip_damaged=skip_damaged,
    )
    on_status(f"recording {origin.changefeed.sink_uri.topic or folder}")
    try:
        return _record(path, source, reader, fidelity, on_status)
    except DecodeError as error:
        likely = likely_protocol(origin.messages)
        if likely in (None, origin.changefeed.protocol):
            raise
        what = f"{error.what}: {protocol_hint(likely, origin.changefeed.protocol)}"
        raise MessageError(what, topic=error.topic, partition=error.partition, offset=error.offset) from None


def _record(
    out: Path, source: _Source, reader: EventReader, fidelity: Fidelity, on_status: OnStatus
) -> Recording:
    changefeed, deliveries = source.origin.changefeed, Deliveries()
    kinds = {"changes": CHANGES, "resolved": RESOLVED}
    with new_folder(out) as folder:
        with _checked(source).stored(reader, kinds, in_order=True) as stored:
            [summary] = stored.results or [Summary()]
            counts: Counter[str] = Counter()
            rows = chain(
                recorded_changes(stored["changes"], deliveries, exact=reader.exact),
                recorded_resolved(stored["resolved"]),
            )
            write_rows(folder, _counted(rows, counts))
        if not counts["row"] + counts["ddl"]:
            what = "the messages have no row and no DDL to record"
            raise RecordingError(what, hint="`table` and `until` may leave out all of them").about(
                "table", "until"
            )
        file = write_scenario(
            folder,
            out.absolute().name,
            _of_partitions(changefeed, source),
            has_resolved=bool(counts["resolved"]),
            force_replicate=bool(summary.without_key),
        )
        on_status("replaying the recording")
        _check(file, counts)
    return Recording(
        folder=out,
        protocol=changefeed.protocol,
        partitions=sum(source.partitions.values()),
        events=counts,
        repeated=deliveries.repeated,
        repetitions=tuple(deliveries.examples),
        damaged=summary.damaged,
        notes=tuple(_notes(changefeed, fidelity, summary)),
    )


def _of_partitions(changefeed: Changefeed, source: _Source) -> Changefeed:
    """Return the changefeed with the numbers of partitions that were read."""
    number = source.partitions.get(changefeed.sink_uri.topic, changefeed.partition_num)
    return changefeed.model_copy(update={"partition_num": max(number, 1)})


def _check(file: Path, counts: Counter[str]) -> None:
    """Replay the history, so that every row fits its table.

    :raises RecordingError: for the first event that does not fit, with its place.
    """
    rows = counts.total()
    if rows > SMALL_EVENTS:
        what = f"the recording has {rows:,} events, and at most {SMALL_EVENTS:,} can be replayed"
        raise RecordingError(what, hint="record less, with `table` or `until`").about("table", "until")
    scenario = load_scenario(file)
    try:
        prepare(scenario)
    except ScenarioError as error:
        hint = error.hint or "the messages contradict the DDL events before them"
        raise RecordingError(error.what, hint=hint) from None


def _counted(batches: Iterator[pa.RecordBatch], counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Yield batches of a recording, and count their events."""
    names = {"row": "op", "ddl": "statement", "resolved": "resolved"}
    for batch in batches:
        counts.update({
            kind: batch.num_rows - batch.column(name).null_count for kind, name in names.items()
        })  # fmt: skip
        yield batch


def _notes(changefeed: Changefeed, fidelity: Fidelity, summary: Summary) -> Iterator[str]:
    """Yield what the messages do not carry, and what the recording has in its place."""
    protocol = changefeed.protocol
    if fidelity.commit_ts in COARSE:
        yield (
            f"{protocol} has no commit-ts but {fidelity.commit_ts}: each row is a transaction of its own,"
            " in the order of its partition; equal changes of a row in one unit of time are recorded once"
        )
    if not fidelity.resolved:
        yield f"{protocol} has no resolved events: the scenario sends one after each transaction"
    if fidelity.old_values != "all":
        yield f"{protocol} has not all old values: they are those of the row's change before"
    if summary.without_key:
        tables = ", ".join(sorted(summary.without_key))
        yield f"no handle key is known of {tables}: the scenario has force-replicate"


def _accepts(rules: Sequence[str]) -> Accepts:
    """Return the test of TiCDC's filter rules.

    :raises ArgumentError: for a rule that cannot be parsed.
    """
    try:
        matcher = Matcher(rules or ("*.*",), case_sensitive=False)
    except ChangefeedError as error:
        raise ArgumentError(error.what, argument="table", hint=error.hint) from None
    return lambda schema, table: matcher.accepts(schema, table) if table else matcher.accepts_schema(schema)


def _check_protocol(changefeed: Changefeed, fidelity: Fidelity) -> None:
    """Refuse a protocol from which no history follows.

    :raises ChangefeedError: with the option that adds what its messages lack.
    """
    hint = "record another protocol"
    if not has_commit_ts(fidelity.commit_ts):
        what = "has rows without a commit-ts, so that the order of the changes is not known"
        if has_parameter(changefeed.spec, BY_NAME[_EXTENSION]) and not changefeed.enable_tidb_extension:
            hint = f"record a topic of a changefeed with {_EXTENSION}=true"
    elif fidelity.float_decimals:
        what = "sends DECIMAL as floating-point numbers, which have other digits"
    elif sends_base64(fidelity):
        what = "sends byte strings as Base64, which its messages do not distinguish from texts"
    else:
        return
    raise ChangefeedError(f"{changefeed.protocol} {what}", parameter="protocol", hint=hint)


def _source(
    sink_uri: str | None,
    folder: str | Path | None,
    messages: str | Path | None,
    config: ConfigSource | None,
    kafka_properties: Sequence[str],
    on_status: OnStatus,
) -> _Source:
    """Return the messages to record."""
    if folder is not None:
        parse_kafka_properties(kafka_properties)
        origin = golden_folder(local_path(folder))
        changefeed = origin.changefeed
        return _Source(origin, {changefeed.sink_uri.topic: changefeed.partition_num})
    changefeed = changefeed_of(sink_uri, config, kafka_properties=kafka_properties)
    topic = changefeed.sink_uri.topic
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        what = "record reads topics, and the sink URI names a storage"
        raise ChangefeedError(what, parameter="sink-uri", hint="record the topic of the same tables")
    if messages is None:
        on_status(f"connecting to {brokers_of(changefeed)}")
        ranges = whole_topics(brokers_of(changefeed), [topic])
        origin = messages_of_topics(changefeed, brokers_of(changefeed), ranges)
        return _Source(origin, _partitions(ranges))
    named = changefeed.partition_num if changefeed.sets_partition_num else 0
    path = local_path(messages)
    ranges = file_ranges(path, topic, named)
    rows = local(file_messages(LocalEngine(), path, topic))
    options = changefeed.codec_options()
    if changefeed.spec.schemas is not None:
        options["schema_of"] = schemas_of_registry(changefeed)
    claims = changefeed.claim_check_storage_uri
    origin = Origin(changefeed=changefeed, messages=rows, options=options, claims=claims)
    return _Source(origin, _partitions(ranges))


def _partitions(ranges: Sequence[OffsetRange]) -> dict[str, int]:
    return dict(Counter(part.topic for part in ranges))


def _checked(source: _Source) -> LocalDataset:
    """Return the messages as one part, in which the offsets of a partition follow each other."""
    return local(source.origin.messages.merged().map(_without_gaps, MESSAGES))


def _without_gaps(batches: Batches) -> Batches:
    """Yield messages.

    :raises MessageError: if messages are missing between others of their partition.
    """
    last: dict[tuple[str, int], int] = {}
    for batch in batches:
        names = [*zip(*(batch.column(name).to_pylist() for name in ("topic", "partition")), strict=True)]
        offsets = batch.column("offset").to_numpy()
        for name in dict.fromkeys(names):
            rows = np.fromiter((other == name for other in names), np.bool_, len(names))
            own = offsets[rows]
            before = np.concatenate([[last.get(name, int(own[0]) - 1)], own[:-1]])
            gaps = np.flatnonzero(own != before + 1)
            if len(gaps):
                first, until = int(before[gaps[0]]) + 1, int(own[gaps[0]])
                what = f"the messages from offset {first} up to here are missing"
                hint = "a topic of TiCDC has cleanup.policy=delete; compaction removes what a consumer needs"
                raise MessageError(what, topic=name[0], partition=name[1], offset=until, hint=hint)
            last[name] = int(own[-1])
        yield batch
