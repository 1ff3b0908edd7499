"""The history of some messages: earlier tables, rows that existed before, and the recorded events.

messages ──▶ events ──┬─▶ tables and rows before the start-ts ─┐
                      └─▶ each event once, in order ───────────┴─▶ the rows of a recording
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.events import EventMasks
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.spec import DescribedTables
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.recording.defined_changes import DefinedChanges
from ticdc_producer.recording.definitions import (
    CreatedNames,
    DatabaseSchema,
    EarlierTable,
    described_tables,
    dumped_tables,
)
from ticdc_producer.recording.history import (
    RECORDED,
    Deliveries,
    record_damages,
    recorded_changes,
    recorded_resolved,
)
from ticdc_producer.recording.row_tables import RowTables
from ticdc_producer.recording.schema_files import file_ddls, file_tables
from ticdc_producer.recording.selection import Accepts, Selection
from ticdc_producer.recording.snapshot import EarlierRows
from ticdc_producer.recording.summary import Summary, TableName
from ticdc_producer.replica.stream_ddl import StreamDDL, apply_ddls
from ticdc_producer.replica.versions import Version


@dataclass(frozen=True, kw_only=True)
class DefinitionSource:
    """The known definitions of tables that no message creates.

    :param dump: SQL with their CREATE TABLE statements, or a database that has them.
    :param describe: returns the tables that a message describes; None: no message describes any.
    :param descriptions: the values of the messages that describe tables.
    :param files: the schema files of a storage sink.
    :param ddls: commit-ts, database, table and text of the DDLs before the messages, in their order.
    """

    dump: Path | DatabaseSchema | None = None
    describe: Callable[[bytes], DescribedTables] | None = None
    descriptions: Sequence[bytes] = ()
    files: Sequence[SchemaFile] = ()
    ddls: Sequence[tuple[int, str, str, str]] = ()

    def tables(self, accepts: Accepts, created: CreatedNames) -> list[EarlierTable]:
        """Return the tables that are known without their rows.

        :param created: tables that the messages create.
        :raises ScenarioError: for a dump that cannot be read, and for a definition that does not run.
        """
        if self.dump is not None:
            return dumped_tables(self.dump, accepts, created)
        if self.describe is not None:
            return described_tables(self.describe, self.descriptions, accepts, created)
        return file_tables(self.files, accepts, created)

    def earlier_ddls(self) -> Iterator[StreamDDL]:
        """Yield the DDLs before the messages."""
        for number, (ts, schema, table, query) in enumerate(self.ddls):
            yield StreamDDL(commit_ts=ts, order=(number,), schema=schema, table=table, query=query)


@dataclass(kw_only=True)
class TopicHistory:
    """The history of some messages.

    :param summary: of all messages.
    :param changes: shape ``events.CHANGES``, as their tables have them.
    :param resolved: shape ``events.RESOLVED``.
    :param damages: shape ``events.DAMAGES``.
    :param definitions: the CREATE TABLE statements of tables that existed before, before all DDLs.
    :param other_ddls: DDLs that are in no message.
    :param versions: of all tables.
    :param from_rows: names of the tables whose definition follows from their rows.
    :param begin: TSO after which events are recorded; None: from the beginning.
    :param exact: whether time stamps are exact.
    :param mask: what masked the events, which then lack generated columns; None: nothing did.
    :ivar deliveries: what was delivered again, after ``batches``.
    """

    summary: Summary
    changes: Dataset
    resolved: Dataset
    damages: Dataset
    fidelity: Fidelity
    definitions: Sequence[StreamDDL]
    other_ddls: Sequence[StreamDDL]
    versions: tuple[Version, ...]
    from_rows: tuple[str, ...]
    begin: int | None
    exact: bool
    mask: EventMasks | None = None
    deliveries: Deliveries = field(default_factory=Deliveries)

    @classmethod
    def of(
        cls,
        summary: Summary,
        changes: Dataset,
        resolved: Dataset,
        damages: Dataset,
        *,
        source: DefinitionSource,
        selection: Selection,
        fidelity: Fidelity,
        profile: Profile,
        mask: EventMasks | None = None,
    ) -> TopicHistory:
        """Return the history of events.

        :param mask: what masked the events; None: nothing did.
        :raises ProducerError: for a dump that cannot be read, for a table whose definition is not known, and
            for one with soft deletes.
        """
        earlier = [*source.earlier_ddls(), *file_ddls(source.files, selection.accepts, selection.until)]
        ddls = sorted([*summary.stream_ddls(), *earlier])
        created = CreatedNames.by(ddls)
        tables = source.tables(selection.accepts, created)
        begin = summary.start_ts(selection)
        known = (table.name for table in tables)
        row_tables = RowTables.of(summary.first_rows, known, ddls, created, fidelity, begin)
        of_rows, unknown = row_tables.tables(changes)
        if begin is not None:
            unknown |= _undefined(created, (*tables, *of_rows), summary, begin)
        if unknown:  # none of their rows is recorded
            changes = changes.map(partial(_without_ddls, unknown), changes.schema)
            ddls = [ddl for ddl in ddls if (ddl.schema, ddl.table) not in unknown]
        if begin is None and (tables or of_rows):
            begin = max(summary.lowest - 1, len(tables) + len(of_rows) + 1)
        masked = [] if begin is None else [_masked(table, mask) for table in (*tables, *of_rows)]
        definitions = [] if begin is None else _definitions(masked, ddls, begin)
        versions = tuple(apply_ddls([*definitions, *ddls], fidelity, profile))
        _check_deletes(summary, versions)
        exact = is_exact(fidelity)
        defined = DefinedChanges(versions, fidelity, exact)
        return cls(
            summary=summary,
            changes=changes.map(defined, changes.schema) if defined.is_needed else changes,
            resolved=resolved,
            damages=damages,
            fidelity=fidelity,
            definitions=definitions,
            other_ddls=earlier,
            versions=versions,
            mask=mask,
            from_rows=tuple(sorted(f"{table.schema}.{table.table}" for table in of_rows)),
            begin=begin,
            exact=exact,
        )

    @property
    def without_key(self) -> list[str]:
        """The tables with recorded rows of which no handle key is known."""
        keyless = {version.name for version in self.versions if not version.definition.key}
        keyed = {version.name for version in self.versions} - keyless
        return sorted(
            ".".join(name)
            for name, last_ts in self.summary.without_key.items()
            if last_ts > (self.begin or 0) and name not in keyed
        )

    @property
    def start_ts(self) -> int | None:
        """The start-ts of the scenario, which rows that existed before have as commit-ts.

        It is after all earlier DDLs. None: the history has a beginning.
        """
        if self.begin is None:
            return None
        return self.begin + sum(
            ddl.commit_ts == self.begin for ddl in (*self.summary.stream_ddls(), *self.other_ddls)
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a recording (shape ``RECORDED``).

        :raises RecordingError: for a change at the start-ts, where it could not be distinguished.
        """
        begin, start = self.begin, self.start_ts
        yield _statements([*self.definitions, *self.other_ddls])
        if begin is not None and start is not None:
            earlier = EarlierRows(self.versions, begin, self.exact, computes_generated=self.mask is not None)
            yield from earlier.batches(self.changes, start)
        for batch in recorded_changes(self.changes, self.deliveries, exact=self.exact, start=begin):
            if start is not None:
                _check_start(batch, start)
            yield batch
        yield from recorded_resolved(self.resolved, self.deliveries, begin)
        record_damages(self.damages, self.deliveries, exact=self.exact, start=begin)


