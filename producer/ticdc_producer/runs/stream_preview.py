"""The stream of a small job in memory: its messages, their events, and the statements that caused these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeAlias

import pyarrow as pa

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.event import Kind
from ticdc_producer.model.event_line import DecodedRow, StateRow
from ticdc_producer.model.shapes import CARRIED, MESSAGES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle.scenario import decoded_state
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.run import execute
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.target import MessageTarget
from ticdc_producer.scenario.scenario_file import ScenarioFile, SQLStep
from ticdc_producer.scenario.sql.text.statements import split_statements
from ticdc_producer.simulate.fitted_faults import with_fitted_faults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.encode_partition import EVENT, FaultRow
from ticdc_producer.targets.kafka.schema_registry import decoder_options
from ticdc_producer.verifier.messages import Messages

EventPosition: TypeAlias = tuple[str, int, int, int]
"""Topic, partition, offset, index in the message."""
_MOST_ROWS = 100_000
_Image: TypeAlias = Sequence[bytes | None]


class MemoryTarget(MessageTarget):
    """The memory of this process: nothing stores the messages, and claim-check objects are not kept.

    :ivar messages: the written messages (shape ``MESSAGES``), in order.
    :ivar event_rows: the events that they carry (shape ``CARRIED``).
    :ivar faults: the injected faults, in order.
    """

    holds_expected_events = True
    name = "memory"
    claims = ""

    def __init__(self, job: Job, options: RunOptions) -> None:
        super().__init__(job, options)
        self.messages, self.event_rows = MESSAGES.empty_table(), CARRIED.empty_table()
        self.faults: list[FaultRow] = []

    def check(self) -> None:
        """Accept every run."""

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        stream = simulation.encoded
        self.messages = pa.Table.from_batches(
            stream.messages.select(*MESSAGES.names).batches(), MESSAGES
        ).combine_chunks()
        self.event_rows = pa.Table.from_batches(stream.stored[EVENT].merged().batches(), CARRIED)
        if self.job.faults is not None:
            self.faults = [row for batch in stream.faults.batches() for row in batch.to_pylist()]
        return report

    def read(self, simulation: Simulation) -> Messages:
        return Messages(simulation.engine.of_batches(self.messages.to_batches(), MESSAGES))

    @property
    def schemas(self) -> Mapping[int, str]:
        return self.job.known_schemas if self.job.schemas else {}


@dataclass(frozen=True, kw_only=True)
class Cause:
    """The cause of an event.

    :param lines: lines of the statements in the scenario file; empty for generated changes.
    :param change: identifies the change. It is the same in all protocols, and in all copies of an event.
    :param rows: identifies the row, in a change of the key before and after; empty for a DDL.
    """

    lines: tuple[int, ...]
    change: str
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StreamPreview:
    """The stream of a job.

    :param messages: shape ``MESSAGES``, in the order of topic, partition and offset.
    :param total: number of the messages of the stream.
    :param events: the events that the messages decode to, in the same order.
    :param options: those of the decoder.
    :param report: that of the run; its verdict is None if it was not verified.
    :param faults: the injected faults, in order.
    :param causes: what caused the row and DDL events, by their positions.
    """

    job: Job
    messages: pa.Table
    total: int
    events: list[DecodedRow]
    options: Options
    report: RunReport
    faults: list[FaultRow]
    causes: Mapping[EventPosition, Cause]

    @cached_property
    def resolved(self) -> list[int]:
        """The resolved-ts of the messages, in ascending order, each once."""
        times = (event["commit_ts"] for event in self.events if event["kind"] == "resolved")
        return sorted({ts for ts in times if ts is not None})


def preview_stream(job: Job, *, verify_output: bool, change: str | None = None) -> StreamPreview:
    """Run a small job into memory.

    :param verify_output: whether the report has a verdict.
    :param change: the messages of this change alone are decoded and returned; None: all are.
    :raises ArgumentError: if only Spark can run it.
    :raises ProducerError: for a job that a run rejects.
    """
    if required := (estimate_of(job).requires_spark or ("a `data` step" if job.history.data else "")):
        what, hint = f"there is no preview of {required}", "use `run`"
        raise ArgumentError(what, argument="scenario", hint=hint)
    job = with_fitted_faults(job)
    options = RunOptions(verify_output=verify_output, from_beginning=True)
    target = MemoryTarget(job, options)
    report = execute(Simulation.of(job, LocalEngine()), [target], options)
    causes, messages = _causes(job, target.event_rows), target.messages
    decode_options = _decode_options(job, LocalEngine().of_batches(messages.to_batches(), MESSAGES))
    if change is not None:
        messages = _carrying(messages, causes, change)
    rows = LocalEngine().of_batches(messages.to_batches(), MESSAGES)
    decode = event_decoder(job.changefeed.protocol, decode_options)
    events = [row for batch in decode(rows.batches()) for row in batch.to_pylist()]
    return StreamPreview(
        job=job,
        messages=messages,
        total=target.messages.num_rows,
        events=events,
        options=decode_options,
        report=report,
        faults=target.faults,
        causes=causes,
    )


def _carrying(messages: pa.Table, causes: Mapping[EventPosition, Cause], change: str) -> pa.Table:
    """Return the messages of a change."""
    offsets = {position[:3] for position, cause in causes.items() if cause.change == change}
    rows = zip(*(messages.column(name).to_pylist() for name in ("topic", "partition", "offset")), strict=True)
    return messages.filter(pa.array([row in offsets for row in rows], pa.bool_()))


def _decode_options(job: Job, messages: Dataset) -> Options:
    """Return the options of a decoder, with the schemas of the job and those in the messages."""
    changefeed = job.changefeed.model_copy(update={"schema_registry": ""})
    return decoder_options(changefeed, messages, job.known_schemas if job.schemas else {})


def statements_of(scenario: ScenarioFile) -> dict[int, str]:
    """Return the SQL of a scenario by the lines at which statements begin: all statements of the line."""
    texts: dict[int, list[str]] = defaultdict(list)
    for step in scenario.steps:
        if isinstance(step, SQLStep):
            for statement in split_statements(step.text, step.line):
                texts[statement.line].append(statement.text)
    return {line: "; ".join(of_line) for line, of_line in texts.items()}


def tables_at(job: Job, ts: int | None) -> dict[str, list[StateRow]]:
    """Return the rows that a consumer of the stream must have, by ``SCHEMA.TABLE``.

    :param ts: one of the job's ``state_at``; None: the end.
    """
    tables: dict[str, list[StateRow]] = defaultdict(list)
    for row in decoded_state(job, (), ts).small(_MOST_ROWS).to_pylist():
        rows = tables[f"{row['schema']}.{row['table']}"]
        if row["row"] is not None:
            rows.append(row)
    return dict(tables)


def _causes(job: Job, events: pa.Table) -> dict[EventPosition, Cause]:
    """Return the causes of the row and DDL events (shape ``CARRIED``)."""
    causes, changes = dict[EventPosition, Cause](), _Changes(job)
    columns = ("topic", "partition", "offset", "index", "kind", "commit_ts", "table_version", "op", "ddl")
    for row in events.select([*columns, "before", "after"]).to_pylist():
        position = row["topic"], row["partition"], row["offset"], row["index"]
        if row["kind"] == Kind.DDL:
            ddl = job.history.catalog.ddls[row["ddl"]]
            causes[position] = Cause(lines=(ddl.line,), change=f"ddl-{row['ddl']}")
        elif row["kind"] == Kind.ROW:
            causes[position] = changes.cause(row)
    return causes


class _Changes:
    """The lines of the row changes of SQL, by commit-ts and table, and also by each key of a row."""

    def __init__(self, job: Job) -> None:
        self._sent = job.catalog.tables
        tables, clock = job.history.catalog.tables, job.stream.resolved.clock
        self._of_tables: dict[tuple[int, str], set[int]] = defaultdict(set)
        self._of_rows: dict[tuple[int, str, _Image], set[int]] = defaultdict(set)
        for change in job.history.changes:
            table, ts = tables[change.table_version], clock.ts(change.commit_seq)
            self._of_tables[ts, table.qualified_name].add(change.line)
            for key in _keys(table, change.before, change.after):
                self._of_rows[ts, table.qualified_name, key].add(change.line)

    def cause(self, event: Mapping[str, Any]) -> Cause:
        """Return the cause of a row event: all statements of its transaction that changed its row.

        A TIMESTAMP in a key differs between both by the time zone: then all statements of the transaction
        that changed the table count.
        """
        table = self._sent[event["table_version"]]
        name, ts = table.qualified_name, event["commit_ts"]
        keys = [*_keys(table, event["before"], event["after"])]
        of_row = {line for key in keys for line in self._of_rows.get((ts, name, key), ())}
        rows = tuple(dict.fromkeys(f"{name}-{_identity(key)}" for key in keys))
        return Cause(
            lines=tuple(sorted((of_row or self._of_tables.get((ts, name), set())) - {0})),
            change=f"{ts}-{event['op']}-{'-'.join(rows)}",
            rows=rows,
        )


def _keys(table: TableInfo, *images: _Image | None) -> Iterator[_Image]:
    """Yield the handle key's values in each image; without a handle key, all values."""
    offsets = table.sent if table.handle_index is None else table.handle_index.offsets
    indexes = [table.sent.index(offset) for offset in offsets if offset in table.sent]
    for image in images:
        if image is not None:
            yield tuple(image[index] for index in indexes)


def _identity(key: _Image) -> str:
    return sha256(repr(key).encode()).hexdigest()[:12]
