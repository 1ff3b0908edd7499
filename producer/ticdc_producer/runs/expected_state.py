"""The rows that a scenario's tables have at a time, as a reader of the messages decodes them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.table import TableInfo
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.step_rows import StepRows, state_rows
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.verifier.distributed_comparison import ExpectedState
from ticdc_producer.verifier.table_state import STATE


def sql_state(job: Job, left_out: Collection[str], ts: int | None) -> pa.Table:
    """Rows of the replicated tables that SQL filled, and one record without a row per table (``STATE``).

    :param left_out: ``schema.table`` of tables that are not compared.
    :param ts: time stamp (TSO) of the state; None: the state at the end.
    """
    fidelity = job.encoder.fidelity
    records: list[dict[str, Any]] = []
    for table, rows in replicated_state(job, job.history.state if ts is None else job.state_until(ts)):
        if table.handle_index is None or table.qualified_name in left_out:
            continue
        columns = [
            (fidelity.visible_name(column.name), fidelity.full_projection(column))
            for column in table.sent_columns
        ]
        names = {
            "schema": fidelity.visible_name(table.schema),
            "table": fidelity.visible_name(table.name),
        }
        records.append({**names, "row": None})
        records += [
            {
                **names,
                "row": [(name, project(value)) for (name, project), value in zip(columns, row, strict=True)],
            }
            for row in rows
        ]
    return pa.Table.from_pylist(records, STATE)


def _of_steps(steps: StepRows, job: Job, ts: int | None) -> Iterator[tuple[TableInfo, DataFrame]]:
    """Rows of the tables that ``generate`` and ``data`` steps filled (``STATE``)."""
    commits = job.sent if ts is None else job.commits_until(ts)
    for table, rows in steps.at(job, commits):
        yield table, _state(job, table, rows)


def _state(job: Job, table: TableInfo, rows: DataFrame) -> DataFrame:
    def records(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (state_rows(job, table, batch) for batch in batches)

    return rows.mapInArrow(records, from_arrow_schema(STATE))


def expected_rows(
    steps: StepRows, job: Job, unverifiable: Mapping[str, str], skipped: Collection[str], ts: int | None
) -> ExpectedState:
    """The rows of all replicated tables.

    :param unverifiable: ``schema.table`` of tables that are not compared, and the reason; reports list them.
    :param skipped: of tables that are not compared either.
    """
    left_out, visible = {*unverifiable, *skipped}, job.encoder.fidelity.visible_name
    rows = sql_state(job, left_out, ts)
    tables = set(zip(*(rows.column(name).to_pylist() for name in ("schema", "table")), strict=True))
    found = (
        steps.spark.createDataFrame(rows)
        if rows.num_rows
        else steps.spark.createDataFrame([], from_arrow_schema(STATE))
    )
    for table, frame in _of_steps(steps, job, ts):
        if table.qualified_name not in left_out:
            tables.add((visible(table.schema), visible(table.name)))
            found = found.unionByName(frame)
    return ExpectedState(found, tables, unverifiable, ts)
