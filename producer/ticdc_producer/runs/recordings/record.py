"""Records a topic, a golden folder or a file of messages as a scenario that gives the same history."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed, ConfigSource
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.engine.local import local
from ticdc_producer.errors import (
    ArgumentError,
    ChangefeedError,
    DecodeError,
    MessageError,
    RecordingError,
    ScenarioError,
)
from ticdc_producer.local_path import local_path
from ticdc_producer.masks.rules import read_rules
from ticdc_producer.model import tso
from ticdc_producer.model.fidelity import COARSE
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.recording.definitions import SCHEMA_HINT
from ticdc_producer.recording.events import CHANGES, RESOLVED, EventReader
from ticdc_producer.recording.folder import write_rows, write_scenario
from ticdc_producer.recording.masks import event_masks
from ticdc_producer.recording.selection import Accepts, Selection
from ticdc_producer.recording.summary import Summary, without_gaps
from ticdc_producer.recording.topic_history import DefinitionSource, TopicHistory
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS
from ticdc_producer.runs.options import check_options
from ticdc_producer.runs.recordings.record_source import MessageSource, check_protocol, message_source
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.wrong_protocol import likely_protocol, protocol_hint
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.prepare import TimeStamp, prepare, read_ts
from ticdc_producer.targets.decode import event_decoder, events_decoder
from ticdc_producer.targets.golden.write import golden_folder as new_folder
from ticdc_producer.targets.record_batches import with_table_schemas

_KINDS = ("row", "ddl", "resolved")
_OFFSET = re.compile(r"(\d+):(\d+)")
_OFFSETS = re.compile(rf"{_OFFSET.pattern}(,{_OFFSET.pattern})*")


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The result of a recording.

    :param folder: the scenario.
    :param protocol: of the messages.
    :param partitions: number of partitions that were read.
    :param events: number of recorded events by kind; a DDL or resolved event of several partitions is one.
    :param start_ts: of the scenario, if tables or rows existed before.
    :param snapshot_rows: number of recorded rows that existed before.
    :param repeated: number of row events that were delivered again, which are recorded once.
    :param repetitions: the messages of the first of them, each with that of the first delivery.
    :param damaged: number of messages that were left out.
    :param notes: what the messages do not carry.
    """

    folder: Path
    protocol: str
    partitions: int
    events: Counter[str]
    start_ts: int | None = None
    snapshot_rows: int = 0
    repeated: int = 0
    repetitions: tuple[tuple[str, str], ...] = ()
    damaged: int = 0
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "folder": str(self.folder), "events": dict(self.events)}

    @property
    def size(self) -> str:
        """Number of events and partitions, as text."""
        count = ", ".join(f"{self.events[kind]:,} {kind}" for kind in _KINDS)
        where = f"{self.partitions} partition{'s' * (self.partitions != 1)}"
        return f"{count} events of {where} in {self.protocol}"

    def lines(self) -> Iterator[str]:
        """Yield the report as text."""
        yield f"recorded {self.size} as {self.folder}"
        yield from self.details()

    def details(self) -> Iterator[str]:
        """Yield what is particular to the messages, as text."""
        if self.start_ts is not None:
            snapshot = f"a snapshot of {self.snapshot_rows:,} rows"
            yield f"it starts at {self.start_ts}, with {snapshot} that its events change"
        if self.repeated:
            again, first = self.repetitions[0]
            yield f"{self.repeated:,} row events came again, and are recorded once: {again} as {first}"
        if self.damaged:
            yield f"{self.damaged:,} messages are damaged, and were left out"
        yield from self.notes


