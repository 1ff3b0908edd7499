"""The events and rows that a golden folder expects of its own messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.shapes import EXPECTED_EVENTS, STATE
from ticdc_producer.oracle import Oracle
from ticdc_producer.oracle.comparable_tables import (
    LATER_COMMITS,
    ObservedTables,
    uncomparable_tables,
)
from ticdc_producer.oracle.folder_content import FolderContent, InjectedFaults, folder_content
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.golden.expectations import (
    EVENTS,
    FaultLine,
    event_batches,
)
from ticdc_producer.targets.golden.parquet import parquet_parts
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.snapshot import Snapshot, SnapshotTable
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import Tables

_MOST_TABLES = 100_000


@dataclass(frozen=True)
class FolderOracle(Oracle):
    """The expectations of a golden folder for its own messages."""

    folder: FolderContent
    engine: Engine
    job: None = None
    rejected_tables: frozenset[str] = frozenset()

    def events(self) -> ExpectedStream | None:
        path = self.folder.events
        return None if path is None else ExpectedStream(self._events(path).reused())

    def snapshot(self) -> Snapshot | None:
        path = self.folder.snapshot
        if path is None:
            return None
        events = self._events(path)
        creates = events.map(partial(_of_kind, "ddl"), EXPECTED_EVENTS).small(_MOST_TABLES).to_pylist()
        return Snapshot(
            tables=tuple(
                SnapshotTable(
                    topic=ddl["topic"],
                    schema=ddl["schema"],
                    table=ddl["table"],
                    ts=ddl["commit_ts"],
                    create=ddl["query"],
                )
                for ddl in creates
            ),
            rows=events.map(partial(_of_kind, "row"), EXPECTED_EVENTS).reused(),
        )

    def _events(self, path: Path | None) -> Dataset:
        """Return events (shape ``EXPECTED_EVENTS``), read by one part from JSON, or by many from Parquet."""
        if path is None:
            return self.engine.of_batches([], EXPECTED_EVENTS)
        if path.name == EVENTS:
            return self.engine.of_parts(1, lambda _part: event_batches(path), EXPECTED_EVENTS)
        return parquet_parts(self.engine, path, EXPECTED_EVENTS)

    def states(self, stats: StreamStats) -> list[ExpectedState]:
        if not self.folder.states:
            return []
        reasons = self.folder.uncomparable_tables(self._observed_tables())
        states = []
        for ts, tables in self.folder.states.items():
            names = {table.qualified_name for table in tables}
            uncomparable = {
                name: reason
                for name, reason in uncomparable_tables(reasons, stats, ts).items()
                if name in names
            }
            if ts is not None and self.folder.fidelity.commit_ts == "seconds":
                uncomparable |= dict.fromkeys(names, LATER_COMMITS.format("seconds"))
            compared = [table for table in tables if table.qualified_name not in uncomparable]
            visible = {self.folder.visible_name(table) for table in compared}
            rows = partial(self._rows_of, compared)
            states.append(ExpectedState(rows, visible, uncomparable, ts))
        return states

    def rows(self, name: str, ts: int | None) -> Dataset | None:
        """Return the rows of a table (shape ``STATE``).

        :param name: ``SCHEMA.TABLE``.
        :param ts: the time (TSO); None: the end.
        :return: None if the folder has no such rows, or if they do not follow from its messages.
        """
        tables = [table for table in self.folder.states.get(ts, ()) if table.qualified_name == name]
        if not tables or name in self.folder.uncomparable_tables(self._observed_tables()):
            return None
        return self._rows_of(tables, {self.folder.visible_name(table) for table in tables})

    def complete(self, comparison: Comparison | None) -> Comparison | None:
        return with_injected(comparison, self.folder.faults)

    def _observed_tables(self) -> ObservedTables:
        total = ObservedTables()
        total.merge(self._events(self.folder.events).results(_observed))
        return total

    def _rows_of(self, tables: Sequence[ExpectedTable], names: Tables) -> Dataset:
        """Return the rows of tables (shape ``STATE``); each table is read by its own part."""
        folder = self.folder
        own = [table for table in tables if folder.visible_name(table) in names]
        return self.engine.of_parts(len(own), lambda part: folder.state_rows([own[part]]), STATE)


def rows_of_table(folder: Path, name: str, ts: int | None) -> Dataset | None:
    """Return the rows of a table that a folder expects, as a reader decodes them (shape ``STATE``).

    :param name: ``SCHEMA.TABLE``.
    :param ts: the time (TSO); None: the end.
    :return: None if the folder has no such rows, or if they do not follow from its messages.
    """
    manifest = golden.manifest(folder)
    content = folder_content(folder, manifest, golden.changefeed(folder, manifest))
    if content is None or content.faults.count:
        return None
    return FolderOracle(content, LocalEngine()).rows(name, ts)


def _of_kind(kind: str, batches: Batches) -> Batches:
    return (batch.filter(pc.equal(batch.column("kind"), kind)) for batch in batches)


def _observed(_part: Part, batches: Batches) -> ObservedTables:
    tables = ObservedTables()
    for batch in batches:
        tables.add(batch)
    return tables


def with_injected(comparison: Comparison | None, faults: InjectedFaults) -> Comparison | None:
    """Return the comparison with the illegal faults that the folder lists, as differences."""
    if not faults.count:
        return comparison
    nothing = Comparison(expected=0, missing=0, unexpected=0, duplicates=0, out_of_order=0)
    delivered = comparison or nothing
    return replace(delivered, injected=faults.count, diff=(*delivered.diff, *map(_fault_text, faults.lines)))


def _fault_text(fault: FaultLine) -> str:
    known = catalogue().get(fault.trap)
    where = f"{fault.topic}/{fault.partition}" + ("" if fault.offset is None else f"@{fault.offset}")
    return f"! {where} {fault.trap} at ts {fault.commit_ts}" + ("" if known is None else f": {known.summary}")
