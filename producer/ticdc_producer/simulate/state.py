"""The rows that the tables of a scenario have at a time: as TiCDC sends them, and as a dump has them.

A changefeed sends no rows that exist at its start-ts. A dump at the start-ts has these rows as they are
upstream: with all columns that messages can have, and with TIMESTAMP values in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part, union
from ticdc_producer.model.event import MAX_EVENTS, Op
from ticdc_producer.model.shapes import (
    CARRIED,
    CHANGE_LOG,
    EXPECTED_EVENTS,
    IMAGE,
    TABLE_ROWS,
    ChangeBatch,
    TableRowsBatch,
)
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.temporal_text import local_timestamp, zone_of
from ticdc_producer.pipeline import event_stream as rules
from ticdc_producer.pipeline.event_filter import reduced_tables, selected_columns
from ticdc_producer.pipeline.expected_events import ExpectedEvents
from ticdc_producer.pipeline.row_images import (
    column_values,
    is_utc,
    local_images,
    selected_from,
    timestamp_columns,
)
from ticdc_producer.scenario.history import DefinedTable, RowImage, State, TableState
from ticdc_producer.scenario.sql.definition.partition_columns import partitions_of_rows
from ticdc_producer.simulate.change_log import UpstreamSource
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.soft_delete_rows import downstream_rows, uncomparable_soft_deletes

TableRows: TypeAlias = tuple[TableInfo, tuple[RowImage, ...]]


def commits_at(job: Job, ts: int | None) -> int | None:
    """Return the number of commits up to a TSO; None: the end, after all."""
    return job.sent if ts is None else job.commits_until(ts)


def is_compared(job: Job, table: TableInfo, first_commit: int, commits: int | None) -> bool:
    """Return whether the changefeed sends all rows of a table, and its step has begun after some commits."""
    has_started = commits is None or commits > first_commit
    return has_started and table.version in job.stream.fully_replicated_versions


def sent_table(job: Job, table: TableInfo) -> TableInfo:
    """Return a table of a plan in the form of messages: under its name in them, with the selected columns."""
    return job.stream.selection.of(job.history.catalog.tables[table.version])


def replicated_rows(job: Job, table: TableInfo, rows: TableRowsBatch) -> TableRowsBatch:
    """Return rows with TIMESTAMP values in the changefeed's time zone, and without unselected columns.

    :param rows: shape ``TABLE_ROWS``.
    """
    images, versions = rows.column("row"), np.full(rows.num_rows, table.version)
    columns = timestamp_columns(table)
    if columns and not is_utc(job.changefeed.time_zone):
        images = local_images(images, {table.version: columns}, versions, job.changefeed.time_zone)
    selected = reduced_tables([table], job.stream.selection)
    if selected:
        images = selected_from(images, selected, versions)
    replicated: TableRowsBatch = pa.record_batch([rows.column("row_key"), images], schema=TABLE_ROWS)
    return replicated


def sql_tables(job: Job, ts: int | None) -> list[TableRows]:
    """Return the tables that SQL filled, with their rows, as the changefeed sends them.

    :param ts: the time (TSO); None: the end.
    """
    return replicated_state(job, job.history.state if ts is None else job.state_until(ts))


def replicated_state(job: Job, state: State) -> list[TableRows]:
    """Return the tables that TiCDC replicates as a whole, with their rows in the changefeed's time zone."""
    tables, uncomparable = job.history.catalog.tables, uncomparable_soft_deletes(job.history, job.changefeed)
    return [
        _selected_rows(
            job,
            tables[table.version],
            local_rows(
                tables[table.version],
                downstream_rows(tables[table.version], table.rows, job.changefeed),
                job.changefeed.time_zone,
            ),
        )
        for _, table in sorted(state.items())
        if table.version in job.stream.fully_replicated_versions
        and tables[table.version].qualified_name not in uncomparable
    ]


def _selected_rows(job: Job, table: TableInfo, rows: tuple[RowImage, ...]) -> TableRows:
    """Return the table and its rows without the columns that the column selectors exclude."""
    columns = selected_columns(table, job.stream.selection)
    if columns is None:
        return table, rows
    return job.stream.selection.of(table), tuple(tuple(row[index] for index in columns) for row in rows)