def record(
    *,
    out: str | Path,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    messages: str | Path | None = None,
    config: ConfigSource | None = None,
    table: Sequence[str] = (),
    key: Sequence[str] = (),
    since: TimeStamp | None = None,
    until: TimeStamp | None = None,
    schema: str | Path | None = None,
    skip_damaged: bool = False,
    mask: str | Path | None = None,
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
    :param key: the values of a row's handle key, such as ``id=5`` or ``a=1,b=x``, in canonical text: only
        these rows are recorded. Requires ``table``.
    :param since: record what commits after it: a TSO or a time; or offsets such as ``0:120,1:80``: what
        commits after the last event before them. Rows that existed before are the snapshot of the scenario.
    :param until: the last commit that is recorded: a TSO, or a time.
    :param schema: a dump with the CREATE TABLE statements of tables that existed before the first message.
    :param skip_damaged: leave out messages that cannot be recorded, and count them.
    :param mask: a rules file: the values of its columns are replaced before anything is stored. The messages
        are read twice.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: for a topic that cannot be read or recorded, with the place of the message; then
        nothing is written.
    """
    given = {"sink_uri": sink_uri, "folder": folder, "messages": messages, "config": config}
    check_options("record", {**given, "table": table, "key": key})
    path, selection = local_path(out), _selection(table, key, since, until)
    rules = None if mask is None else read_rules(local_path(mask))
    source = message_source(sink_uri, folder, messages, config, kafka_properties, on_status)
    origin, fidelity = source.origin, source.origin.fidelity
    _check_offsets(selection, source)
    check_protocol(origin.changefeed, fidelity)
    options = with_table_schemas(origin.messages, origin.changefeed.protocol, origin.options)
    reader = EventReader(
        decode=events_decoder(origin.changefeed.protocol, options, origin.claims, row_ids=True),
        selection=selection,
        exact=fidelity.commit_ts == "exact",
        skip_damaged=skip_damaged,
    )
    tables = DefinitionSource(
        dump=None if schema is None else local_path(schema),
        describe=origin.changefeed.spec.described_tables,
        descriptions=cast("Sequence[bytes]", options.get(TABLE_DESCRIPTIONS, ())),
    )
    on_status(f"recording {origin.changefeed.sink_uri.topic or folder}")
    try:
        if rules is not None:
            decode = event_decoder(origin.changefeed.protocol, options, origin.claims)
            ordered = local(origin.messages.merged())
            masks = event_masks(rules, ordered, decode, tables, fidelity, origin.changefeed.profile)
            reader = replace(reader, mask=masks)
        return _record(path, source, reader, tables, on_status)
    except DecodeError as error:
        likely = likely_protocol(origin.messages)
        if likely in (None, origin.changefeed.protocol):
            raise
        what = f"{error.what}: {protocol_hint(likely, origin.changefeed.protocol)}"
        raise MessageError(what, topic=error.topic, partition=error.partition, offset=error.offset) from None


def _selection(
    table: Sequence[str], key: Sequence[str], since: TimeStamp | None, until: TimeStamp | None
) -> Selection:
    text = since if isinstance(since, str) else ""
    by_offset = _OFFSETS.fullmatch(text.replace(" ", "")) is not None
    return Selection(
        accepts=_accepts(table),
        keys=[_key(text) for text in key],
        after=0 if since is None or by_offset else read_ts(since, "since"),
        offsets={int(part): int(offset) for part, offset in _OFFSET.findall(text)} if by_offset else {},
        until=tso.MAX_TS if until is None else read_ts(until, "until"),
    )


def _key(text: str) -> dict[str, bytes]:
    """Return the values of a handle key by column."""
    cells = [cell.partition("=") for cell in text.split(",")]
    if not all(name.strip() and equals for name, equals, _ in cells):
        hint = "COLUMN=VALUE of each column of the handle key, such as id=5 or a=1,b=x"
        raise ArgumentError(f"{text!r} is no key", argument="key", hint=hint).about("key")
    return {name.strip(): value.encode() for name, _, value in cells}


def _check_offsets(selection: Selection, source: MessageSource) -> None:
    number = max(source.partitions.values(), default=0)
    for partition in selection.offsets:
        if partition >= number:
            what = f"there is no partition {partition}: the topic has {number}"
            raise ArgumentError(what, argument="since").about("since")


def _record(
    out: Path, source: MessageSource, reader: EventReader, tables: DefinitionSource, on_status: OnStatus
) -> Recording:
    changefeed, fidelity = source.origin.changefeed, source.origin.fidelity
    messages = local(source.origin.messages.merged().map(without_gaps, MESSAGES))
    kinds = {"changes": CHANGES, "resolved": RESOLVED}
    with new_folder(out) as folder:
        with messages.stored(reader, kinds, in_order=True) as stored:
            summary = Summary()
            summary.merge(stored.results)
            history = TopicHistory.of(
                summary,
                stored["changes"],
                stored["resolved"],
                source=tables,
                selection=reader.selection,
                fidelity=fidelity,
                profile=changefeed.profile,
                mask=reader.mask,
            )
            counts: Counter[str] = Counter()
            write_rows(folder, _counted(history.batches(), counts, history.start_ts or 0))
        if not counts["row"] + counts["ddl"]:
            what = "the messages have no row and no DDL to record"
            hint = "`table`, `key`, `since` and `until` may leave out all of them"
            raise RecordingError(what, hint=hint).about("table", "key", "since", "until")
        file = write_scenario(
            folder,
            out.absolute().name,
            _of_partitions(changefeed, source),
            has_resolved=bool(counts["resolved"]),
            force_replicate=bool(summary.without_key),
            start_ts=history.start_ts,
        )
        on_status("replaying the recording")
        _check(file, counts)
    return Recording(
        folder=out,
        protocol=changefeed.protocol,
        partitions=sum(source.partitions.values()),
        events=Counter({kind: counts[kind] for kind in _KINDS if counts[kind]}),
        start_ts=history.start_ts,
        snapshot_rows=counts["snapshot"],
        repeated=history.deliveries.repeated,
        repetitions=tuple(history.deliveries.examples),
        damaged=summary.damaged,
        notes=tuple(_notes(changefeed, history)),
    )


def _of_partitions(changefeed: Changefeed, source: MessageSource) -> Changefeed:
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
        hint = f"the messages contradict the DDL events before them; {SCHEMA_HINT}"
        if error.hint and "exist" not in error.what:
            hint = error.hint
        raise RecordingError(error.what, hint=hint).about("schema") from None


def _counted(batches: Iterator[pa.RecordBatch], counts: Counter[str], start: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of a recording, and count their events; rows up to the start-ts are the snapshot."""
    names = {"row": "op", "ddl": "statement", "resolved": "resolved"}
    for batch in batches:
        later = pc.greater(batch.column("commit_ts"), start)
        for kind, name in names.items():
            valid = batch.column(name).is_valid()
            counts[kind] += pc.sum(pc.and_(valid, later)).as_py() or 0
            counts["snapshot"] += (pc.sum(pc.and_not(valid, later)).as_py() or 0) * (kind == "row")
        yield batch


def _notes(changefeed: Changefeed, history: TopicHistory) -> Iterator[str]:
    """Yield what the messages do not carry, and what the recording has in its place."""
    protocol, fidelity, summary = changefeed.protocol, history.fidelity, history.summary
    if fidelity.commit_ts in COARSE:
        yield (
            f"{protocol} has no commit-ts but {fidelity.commit_ts}: each row is a transaction of its own,"
            " in the order of its partition; equal changes of a row in one unit of time are recorded once"
        )
    if not fidelity.resolved:
        yield f"{protocol} has no resolved events: the scenario sends one after each transaction"
    if fidelity.old_values != "all":
        yield f"{protocol} has not all old values: they are those of the row's change before"
    if history.from_rows:
        yield (
            f"the definition of {', '.join(history.from_rows)} follows from rows alone: lengths, indexes and"
            " DEFAULTs are not known; `schema` gives them"
        )
    if history.mask is not None:
        yield from history.mask.notes(summary.first_rows)
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
