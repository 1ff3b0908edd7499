"""The history of some messages: earlier tables, rows that existed before, and the recorded events.

messages ──▶ events ──┬─▶ tables and rows before the start-ts ─┐
                      └─▶ each event once, in order ───────────┴─▶ the rows of a recording
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.events import EventMasks
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.spec import DescribedTables
from ticdc_producer.recording.definitions import (
    CreatedNames,
    EarlierTable,
    RowTables,
    described_tables,
    dumped_tables,
)
from ticdc_producer.recording.history import RECORDED, Deliveries, recorded_changes, recorded_resolved
from ticdc_producer.recording.selection import Selection
from ticdc_producer.recording.snapshot import EarlierRows
from ticdc_producer.recording.summary import Summary
from ticdc_producer.replica.stream_ddl import StreamDDL, apply_ddls


@dataclass(frozen=True, kw_only=True)
class DefinitionSource:
    """The known definitions of tables that no message creates.

    :param dump: SQL with their CREATE TABLE statements.
    :param describe: returns the tables that a message describes; None: no message describes any.
    :param descriptions: the values of the messages that describe tables.
    """

    dump: Path | None = None
    describe: Callable[[bytes], DescribedTables] | None = None
    descriptions: Sequence[bytes] = ()


@dataclass(kw_only=True)
class TopicHistory:
    """The history of some messages.

    :param summary: of all messages.
    :param changes: shape ``events.CHANGES``.
    :param resolved: shape ``events.RESOLVED``.
    :param tables: those that existed before.
    :param from_rows: names of the tables whose definition follows from their rows.
    :param begin: TSO after which events are recorded; None: from the beginning.
    :param exact: whether time stamps are exact.
    :param mask: what masked the events, which then lack generated columns; None: nothing did.
    :ivar deliveries: what was delivered again, after ``batches``.
    """

    summary: Summary
    changes: Dataset
    resolved: Dataset
    fidelity: Fidelity
    profile: Profile
    tables: Sequence[EarlierTable]
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
        *,
        source: DefinitionSource,
        selection: Selection,
        fidelity: Fidelity,
        profile: Profile,
        mask: EventMasks | None = None,
    ) -> TopicHistory:
        """Return the history of events.

        :param mask: what masked the events; None: nothing did.
        :raises ProducerError: for a dump that cannot be read, and for a table whose definition is not known.
        """
        ddls = summary.stream_ddls()
        created, accepts = CreatedNames.by(ddls), selection.accepts
        tables: list[EarlierTable] = []
        if source.dump is not None:
            tables = dumped_tables(source.dump, accepts, created)
        elif source.describe is not None:
            tables = described_tables(source.describe, source.descriptions, accepts, created)
        known = (table.name for table in tables)
        of_rows = RowTables.of(summary.first_rows, known, ddls, created, fidelity).tables(changes)
        begin = summary.start_ts(selection)
        if begin is None and (tables or of_rows):
            begin = max(summary.lowest - 1, len(tables) + len(of_rows) + 1)
        return cls(
            summary=summary,
            changes=changes,
            resolved=resolved,
            fidelity=fidelity,
            profile=profile,
            tables=[_masked(table, mask) for table in (*tables, *of_rows)],
            mask=mask,
            from_rows=tuple(sorted(f"{table.schema}.{table.table}" for table in of_rows)),
            begin=begin,
            exact=fidelity.commit_ts == "exact",
        )

    @property
    def start_ts(self) -> int | None:
        """The start-ts of the scenario, which rows that existed before have as commit-ts.

        It is after all earlier DDLs. None: the history has a beginning.
        """
        if self.begin is None:
            return None
        return self.begin + sum(ddl.commit_ts == self.begin for ddl in self.summary.stream_ddls())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a recording (shape ``RECORDED``).

        :raises RecordingError: for a change at the start-ts, where it could not be distinguished.
        """
        begin, start = self.begin, self.start_ts
        if begin is not None and start is not None:
            definitions = self._definitions(begin)
            yield _statements(definitions)
            ddls = [*definitions, *self.summary.stream_ddls()]
            versions = apply_ddls(ddls, self.fidelity, self.profile)
            earlier = EarlierRows(
                tuple(versions), begin, self.exact, computes_generated=self.mask is not None
            )
            yield from earlier.batches(self.changes, start)
        for batch in recorded_changes(self.changes, self.deliveries, exact=self.exact, start=begin):
            if start is not None:
                _check_start(batch, start)
            yield batch
        yield from recorded_resolved(self.resolved, begin)

    def _definitions(self, begin: int) -> list[StreamDDL]:
        """Return the CREATE TABLE statements of earlier tables, before all DDLs of the messages."""
        first = min((ddl.commit_ts for ddl in self.summary.stream_ddls()), default=begin)
        last = min(begin, first)
        ddls = []
        for table in sorted(self.tables, key=lambda table: (table.since, table.name), reverse=True):
            last = min(table.since or last - 1, last - 1)
            ddls.append(
                StreamDDL(
                    commit_ts=last, order=(), schema=table.schema, table=table.table, query=table.create
                )
            )
        return ddls[::-1]


def _masked(table: EarlierTable, mask: EventMasks | None) -> EarlierTable:
    if mask is None:
        return table
    create = mask.statements.masked(table.create, table.schema, "the definition of an earlier table")
    return replace(table, create=create)


def _statements(ddls: Sequence[StreamDDL]) -> pa.RecordBatch:
    given = {
        "commit_ts": [ddl.commit_ts for ddl in ddls],
        "seq": [0] * len(ddls),
        "statement": [ddl.query for ddl in ddls],
        "schema": [ddl.schema for ddl in ddls],
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
