"""The events and rows that a scenario requires of its stream."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Dataset, Engine, union
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.shapes import STATE, StateBatch, TableRowsBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle import Oracle
from ticdc_producer.oracle.comparable_tables import (
    uncomparable_in_scenario,
    uncomparable_tables,
    undecided_time,
)
from ticdc_producer.pipeline.decoded_images import project_values
from ticdc_producer.simulate.change_log import UpstreamLog
from ticdc_producer.simulate.encode import encoded, reencoded_events, reencoded_messages
from ticdc_producer.simulate.fitted_faults import with_fitted_faults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, sources_of
from ticdc_producer.simulate.state import (
    commits_at,
    snapshot_events,
    snapshot_tables,
    sql_tables,
    ts_before_start,
)
from ticdc_producer.targets.claims import claimed_contents
from ticdc_producer.targets.decode import canonical_forms
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.snapshot import Snapshot, SnapshotTable
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import Tables
from ticdc_producer.verifier.wire import ExpectedMessages


def decoded_sql_state(job: Job, left_out: Collection[str], ts: int | None) -> pa.Table:
    """Return the rows of the tables that SQL filled as a reader decodes them, and a marker per table.

    :param left_out: ``schema.table`` of tables that are not compared.
    :param ts: the time (TSO); None: the end.
    :return: ``shapes.STATE``.
    """
    fidelity = job.encoder.fidelity
    records: list[dict[str, Any]] = []
    for table, rows in sql_tables(job, ts):
        if table.handle_index is None or table.qualified_name in left_out:
            continue
        columns = [
            (fidelity.visible_name(column.name), fidelity.full_projection(column))
            for column in table.sent_columns
        ]
        names = dict(zip(("schema", "table"), visible_table(job, table), strict=True))
        records.append({**names, "row": None})
        records += [
            {
                **names,
                "row": [(name, project(value)) for (name, project), value in zip(columns, row, strict=True)],
            }
            for row in rows
        ]
    return pa.Table.from_pylist(records, STATE)


def rows_of_table(job: Job, name: str, ts: int | None) -> Dataset | None:
    """Return the rows of a table as a reader decodes them (shape ``STATE``), in no order.

    :param name: ``SCHEMA.TABLE``.
    :param ts: the time (TSO); None: the end.
    :return: None if a consumer of the messages does not have these rows, if only Spark can compute them, or
        if the time is not one of the job's ``state_at``.
    """
    illegal = job.faults is not None and bool(job.faults.illegal)
    if (
        illegal
        or job.scenario.on_error == "skip"
        or job.history.data
        or name in uncomparable_in_scenario(job)
    ):
        return None
    return decoded_state(job, {table.qualified_name for table in job.catalog.tables} - {name}, ts)


def decoded_state(job: Job, left_out: Collection[str], ts: int | None) -> Dataset:
    """Return the rows of tables as a reader decodes them, and a marker per table of SQL (shape ``STATE``).

    :param left_out: ``schema.table`` of tables that are not wanted.
    :param ts: the time (TSO), one of the job's ``state_at``; None: the end.
    """
    engine = LocalEngine()
    parts: list[Dataset] = [engine.of_batches(decoded_sql_state(job, left_out, ts).to_batches(), STATE)]
    for source in sources_of(job):
        for table, rows in source.rows(engine, job, commits_at(job, ts)):
            if table.qualified_name not in left_out:
                parts.append(rows.map(partial(decoded_batches, job, table), STATE))
    return union(parts)


def visible_table(job: Job, table: TableInfo) -> tuple[str, str]:
    """Return schema and name of a table as the messages have them."""
    visible = job.encoder.fidelity.visible_name
    return visible(table.schema), visible(table.name)


def decoded_rows(job: Job, table: TableInfo, rows: TableRowsBatch) -> StateBatch:
    """Return rows as a reader of the messages decodes them (``shapes.STATE``).

    Replaced bytes of invalid text need no handling: generated text is valid UTF-8.

    :param table: with the columns of ``rows``.
    :param rows: shape ``ROWS``.
    """
    fidelity, count = job.encoder.fidelity, rows.num_rows
    images = rows.column("row")
    staged = pa.record_batch(
        {
            "table_version": pa.array(np.full(count, table.version, np.int32)),
            "before": pa.nulls(count, images.type),
            "after": images,
        }
    )
    images = project_values(staged, job.catalog.tables, fidelity).column("after")
    names = pa.array([fidelity.visible_name(column.name) for column in table.sent_columns], pa.string())
    keys = names.take(pa.array(np.tile(np.arange(len(names)), count)))
    offsets = pa.array(np.arange(count + 1) * len(names), pa.int32())
    columns = [
        *(pa.repeat(name, count) for name in visible_table(job, table)),
        pa.MapArray.from_arrays(offsets, keys, images.flatten()),
    ]
    decoded: StateBatch = pa.record_batch(columns, schema=STATE)
    return decoded


def decoded_batches(
    job: Job, table: TableInfo, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table as a reader decodes them, see :func:`decoded_rows`."""
    return (decoded_rows(job, table, batch) for batch in batches)


