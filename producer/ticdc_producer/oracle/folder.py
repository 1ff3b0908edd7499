"""The events and rows that a golden folder expects of its own messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.shapes import EXPECTED_EVENTS, STATE
from ticdc_producer.oracle.comparable_tables import uncomparable_tables
from ticdc_producer.oracle.folder_content import FolderContent, InjectedFaults
from ticdc_producer.oracle.observed_tables import ObservedTables
from ticdc_producer.oracle.oracle import Oracle
from ticdc_producer.targets.golden.expectations import EVENTS, FaultLine, event_batches
from ticdc_producer.targets.golden.parquet import parquet_parts
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable
from ticdc_producer.verifier.expected import ExpectedState, ExpectedStream
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import Tables


@dataclass(frozen=True)
class FolderOracle(Oracle):
    """What a golden folder expects of its own messages."""

    folder: FolderContent
    engine: Engine
    job: None = None
    skipped: frozenset[str] = frozenset()

    def events(self) -> ExpectedStream | None:
        path = self.folder.events
        return None if path is None else ExpectedStream(self._events().reused())

    def _events(self) -> Dataset:
        """Return the events (shape ``EXPECTED_EVENTS``), read by one part from JSON, or by many from
        Parquet."""
        path = self.folder.events
        if path is None:
            return self.engine.of_batches([], EXPECTED_EVENTS)
        if path.name == EVENTS:
            return self.engine.of_parts(1, lambda _part: event_batches(path), EXPECTED_EVENTS)
        return parquet_parts(self.engine, path, EXPECTED_EVENTS)

    def states(self, facts: StreamFacts) -> list[ExpectedState]:
        if not self.folder.states:
            return []
        reasons = self.folder.unverifiable(self._observed_tables())
        states = []
        for ts, tables in self.folder.states.items():
            names = {table.qualified_name for table in tables}
            left_out = {
                name: reason
                for name, reason in uncomparable_tables(reasons, facts, ts).items()
                if name in names
            }
            compared = [table for table in tables if table.qualified_name not in left_out]
            visible = {self.folder.visible_name(table) for table in compared}
            rows = partial(self._rows_of, compared)
            states.append(ExpectedState(rows, visible, left_out, ts))
        return states

    def complete(self, comparison: Comparison | None) -> Comparison | None:
        return with_injected(comparison, self.folder.faults)

    def _observed_tables(self) -> ObservedTables:
        total = ObservedTables()
        total.merge(self._events().results(_observed))
        return total

    def _rows_of(self, tables: Sequence[ExpectedTable], chosen: Tables) -> Dataset:
        """Return the rows of tables (shape ``STATE``); each table is read by its own part."""
        folder = self.folder
        own = [table for table in tables if folder.visible_name(table) in chosen]
        return self.engine.of_parts(len(own), lambda part: folder.state_rows([own[part]]), STATE)


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
    found = comparison or nothing
    return replace(found, injected=faults.count, diff=(*found.diff, *map(_fault_text, faults.lines)))


def _fault_text(fault: FaultLine) -> str:
    known = catalogue().get(fault.trap)
    where = f"{fault.topic}/{fault.partition}" + ("" if fault.offset is None else f"@{fault.offset}")
    return f"! {where} {fault.trap} at ts {fault.commit_ts}" + ("" if known is None else f": {known.summary}")
