"""The events of a story as a protocol tells them: made of what was committed and the codec's own account.

No message is looked at. That the project's decoders read the messages so is what the tests check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import Change

_Shown = Sequence[tuple[int, ColumnInfo, int]]
"""Place in the image, column and whole flag of the columns that a message shows."""


def told_row(
    change: Change, table: TableInfo, commit_ts: int, losses: Losses, *, handle_key_only: bool = False
) -> dict[str, Any]:
    """A row change, with the fields of the shape ``DECODED``.

    :param table: the version that the change is of.
    :param handle_key_only: whether the message holds the handle key alone, for its size.
    """
    by_key = handle_key_only or (change.op == Op.DELETE and losses.deletes == "handle-key")
    shown = _shown(table, losses, by_key)
    before, after = change.before, change.after
    old = None if before is None else _image(before, shown, losses, _sent_of_old(change, losses))
    op = change.op
    if op == Op.UPDATE and losses.old_values == "none":
        old = None
    if op == Op.UPDATE and not old and not losses.names_operation:
        op, old = Op.INSERT, None
    names_table = {"all": True, "partitions": bool(table.partitions), "none": False}[losses.table_ids]
    return {
        "kind": "row",
        "commit_ts": losses.told_commit_ts(commit_ts, op),
        "schema": table.schema,
        "table": table.name,
        "table_id": change.table_id if names_table else 0,
        "op": op.word,
        "columns": [
            {"name": column.name, "type": losses.told_type(column, flag), "flag": losses.told_flag(flag)}
            for _, column, flag in shown
        ],
        "before": old,
        "after": None if after is None else _image(after, shown, losses, lambda _: True),
        "handle_key_only": handle_key_only,
    }


def told_ddl(job: DDLJob, commit_ts: int, catalog: Catalog, losses: Losses) -> dict[str, Any]:
    """A DDL, likewise."""
    schema, table = losses.told_ddl_names(job.event(0), *catalog.tables_of(job))
    return {
        "kind": "ddl",
        "commit_ts": losses.told_commit_ts(commit_ts),
        "schema": schema,
        "table": table,
        "query": job.query,
        "ddl_type": losses.told_ddl_type(job.ddl_type),
    }


def told_resolved(ts: int) -> dict[str, Any]:
    """A resolved event, likewise."""
    return {"kind": "resolved", "commit_ts": ts}


def _shown(table: TableInfo, losses: Losses, by_key: bool) -> _Shown:
    columns = zip(table.sent_columns, table.sent_flags, strict=True)
    shown = [
        (place, column, flag)
        for place, (column, flag) in enumerate(columns)
        if flag & ColumnFlag.HANDLE_KEY or not by_key
    ]
    return sorted(shown, key=lambda one: one[1].name.encode()) if losses.sorted_columns else shown


def _sent_of_old(change: Change, losses: Losses) -> Callable[[int], bool]:
    """Which places of the old image are sent."""
    before, after = change.before, change.after
    if before is None or after is None or losses.old_values != "updated":
        return lambda _: True
    return lambda place: before[place] != after[place]


def _image(
    values: Sequence[Value], shown: _Shown, losses: Losses, sent: Callable[[int], bool]
) -> dict[str, Value]:
    return {column.name: losses.told(column)(values[place]) for place, column, _ in shown if sent(place)}
