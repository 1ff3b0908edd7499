"""Records a topic, a golden folder or a file of messages as a scenario that gives the same history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed, ConfigSource
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.dataset import Stored
from ticdc_producer.engine.local import local
from ticdc_producer.errors import (
    ArgumentError,
    DecodeError,
    MessageError,
    ProducerError,
    RecordingError,
    ScenarioError,
    UnsupportedSQL,
)
from ticdc_producer.hints import counted
from ticdc_producer.local_path import local_path
from ticdc_producer.masks.rules import read_rules
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.spec import Options
from ticdc_producer.recording.definitions import SCHEMA_HINT, DatabaseSchema
from ticdc_producer.recording.events import CHANGES, DAMAGES, RESOLVED, EventReader
from ticdc_producer.recording.folder import FaultWriter, write_rows, write_scenario
from ticdc_producer.recording.history import ORDERS
from ticdc_producer.recording.masks import event_masks
from ticdc_producer.recording.selection import Accepts, Selection
from ticdc_producer.recording.summary import Summary, without_gaps
from ticdc_producer.recording.topic_history import DefinitionSource, TopicHistory, is_exact
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS, Origin
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.recordings.binlog import record_binlog
from ticdc_producer.runs.recordings.database_schema import database_schema
from ticdc_producer.runs.recordings.record_source import (
    MessageSource,
    check_mask,
    check_offsets,
    check_protocol,
    message_source,
    selection_of,
)
from ticdc_producer.runs.recordings.recording_report import KINDS, Recording, history_notes
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.wrong_protocol import likely_protocol, protocol_hint
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.prepare import TimeStamp, prepare
from ticdc_producer.targets.decode import event_decoder, events_decoder
from ticdc_producer.targets.golden.folder import new_folder
from ticdc_producer.targets.record_batches import with_table_schemas


def record(
    *,
    out: str | Path,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    binlog: str | None = None,
    messages: str | Path | None = None,
    config: ConfigSource | None = None,
    table: Sequence[str] = (),
    key: Sequence[str] = (),
    since: TimeStamp | None = None,
    until: TimeStamp | None = None,
    schema: str | Path | None = None,
    skip_damaged: bool = False,
    mask: str | Path | None = None,
    engine: EngineOption = "auto",
    kafka_properties: Sequence[str] = (),
    on_status: OnStatus = ignore_status,
) -> Recording:
    """Record a topic, a golden folder, a file of messages or a binlog as a scenario.

    Exactly one of ``sink_uri``, ``folder`` and ``binlog`` is given.

    :param out: folder of the scenario to write; must not exist, or be empty.
    :param sink_uri: TiCDC's sink URI of the topic.
    :param folder: a golden folder; its manifest holds the changefeed.
    :param binlog: ``mysql://USER:PASSWORD@HOST:PORT``: the binlog of a server of MariaDB or MySQL.
    :param messages: a file with the messages of the topic that ``sink_uri`` names, which is read in place of
        the topic: lines of ``messages.jsonl``, of ``kcat -J``, or of Kafka's console consumer.
    :param config: a changefeed TOML, or its content as a mapping: dispatch rules, protocol options.
    :param table: filter rules of TiCDC for the tables that are recorded, such as ``shop.*``; all by default.
    :param key: the values of a row's handle key, such as ``id=5`` or ``a=1,b=x``, in canonical text: only
        these rows are recorded. Requires ``table``.
    :param since: record what commits after it: a TSO or a time; or offsets such as ``0:120,1:80``: what
        commits after the last event before them. Rows that existed before are the snapshot of the scenario.
    :param until: the last commit that is recorded: a TSO or a time; or offsets: that of the last event before
        them.
    :param schema: a dump with the CREATE TABLE statements of tables that existed before the first message, or
        the URL of a database that has the tables, such as ``mysql://USER:PASSWORD@HOST:4000/shop``.
    :param skip_damaged: leave out messages that cannot be recorded, and count them. Those of a topic that do
        not decode are faults of the recording.
    :param mask: a rules file: the values of its columns are replaced before anything is stored. The messages
        are read twice.
    :param engine: ``local`` and ``auto``: in this process, with a bounded number of rows in memory. ``spark``
        is refused: what is late, or comes again, follows from the order of all messages.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: for a topic that cannot be read or recorded, with the place of the message; then
        nothing is written.
    """
    given = {"sink_uri": sink_uri, "folder": folder, "binlog": binlog, "messages": messages, "config": config}
    others = {"since": since, "schema": schema, "skip_damaged": skip_damaged, "mask": mask}
    check_options(
        "record", {**given, **others, "table": table, "key": key, "kafka_properties": kafka_properties}
    )
    if engine == "spark":
        what = "Spark does not record: what comes again follows from the order of all messages"
        hint = "leave out `engine`; one process records topics of any size, and Spark replays the recording"
        raise ArgumentError(what, argument="engine", hint=hint).about("engine")
    path, selection = local_path(out), selection_of(table, key, since, until)
    if binlog is not None:
        if selection.ends:
            what = "a binlog has no offsets"
            raise ArgumentError(what, argument="until", hint="name a TSO or a time").about("until")
        return record_binlog(binlog, path, selection, [*table], on_status)
    rules = None if mask is None else read_rules(local_path(mask))
    source = message_source(sink_uri, folder, messages, config, kafka_properties, on_status)
    origin, fidelity = source.origin, source.origin.fidelity
    check_offsets(selection, source)
    check_protocol(origin.changefeed, fidelity)
    if rules is not None:
        check_mask(source)
    options = with_table_schemas(origin.messages, origin.changefeed.protocol, origin.options)
    if selection.ends:
        on_status("looking for the last commit")
        decode = event_decoder(origin.changefeed.protocol, options, origin.claims)
        selection = selection.with_end(local(origin.messages.merged()), decode)
    reader = _event_reader(source, options, selection, skip_damaged=skip_damaged)
    tables = DefinitionSource(
        dump=None if schema is None else definitions_dump(schema, selection.accepts),
        describe=origin.changefeed.spec.described_tables,
        descriptions=cast("Sequence[bytes]", options.get(TABLE_DESCRIPTIONS, ())),
        files=source.files or (),
    )
    on_status(f"recording {origin.changefeed.sink_uri.topic or folder}")
    try:
        if rules is not None:
            decode = event_decoder(origin.changefeed.protocol, options, origin.claims)
            ordered = local(origin.messages.merged())
            profile, accepts = origin.changefeed.profile, reader.selection.accepts
            masks = event_masks(rules, ordered, decode, tables, fidelity, profile, accepts)
            reader = replace(reader, mask=masks)
        return record_messages(path, source, reader, tables, on_status)
    except DecodeError as error:
        raise _with_likely_protocol(error, origin) from None


def _event_reader(
    source: MessageSource, options: Options, selection: Selection, *, skip_damaged: bool
) -> EventReader:
    origin, fidelity = source.origin, source.origin.fidelity
    return EventReader(
        decode=events_decoder(origin.changefeed.protocol, options, origin.claims, row_ids=True),
        selection=selection,
        exact=is_exact(fidelity),
        skip_damaged=skip_damaged,
        times_deletes=fidelity.commit_ts == "not deletes",
        in_files=source.files is not None,
    )


def _with_likely_protocol(error: DecodeError, origin: Origin) -> ProducerError:
    """Return an error that also names the protocol of the messages, if it is likely another one."""
    likely = likely_protocol(origin.messages)
    if likely in (None, origin.changefeed.protocol):
        return error
    what = f"{error.what}: {protocol_hint(likely, origin.changefeed.protocol)}"
    return MessageError(what, topic=error.topic, partition=error.partition, offset=error.offset)


def definitions_dump(schema: str | Path, accepts: Accepts) -> Path | DatabaseSchema:
    """Return the dump or the database that the option ``schema`` names.

    :raises ArgumentError: for a database that cannot be read.
    """
    if isinstance(schema, str) and "://" in schema:
        return database_schema(schema, accepts)
    return local_path(schema)


def record_messages(
    out: Path,
    source: MessageSource,
    reader: EventReader,
    tables: DefinitionSource,
    on_status: OnStatus,
    *,
    may_be_empty: bool = False,
) -> Recording:
    """Record messages.

    :param out: the folder; must not exist, or be empty.
    :param may_be_empty: accept messages without a row or DDL.
    :raises ProducerError: for messages that cannot be recorded; then nothing is written.
    """
    rows = source.origin.messages.merged()
    messages = local(rows if reader.in_files else rows.map(without_gaps, MESSAGES))
    kinds = {"changes": CHANGES, "resolved": RESOLVED, "damages": DAMAGES}
    with new_folder(out) as folder:
        with messages.stored(reader, kinds, orders=ORDERS) as stored:
            history = _history(stored, source, reader, tables)
            counts: Counter[str] = Counter()
            with FaultWriter(folder) as faults:
                history.deliveries.write = faults.write
                write_rows(folder, _counted(history.batches(), counts, history.start_ts or 0))
        if not may_be_empty:
            _check_not_empty(counts)
        file = write_scenario(
            folder,
            out.absolute().name,
            _of_partitions(source),
            has_resolved=bool(counts["resolved"]),
            force_replicate=bool(history.without_key),
            has_faults=bool(faults.count),
            start_ts=history.start_ts,
        )
        on_status("replaying the recording")
        _check(file, history.summary.damaged)
    return _recording(out, source, history, counts)


def _history(
    stored: Stored[Summary], source: MessageSource, reader: EventReader, tables: DefinitionSource
) -> TopicHistory:
    summary = Summary()
    summary.merge(stored.results)
    return TopicHistory.of(
        summary,
        stored["changes"],
        stored["resolved"],
        stored["damages"],
        source=tables,
        selection=reader.selection,
        fidelity=source.origin.fidelity,
        profile=source.origin.changefeed.profile,
        mask=reader.mask,
    )


def _recording(folder: Path, source: MessageSource, history: TopicHistory, counts: Counter[str]) -> Recording:
    """Return the report of a recording, after all its events were written."""
    changefeed = source.origin.changefeed
    return Recording(
        folder=folder,
        protocol=changefeed.protocol,
        partitions=sum(source.partitions.values()),
        events=Counter({kind: counts[kind] for kind in KINDS if counts[kind]}),
        start_ts=history.start_ts,
        snapshot_rows=counts["snapshot"],
        repeated=history.deliveries.repeated,
        repetitions=tuple(history.deliveries.examples),
        damaged=history.summary.damaged,
        damages=history.deliveries.damages,
        notes=tuple(history_notes(changefeed, history)),
    )


def _check_not_empty(counts: Counter[str]) -> None:
    if not counts["row"] + counts["ddl"]:
        what = "the messages have no row and no DDL to record"
        hint = "`table`, `key`, `since` and `until` may leave out all of them"
        raise RecordingError(what, hint=hint).about("table", "key", "since", "until")


def _of_partitions(source: MessageSource) -> Changefeed:
    """Return the changefeed with the numbers of partitions that were read."""
    changefeed = source.origin.changefeed
    number = source.partitions.get(changefeed.sink_uri.topic, changefeed.partition_num)
    return changefeed.model_copy(update={"partition_num": max(number, 1)})


def _check(file: Path, damaged: int) -> None:
    """Replay the history, so that every row fits its table; of more than 100,000 events the DDLs alone.

    :param damaged: number of messages that were left out.
    :raises RecordingError: for the first event that does not fit, with its place.
    """
    scenario = load_scenario(file)
    try:
        prepare(scenario)
    except UnsupportedSQL as error:
        raise RecordingError(error.what, hint=error.hint).about("table") from None
    except ScenarioError as error:
        hint = f"the messages contradict the DDL events before them; {SCHEMA_HINT}"
        if damaged:
            left_out = f"{counted(damaged, 'damaged message')} {'was' if damaged == 1 else 'were'} left out"
            hint = f"{left_out}, which may have had the row: record what comes after it with `since`; {hint}"
        hints = "; ".join(filter(None, (error.hint, hint)))
        raise RecordingError(error.what, hint=hints).about("schema", "since") from None


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