def local_rows(table: TableInfo, rows: Sequence[RowImage], time_zone: str) -> tuple[RowImage, ...]:
    """Return rows that the driver holds with local TIMESTAMP values.

    :param time_zone: the changefeed's time zone.
    """
    columns = timestamp_columns(table)
    if is_utc(time_zone) or not columns:
        return tuple(rows)
    zone = zone_of(time_zone)
    return tuple(
        tuple(local_timestamp(value, zone) if index in columns else value for index, value in enumerate(row))
        for row in rows
    )


LOCATED_ROWS = pa.schema([("table_id", pa.int64()), ("row", IMAGE)])
"""Rows of one table: their physical table id, and their image."""
_ROWS_AT_ONCE = 1 << 14
_MOST_PARTS, _PART_BITS = 1 << 12, 11
"""Rows of a part have up to 2 ** 31 numbers: 11 bits of the offset, and the index in the message."""


@dataclass(frozen=True)
class TableSnapshot:
    """A replicated table at the start-ts.

    :param rows: shape ``LOCATED_ROWS``.
    :param of_sql: whether SQL alone filled the table.
    """

    table: TableInfo
    definition: DefinedTable
    rows: Dataset
    of_sql: bool


def snapshot_tables(
    job: Job,
    engine: Engine,
    sources: Sequence[UpstreamSource],
    stack: ExitStack | None = None,
) -> Iterator[TableSnapshot]:
    """Yield the replicated tables at the start-ts of a job; none without a start-ts.

    :param sources: those of the job besides SQL.
    :param stack: removes the rows of the sources, which are stored in the order of their keys; None: they are
        in no order, and computed at each use.
    """
    if job.start_ts is None:
        return
    dump, tables, filled = _dumped(job), job.history.catalog.tables, set[int]()
    rows = {
        state.version: engine.of_batches(_batches(tables[state.version], state), LOCATED_ROWS)
        for state in job.history.state_at[job.first_commit].values()
    }
    definitions = {definition.version: definition for definition in job.history.definitions}
    for source in sources:
        for table, of_table in source.rows(engine, dump, job.first_commit):
            if table.version not in definitions:
                continue
            located = partial(_located, tables[table.version], definitions[table.version])
            in_order = of_table if stack is None else of_table.in_order("row_key")
            of_source = in_order.map(located, LOCATED_ROWS)
            if stack is not None:
                of_source = stack.enter_context(of_source.cached(in_order=True))
            rows[table.version] = of_source
            filled.add(table.version)
    versions = {table.version for table in job.stream.replicated}
    for version, definition in sorted(definitions.items()):
        if version in versions and version in rows:
            yield TableSnapshot(tables[version], definition, rows[version], version not in filled)


def state_at_start(job: Job, of_table: TableSnapshot) -> tuple[TableInfo, Dataset]:
    """Return a table at the start-ts and its rows as the changefeed sends them (shape ``TABLE_ROWS``)."""
    table = of_table.table
    rows = of_table.rows.map(partial(_sent, job, table), TABLE_ROWS)
    return job.stream.selection.of(table), rows


def _sent(job: Job, table: TableInfo, batches: Batches) -> Batches:
    for batch in batches:
        keys = pa.nulls(batch.num_rows, pa.binary())
        rows = pa.record_batch([keys, batch.column("row")], schema=TABLE_ROWS)
        yield replicated_rows(job, table, rows)


def _dumped(job: Job) -> Job:
    """Return the job with a changefeed that sends rows as they are upstream."""
    plain = {"time_zone": "UTC", "column_selectors": (), "filter": type(job.changefeed.filter)()}
    return replace(job, changefeed=job.changefeed.model_copy(update=plain))


def _batches(table: TableInfo, state: TableState) -> Iterator[pa.RecordBatch]:
    ids = np.array(state.table_ids or [table.table_id] * len(state.rows), np.int64)
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        columns = [pa.array(ids[part]), pa.array(state.rows[part], IMAGE)]
        yield pa.record_batch(columns, schema=LOCATED_ROWS)


