"""The table state that a consumer can derive from a topic: the expected state as far as messages carry it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from ticdc_producer.model.json_value import from_json, to_json
from ticdc_producer.model.table import TableInfo
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.unverifiable_tables import tables_of_ddl_text, unverifiable_tables
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.targets.golden.write import table_file

ConsumerTable: TypeAlias = dict[str, Any]
"""``{"schema", "table", "key": [column…], "types": {column: SQL type}, "rows": [{column: value}…]}``."""


def consumer_state(job: Job, folder: Path, ts: int | None = None) -> list[ConsumerTable]:
    """The tables whose rows follow from a topic, with values as its protocol transmits them.

    Left out are tables without a key, tables that a DDL altered, and tables that a DDL emptied although the
    topic has no message of that DDL.

    :param folder: a golden folder of the job.
    :param ts: one of the job's ``state_at`` time stamps (TSO); None: the state at the end.
    """
    state_folder = folder / "state" if ts is None else folder / "state.at" / str(ts)
    left_out = unverifiable_tables(job).keys() | tables_of_ddl_text(job)
    tables = {
        table.qualified_name: table
        for table in _tables(job, ts)
        if table.handle_index is not None and table.qualified_name not in left_out
    }
    return [
        _consumer_table(job, table, state_folder)
        for _, table in sorted(tables.items())
        if _file(state_folder, table).exists()
    ]


def _tables(job: Job, ts: int | None) -> Iterator[TableInfo]:
    state = job.history.state if ts is None else job.state_until(ts)
    yield from (table for table, _ in replicated_state(job, state))
    commits = None if ts is None else job.commits_until(ts)
    yield from (plan.table_after(commits) for plan in job.history.generated)


def _file(state_folder: Path, table: TableInfo) -> Path:
    return state_folder / f"{table_file(table.schema, table.name)}.jsonl"


def _consumer_table(job: Job, table: TableInfo, state_folder: Path) -> ConsumerTable:
    fidelity, index = job.encoder.fidelity, table.handle_index
    project = {column.name: fidelity.full_projection(column) for column in table.sent_columns}
    flags = zip(table.sent_columns, table.sent_flags, strict=True)
    with _file(state_folder, table).open(encoding="utf-8", newline="\n") as lines:
        rows = [json.loads(line) for line in lines]
    return {
        "schema": table.schema,
        "table": table.name,
        "key": [table.columns[offset].name for offset in index.offsets] if index else [],
        "types": {column.name: fidelity.visible_type(column, flag) for column, flag in flags},
        "rows": [
            {name: to_json(project[name](from_json(value))) for name, value in row.items()} for row in rows
        ],
    }
