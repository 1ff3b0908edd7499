"""The rows that a scenario's tables have at a time, as a reader of the messages decodes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.model.table import TableInfo
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.step_rows import StepRows, state_rows
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.spark.task_results import MapInArrow
from ticdc_producer.verifier.distributed_comparison import ExpectedState
from ticdc_producer.verifier.table_state import STATE, Tables


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


def _state_of(job: Job, table: TableInfo, rows: MapInArrow) -> MapInArrow:
    """Applies functions to the rows of a step's table (shape ``STATE``).

    :param rows: applies functions to the rows (shape ``ROWS``).
    """

    def mapped(function: BatchFunction, schema: StructType | str) -> DataFrame:
        return rows(lambda batches: function(state_rows(job, table, one) for one in batches), schema)

    return mapped


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
    of_sql = (
        steps.spark.createDataFrame(rows)
        if rows.num_rows
        else steps.spark.createDataFrame([], from_arrow_schema(STATE))
    )
    parts: list[tuple[tuple[str, str], MapInArrow]] = []
    for table, of_table in steps.at(job, job.sent if ts is None else job.commits_until(ts)):
        if table.qualified_name not in left_out:
            name = visible(table.schema), visible(table.name)
            tables.add(name)
            parts.append((name, _state_of(job, table, of_table)))

    def of_tables(chosen: Tables) -> MapInArrow:
        own = [of_sql.mapInArrow, *(part for name, part in parts if name in chosen)]

        def mapped(function: BatchFunction, schema: StructType | str) -> DataFrame:
            return reduce(DataFrame.unionByName, [part(function, schema) for part in own])

        return mapped

    return ExpectedState(of_tables, tables, unverifiable, ts)