def _located(table: TableInfo, definition: DefinedTable, batches: Iterator[TableRowsBatch]) -> Batches:
    """Yield rows with the physical ids of their partitions.

    >>> from types import SimpleNamespace
    >>> parts, columns = [SimpleNamespace(id=id) for id in (41, 42)], [SimpleNamespace(name="id")]
    >>> table = SimpleNamespace(partitions=parts, columns=columns, image_index=lambda offset: offset)
    >>> even_or_odd = SimpleNamespace(uses=lambda: {"id"}, locate=lambda _, values: int(values[0]) % 2)
    >>> definition = DefinedTable(version=0, create="", partitioning=even_or_odd)
    >>> rows = pa.RecordBatch.from_pylist([{"row": [b"6"]}, {"row": [b"7"]}], TABLE_ROWS)
    >>> next(_located(table, definition, [rows])).to_pydict()
    {'table_id': [41, 42], 'row': [[b'6'], [b'7']]}

    :param batches: shape ``TABLE_ROWS``.
    """
    ids = np.array([part.id for part in table.partitions] or [table.table_id], np.int64)
    for batch in batches:
        images, at = batch.column("row"), np.zeros(batch.num_rows, np.int64)
        if definition.partitioning is not None:
            every, nothing = np.arange(batch.num_rows), pa.nulls(batch.num_rows, pa.binary())
            indexes = [table.image_index(offset) for offset in range(len(table.columns))]
            values = [nothing if at is None else column_values(images, every, at) for at in indexes]
            at = partitions_of_rows(definition.partitioning, table, values)
        yield pa.record_batch([pa.array(ids[at]), images], schema=LOCATED_ROWS)


def ts_before_start(job: Job) -> int:
    """Return a commit-ts that is lower than that of every event, in the form of messages."""
    visible = job.encoder.fidelity.visible_commit_ts
    return max(visible(max((job.start_ts or 0), 1)) - 1, 1)


def snapshot_events(job: Job, engine: Engine, tables: Iterable[TableSnapshot]) -> Dataset:
    """Return the rows at the start-ts as a reader would decode their inserts (shape ``EXPECTED_EVENTS``).

    Topic and partition are those of their later events. Offsets and indexes number them.

    :param tables: those of which the changefeed sends all rows are used.
    """
    versions = job.stream.fully_replicated_versions
    whole = (of_table for of_table in tables if of_table.table.version in versions)
    parts = [
        of_table.rows.map_parts(partial(_events, job, of_table.table, number), EXPECTED_EVENTS)
        for number, of_table in enumerate(whole)
    ]
    return union(parts) if parts else engine.of_batches([], EXPECTED_EVENTS)


def _events(job: Job, table: TableInfo, number: int, part: Part, batches: Batches) -> Batches:
    reader, count = ExpectedEvents(job.catalog, job.encoder.fidelity), 0
    block = (number * _MOST_PARTS + part.index % _MOST_PARTS) << _PART_BITS
    for batch in batches:
        events = rules.snapshot_events(_inserts(table, batch, ts_before_start(job)), job.stream)
        numbers = count + np.arange(events.num_rows)
        count += events.num_rows
        columns = {
            "offset": pa.array(block + numbers // MAX_EVENTS),
            "index": pa.array(numbers % MAX_EVENTS, pa.int32()),
            "handle_key_only": pa.array(np.zeros(len(numbers), bool)),
            "wire": pa.array(np.zeros(len(numbers), np.int64)),
        }
        arrays = [columns.get(field.name) for field in CARRIED]
        filled = [
            events.column(field.name) if array is None else array
            for field, array in zip(CARRIED, arrays, strict=True)
        ]
        if events.num_rows:
            yield reader.expected(pa.record_batch(filled, schema=CARRIED))


def _inserts(table: TableInfo, rows: pa.RecordBatch, ts: int) -> ChangeBatch:
    """Return rows (shape ``LOCATED_ROWS``) as inserts at a commit-ts.

    >>> table = TableInfo(schema="s", name="t", table_id=41, columns=(), version=3)
    >>> rows = pa.RecordBatch.from_pylist([{"table_id": 41, "row": [b"6"]}], LOCATED_ROWS)
    >>> _inserts(table, rows, ts=9).select(["table_version", "op", "after", "commit_ts"]).to_pydict()
    {'table_version': [3], 'op': [1], 'after': [[b'6']], 'commit_ts': [9]}
    """
    count = rows.num_rows
    columns = {
        "table_version": np.full(count, table.version),
        "table_id": rows.column("table_id"),
        "op": np.full(count, int(Op.INSERT)),
        "after": rows.column("row"),
        "row_key": pa.array([b""] * count, pa.binary()),
    }
    zero = np.zeros(count, np.int64)
    arrays = [
        pa.nulls(count, field.type)
        if field.name.startswith("old_") or field.name == "before"
        else pa.array(columns.get(field.name, zero)).cast(field.type)
        for field in CHANGE_LOG
    ]
    batch: ChangeBatch = pa.record_batch(arrays, schema=CHANGE_LOG)
    return batch.append_column("commit_ts", pa.array(np.full(count, ts)))
