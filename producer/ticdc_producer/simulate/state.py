"""The rows that the tables of a scenario have at a time, as TiCDC sends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.model.shapes import TABLE_ROWS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.event_filter import reduced_tables, selected_columns
from ticdc_producer.pipeline.row_images import is_utc, local_images, selected_from, timestamp_columns
from ticdc_producer.protocols.zone import local_timestamp, zone_of
from ticdc_producer.scenario.history import RowImage, State
from ticdc_producer.simulate.job import Job

TableRows: TypeAlias = tuple[TableInfo, tuple[RowImage, ...]]


def commits_at(job: Job, ts: int | None) -> int | None:
    """Return the number of commits up to a TSO; None: the end, after all."""
    return job.sent if ts is None else job.commits_until(ts)


def is_compared(job: Job, table: TableInfo, first_commit: int, commits: int | None) -> bool:
    """Return whether the changefeed sends all rows of a table, and its step has begun after some commits."""
    has_started = commits is None or commits > first_commit
    return has_started and table.version in job.stream.fully_replicated_versions


def replicated_rows(job: Job, table: TableInfo, rows: pa.RecordBatch) -> pa.RecordBatch:
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
    return pa.record_batch([rows.column("row_key"), images], schema=TABLE_ROWS)


def sql_tables(job: Job, ts: int | None) -> list[TableRows]:
    """Return the tables that SQL filled, with their rows, as the changefeed sends them.

    :param ts: the time (TSO); None: the end.
    """
    return replicated_state(job, job.history.state if ts is None else job.state_until(ts))


def replicated_state(job: Job, state: State) -> list[TableRows]:
    """Return the tables that TiCDC replicates as a whole, with their rows in the changefeed's time zone."""
    tables = job.history.catalog.tables
    return [
        _selected_rows(
            job,
            tables[table.version],
            local_rows(tables[table.version], table.rows, job.changefeed.time_zone),
        )
        for _, table in sorted(state.items())
        if table.version in job.stream.fully_replicated_versions
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