def expected_messages(job: Job, events: Dataset) -> ExpectedMessages | None:
    """Return the messages of a stream; None if the bytes of the protocol are not compared.

    :param events: the ordered event stream, without illegal faults.
    """
    wire = job.wire_digests("canonical form")
    if wire is None:
        return None
    return ExpectedMessages(
        canonical_events=reencoded_events(job, events, "canonical form"),
        messages=reencoded_messages(job, events),
        eventless=reencoded_messages(job, events, eventless=True),
        forms=partial(canonical_forms, wire, claimed_contents("")),
    )


@dataclass(frozen=True)
class ScenarioOracle(Oracle):
    """The expectations of a scenario for its stream.

    :param engine: that of all datasets.
    :param log: its change log, from which the rows are derived.
    :param expected: the events, without illegal faults.
    """

    job: Job
    engine: Engine
    log: UpstreamLog
    expected: ExpectedStream
    rejected_tables: frozenset[str] = frozenset()

    def events(self) -> ExpectedStream:
        return self.expected

    def snapshot(self) -> Snapshot | None:
        job, engine, sources = self.job, self.engine, self.log.sources
        if job.start_ts is None:
            return None
        rows = snapshot_events(job, engine, snapshot_tables(job, engine, sources))
        return Snapshot(tables=tables_at_start(job), rows=rows.reused())

    def states(self, stats: StreamStats) -> list[ExpectedState]:
        """Return the rows at the end, and at the job's ``state_at`` after all events up to that commit-ts."""
        reasons, states = uncomparable_in_scenario(self.job), []
        for ts in (None, *self.job.state_at):
            undecided = undecided_time(self.job, ts)
            names = {table.qualified_name for table in self.job.stream.replicated} if undecided else set()
            uncomparable = uncomparable_tables(reasons, stats, ts) | dict.fromkeys(names, undecided)
            states.append(self._state(uncomparable, ts))
        return states

    def _state(self, uncomparable: dict[str, str], ts: int | None) -> ExpectedState:
        left_out, job, engine = {*uncomparable, *self.rejected_tables}, self.job, self.engine
        of_sql = decoded_sql_state(job, left_out, ts)
        tables = set(zip(*(of_sql.column(name).to_pylist() for name in ("schema", "table")), strict=True))
        parts: list[tuple[tuple[str, str], Dataset]] = []
        for source in self.log.sources:
            for table, rows in source.rows(engine, job, commits_at(job, ts)):
                if table.qualified_name not in left_out:
                    decoded = rows.map(partial(decoded_batches, job, table), STATE)
                    parts.append((visible_table(job, table), decoded))
        tables |= {name for name, _ in parts}

        def of_tables(names: Tables) -> Dataset:
            sql = engine.of_batches(of_sql.to_batches(), STATE)
            return union([sql, *(rows for name, rows in parts if name in names)])

        return ExpectedState(of_tables, tables, uncomparable, ts)


def tables_at_start(job: Job) -> tuple[SnapshotTable, ...]:
    """Return the tables at the start-ts of a job of which the changefeed sends all rows."""
    visible = job.encoder.fidelity.visible_commit_ts
    return tuple(
        SnapshotTable(
            topic=job.stream.routes[table.version].topic,
            schema=visible_table(job, table)[0],
            table=visible_table(job, table)[1],
            ts=visible(ts_before_start(job)) - 1,
            create=definition.create,
        )
        for definition in job.history.definitions
        if definition.version in job.stream.fully_replicated_versions
        for table in [job.history.catalog.tables[definition.version]]
    )


@contextmanager
def oracle_of_scenario(job: Job | None, engine: Engine) -> Iterator[ScenarioOracle | None]:
    """Yield the requirements of a scenario, if there is one."""
    if job is None:
        yield None
        return
    with ExitStack() as stack:
        job = with_fitted_faults(job)
        simulation = Simulation.of(job, engine)
        events, skipped = simulation.ordered_events(stack, illegal=False), frozenset[str]()
        if job.scenario.on_error == "skip":
            with encoded(job, events, faults=False) as stream:
                skipped = stream.rejected_tables
        wire = expected_messages(job, events)
        expected = ExpectedStream(reencoded_events(job, events), in_order=True, wire=wire)
        yield ScenarioOracle(job, engine, simulation.log, expected, skipped)
