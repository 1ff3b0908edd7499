"""The expectations of a golden folder in the forms that verification takes, for few messages and for many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.errors import FolderError
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.model.dataframes import EXPECTED_EVENTS
from ticdc_producer.model.shapes import EXPECTED_EVENTS as EXPECTED_SHAPE
from ticdc_producer.runs.expected_event_facts import EventFacts
from ticdc_producer.runs.folder_expectations import FolderExpectations, InjectedFaults
from ticdc_producer.runs.small_verification import SmallExpectation
from ticdc_producer.runs.unverifiable_tables import with_keys_of_ddls
from ticdc_producer.runs.verification import Expectation
from ticdc_producer.spark.task_results import MapInArrow, results_of
from ticdc_producer.targets.golden.expectations import EVENTS, FaultLine, event_batches
from ticdc_producer.verifier.check import CheckedStream
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable
from ticdc_producer.verifier.distributed_comparison import ExpectedFrame, ExpectedState
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import STATE, StateComparison, Tables


@dataclass(frozen=True, kw_only=True)
class SmallFolderExpected(SmallExpectation):
    """A folder's expectations of few messages.

    :param events: shape ``EXPECTED_EVENTS``; None: unknown.
    :param tables: by time stamp (None: the end) and ``schema.table``, the rows (``table_state.STATE``).
    :param unverifiable: ``schema.table`` of the tables whose rows cannot be derived from the stream, and the
        reason.
    """

    events: pa.Table | None
    tables: Mapping[int | None, Mapping[str, pa.Table]]
    unverifiable: Mapping[str, str]
    faults: InjectedFaults
    job: None = None
    skipped: frozenset[str] = field(default=frozenset())

    def comparison(self, stream: CheckedStream) -> Comparison | None:
        found = None if self.events is None else stream.comparison(self.events)
        return with_injected(found, self.faults)

    def states(self, stream: CheckedStream) -> dict[int | None, StateComparison]:
        found = {}
        for ts, tables in self.tables.items():
            reasons = stream.facts.underivable(ts) | with_keys_of_ddls(self.unverifiable, stream.facts, ts)
            left_out = {name: reason for name, reason in reasons.items() if name in tables}
            rows = [table for name, table in tables.items() if name not in left_out]
            found[ts] = stream.state(pa.concat_tables([STATE.empty_table(), *rows]), left_out, ts)
        return found


def small_folder_expected(folder: FolderExpectations) -> SmallFolderExpected:
    """The expectations of a small folder, read into memory.

    :raises FolderError: for a line that cannot be read.
    """
    facts, events = EventFacts(), None
    if folder.events is not None:
        batches = list(event_batches(folder.events))
        events = pa.Table.from_batches(batches, EXPECTED_SHAPE)
        for batch in batches:
            facts.add(batch)
    return SmallFolderExpected(
        events=events,
        tables={
            ts: {
                table.qualified_name: pa.Table.from_batches(folder.state_rows([table]), STATE)
                for table in tables
            }
            for ts, tables in folder.states.items()
        },
        unverifiable=folder.unverifiable(facts),
        faults=folder.faults,
    )


@dataclass(frozen=True, kw_only=True)
class FolderExpected(Expectation):
    """A folder's expectations of any number of messages."""

    folder: FolderExpectations
    spark: SparkSession
    job: None = None
    skipped: frozenset[str] = field(default=frozenset())

    def expected_events(self) -> ExpectedFrame | None:
        events = self._events()
        return None if events is None else ExpectedFrame(events)

    def _events(self) -> DataFrame | None:
        """The events (shape ``EXPECTED_EVENTS``), read by one task from JSON, or by many from Parquet."""
        path = self.folder.events
        if path is None:
            return None
        if path.name == EVENTS:
            return self.spark.range(0, 1, 1, 1).mapInArrow(lambda _: event_batches(path), EXPECTED_EVENTS)
        try:
            rows = self.spark.read.parquet(str(path.absolute()))
            fields = EXPECTED_EVENTS.fields
            return rows.select(*(sf.col(one.name).cast(one.dataType).alias(one.name) for one in fields))
        except PySparkException:
            hint = "write the folder again: ticdc-producer run SCENARIO --out DIR"
            raise FolderError("these files have no expected events", path=str(path), hint=hint) from None

    def states(self, facts: StreamFacts) -> list[ExpectedState]:
        unverifiable = self.folder.unverifiable(self._event_facts())
        found = []
        for ts, tables in self.folder.states.items():
            reasons = facts.underivable(ts) | with_keys_of_ddls(unverifiable, facts, ts)
            names = {one.qualified_name for one in tables}
            left_out = {name: reason for name, reason in reasons.items() if name in names}
            compared = [table for table in tables if table.qualified_name not in left_out]
            visible = {self.folder.visible_name(table) for table in compared}
            found.append(ExpectedState(partial(self._rows_of, compared), visible, left_out, ts))
        return found

    def complete(self, comparison: Comparison | None) -> Comparison | None:
        return with_injected(comparison, self.folder.faults)

    def _event_facts(self) -> EventFacts:
        found = EventFacts()
        events = self._events() if self.folder.states else None
        if events is not None:
            found.merge(results_of(events, _facts))
        return found

    def _rows_of(self, tables: Sequence[ExpectedTable], chosen: Tables) -> MapInArrow:
        own = [table for table in tables if self.folder.visible_name(table) in chosen]
        return self._rows(own).mapInArrow

    def _rows(self, tables: Sequence[ExpectedTable]) -> DataFrame:
        """The rows of tables (shape ``STATE``); each table is read by its own task."""
        folder, shape = self.folder, from_arrow_schema(STATE)
        if not tables:
            return self.spark.createDataFrame([], shape)

        def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            chosen = [tables[number] for batch in batches for number in batch.column("id").to_pylist()]
            yield from folder.state_rows(chosen)

        numbers = self.spark.range(len(tables)).select(sf.col("id").cast("int").alias("id"))
        return numbers.repartitionById(len(tables), "id").mapInArrow(read, shape)


def _facts(batches: Iterator[pa.RecordBatch]) -> EventFacts:
    found = EventFacts()
    for batch in batches:
        found.add(batch)
    return found


def with_injected(comparison: Comparison | None, faults: InjectedFaults) -> Comparison | None:
    """The comparison with the illegal faults that the folder lists, as differences."""
    if not faults.count:
        return comparison
    nothing = Comparison(expected=0, missing=0, unexpected=0, duplicates=0, out_of_order=0)
    found = comparison or nothing
    return replace(found, injected=faults.count, diff=(*found.diff, *map(_fault_text, faults.lines)))


def _fault_text(fault: FaultLine) -> str:
    known = catalogue().get(fault.trap)
    where = f"{fault.topic}/{fault.partition}" + ("" if fault.offset is None else f"@{fault.offset}")
    return f"! {where} {fault.trap} at ts {fault.commit_ts}" + ("" if known is None else f": {known.summary}")
