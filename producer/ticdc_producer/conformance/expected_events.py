"""The expected events of a case in one protocol, from the committed changes and the codec's ``Fidelity``.

Messages are not decoded for this; tests check that the project's decoders return these events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import Change

_VisibleColumns = Sequence[tuple[int, ColumnInfo, int]]
"""Index in the image, column and complete flag of the columns that a message contains."""


def expected_row(
    change: Change, table: TableInfo, commit_ts: int, fidelity: Fidelity, *, handle_key_only: bool = False
) -> dict[str, Any]:
    """The expected event of a row change, with the fields of the shape ``DECODED``.

    :param table: the table version of the change.
    :param handle_key_only: whether the message holds only the handle key, because of its size.
    """
    by_key = handle_key_only or (change.op == Op.DELETE and fidelity.deletes == "handle-key")
    visible = _visible_columns(table, fidelity, by_key)
    before, after = change.before, change.after
    old = None if before is None else _image(before, visible, fidelity, _sent_of_old(change, fidelity))
    op = change.op
    if op == Op.UPDATE and fidelity.old_values == "none":
        old = None
    if op == Op.UPDATE and not old and not fidelity.names_operation:
        op, old = Op.INSERT, None
    names_table = {"all": True, "partitions": bool(table.partitions), "none": False}[fidelity.table_ids]
    return {
        "kind": "row",
        "commit_ts": fidelity.visible_commit_ts(commit_ts, op),
        "schema": fidelity.visible_name(table.schema),
        "table": fidelity.visible_name(table.name),
        "table_id": change.table_id if names_table else 0,
        "op": op.label,
        "columns": [
            {
                "name": fidelity.visible_name(column.name),
                "type": fidelity.visible_type(column, flag),
                "flag": fidelity.visible_flag(flag),
            }
            for _, column, flag in visible
        ],
        "before": old,
        "after": None if after is None else _image(after, visible, fidelity, lambda _: True),
        "handle_key_only": handle_key_only,
    }


def expected_ddl(job: DDLJob, commit_ts: int, catalog: Catalog, fidelity: Fidelity) -> dict[str, Any]:
    """The expected event of a DDL, with the fields of the shape ``DECODED``."""
    schema, table = fidelity.visible_ddl_names(job.event(0), *catalog.tables_of(job))
    return {
        "kind": "ddl",
        "commit_ts": fidelity.visible_commit_ts(commit_ts),
        "schema": schema,
        "table": table,
        "query": job.query,
        "ddl_type": fidelity.visible_ddl_type(job.ddl_type),
    }


def expected_resolved(ts: int) -> dict[str, Any]:
    """The expected resolved event, with the fields of the shape ``DECODED``."""
    return {"kind": "resolved", "commit_ts": ts}


def _visible_columns(table: TableInfo, fidelity: Fidelity, by_key: bool) -> _VisibleColumns:
    columns = zip(table.sent_columns, table.sent_flags, strict=True)
    visible = [
        (index, column, flag)
        for index, (column, flag) in enumerate(columns)
        if flag & ColumnFlag.HANDLE_KEY or not by_key
    ]
    return sorted(visible, key=lambda one: one[1].name.encode()) if fidelity.sorted_columns else visible


def _sent_of_old(change: Change, fidelity: Fidelity) -> Callable[[int], bool]:
    """Whether the old image contains the column at an index."""
    before, after = change.before, change.after
    if before is None or after is None or fidelity.old_values != "updated":
        return lambda _: True
    return lambda index: before[index] != after[index]


def _image(
    values: Sequence[Value], visible: _VisibleColumns, fidelity: Fidelity, sent: Callable[[int], bool]
) -> dict[str, Value]:
    return {
        fidelity.visible_name(column.name): fidelity.full_projection(column)(values[index])
        for index, column, _ in visible
        if sent(index)
    }
