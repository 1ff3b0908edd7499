"""The table state that a consumer can have of a topic: the expected state, as far as the messages tell it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from ticdc_producer.model.json_value import from_json, to_json
from ticdc_producer.model.table import TableInfo
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.unverifiable_tables import untold_tables
from ticdc_producer.runs.write_golden import replicated_state
from ticdc_producer.targets.golden.write import table_file

AskedTable: TypeAlias = dict[str, Any]
"""``{"schema", "table", "key": [column…], "types": {column: SQL type}, "rows": [{column: value}…]}``."""


def asked_state(job: Job, folder: Path, ts: int | None = None) -> list[AskedTable]:
    """The tables whose rows a topic tells, with the values as its protocol tells them.

    Left out are tables without a key, those that a DDL altered, and those that a DDL emptied without a
    word of it in the topic.

    :param folder: a golden folder of the job.
    :param ts: at this one of the job's ``state_at``; None: at the end.
    """
    place = folder / "state" if ts is None else folder / "state.at" / str(ts)
    untold = untold_tables(job)
    asked = {
        table.qualified_name: table
        for table in _tables(job, ts)
        if table.handle_index is not None and table.qualified_name not in untold
    }
    return [_asked(job, table, place) for _, table in sorted(asked.items()) if _file(place, table).exists()]


def _tables(job: Job, ts: int | None) -> Iterator[TableInfo]:
    state = job.history.state if ts is None else job.state_until(ts)
    yield from (table for table, _ in replicated_state(job, state))
    commits = None if ts is None else job.commits_until(ts)
    yield from (plan.table_after(commits) for plan in job.history.generated)


def _file(place: Path, table: TableInfo) -> Path:
    return place / f"{table_file(table.schema, table.name)}.jsonl"


def _asked(job: Job, table: TableInfo, place: Path) -> AskedTable:
    losses, index = job.encoder.losses, table.handle_index
    told = {column.name: losses.told(column) for column in table.sent_columns}
    flags = zip(table.sent_columns, table.sent_flags, strict=True)
    with _file(place, table).open(encoding="utf-8", newline="\n") as lines:
        rows = [json.loads(line) for line in lines]
    return {
        "schema": table.schema,
        "table": table.name,
        "key": [table.columns[offset].name for offset in index.offsets] if index else [],
        "types": {column.name: losses.told_type(column, flag) for column, flag in flags},
        "rows": [
            {name: to_json(told[name](from_json(value))) for name, value in row.items()} for row in rows
        ],
    }