def is_exact(fidelity: Fidelity) -> bool:
    """Return whether the time stamps of rows say in which order they committed.

    A delete of Avro has none; it gets one after the event before it.
    """
    return fidelity.commit_ts in ("exact", "not deletes")


def _undefined(
    created: CreatedNames, tables: Iterable[EarlierTable], summary: Summary, begin: int
) -> set[TableName]:
    """Return the tables that DDLs alter, and whose rows and definitions are all before the beginning."""
    named = {table.name for table in tables}
    named |= {name for name, row in summary.first_rows.items() if row.last_ts > begin}
    return {name for name in created.altered - named if name[0].lower() not in created.databases}


def _without_ddls(tables: frozenset[TableName], batches: Batches) -> Batches:
    """Leave out the DDLs of some tables."""
    for batch in batches:
        names = [batch.column(name) for name in ("schema", "table")]
        own = [pc.and_(*(pc.equal(*pair) for pair in zip(names, table, strict=True))) for table in tables]
        of_tables = pc.fill_null(reduce(pc.or_, own), False)
        yield batch.filter(pc.invert(pc.and_(of_tables, batch.column("statement").is_valid())))


def _definitions(tables: Sequence[EarlierTable], ddls: Sequence[StreamDDL], begin: int) -> list[StreamDDL]:
    """Return the CREATE TABLE statements of earlier tables, before all DDLs."""
    last = min([begin, *(ddl.commit_ts for ddl in ddls)])
    definitions = []
    for table in sorted(tables, key=lambda table: (table.since, table.name), reverse=True):
        last = min(table.since or last - 1, last - 1)
        definitions.append(
            StreamDDL(commit_ts=last, order=(), schema=table.schema, table=table.table, query=table.create)
        )
    return definitions[::-1]


def _masked(table: EarlierTable, mask: EventMasks | None) -> EarlierTable:
    if mask is None:
        return table
    create = mask.statements.masked(table.create, table.schema, "the definition of an earlier table")
    return replace(table, create=create)


def _check_deletes(summary: Summary, versions: Sequence[Version]) -> None:
    """Check that deletes of rows are those of their tables.

    :raises RecordingError: for rows of a table with soft deletes. TiCDC sends a delete for the update that
        marks a row and drops the real delete, so that a replay of the delete would send nothing.
    """
    marking = {version.name for version in versions if version.definition.info.soft_delete}
    rows = sorted((row, name) for name, row in summary.first_rows.items() if name in marking)
    if rows:
        first, (schema, table) = rows[0]
        what = (
            f"rows of {schema}.{table}, which has SOFTDELETE: a delete may be the update that marks its row"
        )
        hint = "leave the table out, with a rule of `table`"
        raise RecordingError(what, where=first.origin, hint=hint).about("table")


def _statements(ddls: Sequence[StreamDDL]) -> pa.RecordBatch:
    given = {
        "commit_ts": [ddl.commit_ts for ddl in ddls],
        "seq": [0] * len(ddls),
        "statement": [ddl.query for ddl in ddls],
        "schema": [ddl.schema if ddl.table else None for ddl in ddls],
        "table": [ddl.table for ddl in ddls],
    }
    columns = [pa.array(given.get(column.name, [None] * len(ddls)), column.type) for column in RECORDED]
    return pa.RecordBatch.from_arrays(columns, schema=RECORDED)


def _check_start(batch: pa.RecordBatch, start: int) -> None:
    early = batch.filter(
        pc.and_(batch.column("op").is_valid(), pc.less_equal(batch.column("commit_ts"), start))
    )
    if early.num_rows:
        what = "this change commits directly after a DDL at which the recording begins"
        where = early.column("origin")[0].as_py()
        raise RecordingError(what, where=where, hint="begin a commit earlier").about("since")
