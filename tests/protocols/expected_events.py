"""A golden event as a consumer must see it, given what a codec says it loses."""

from __future__ import annotations

from tests.golden_events import GoldenDDL, GoldenRow
from ticdc_producer.model.event import DDLEvent, EventColumn, Image, Op, ResolvedEvent, RowEvent, Value
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo


def expected_ddl(
    event: DDLEvent | GoldenDDL,
    losses: Losses,
    table: TableInfo | None = None,
    before: TableInfo | None = None,
) -> DDLEvent:
    """:param table: the table as the DDL leaves it; ``before`` as it found it."""
    whole = DDLEvent(
        commit_ts=event.commit_ts,
        schema=event.schema,
        table=event.table,
        query=event.query,
        ddl_type=event.ddl_type,
    )
    schema, name = losses.told_ddl_names(whole, table, before)
    return DDLEvent(
        commit_ts=losses.told_commit_ts(event.commit_ts),
        schema=schema,
        table=name,
        query=event.query,
        ddl_type=losses.told_ddl_type(event.ddl_type),
    )


def expected_resolved(ts: int, losses: Losses) -> ResolvedEvent:
    assert losses.resolved
    return ResolvedEvent(commit_ts=ts)


def expected_row(event: GoldenRow, losses: Losses, *, too_large: bool = False) -> RowEvent:
    """Row ids apart, which no event line shows.

    :param too_large: only the handle key was sent, since the row was over the limit.
    """
    by_key = too_large or (event.op == Op.DELETE and losses.deletes == "handle-key")
    shown = [
        (place, column, flag)
        for place, (column, flag) in enumerate(
            zip(event.table.sent_columns, event.table.sent_flags, strict=True)
        )
        if flag & ColumnFlag.HANDLE_KEY or not by_key
    ]

    def image(values: tuple[Value, ...] | None, *, against: tuple[Value, ...] | None = None) -> Image | None:
        if values is None:
            return None
        return {
            losses.told_name(column.name): losses.told(column)(values[place])
            for place, column, _ in shown
            if against is None or values[place] != against[place]
        }

    updated = event.op == Op.UPDATE and losses.old_values == "updated"
    no_old = event.op == Op.UPDATE and losses.old_values == "none"
    before = None if no_old else image(event.before, against=event.after if updated else None)
    op = event.op
    if op == Op.UPDATE and not before and not losses.names_operation:
        op, before = Op.INSERT, None
    if losses.sorted_columns:
        shown.sort(key=lambda one: one[1].name.encode())
    names_table = {"none": False, "partitions": event.is_partitioned, "all": True}
    return RowEvent(
        commit_ts=losses.told_commit_ts(event.commit_ts, event.op),
        schema=losses.told_name(event.table.schema),
        table=losses.told_name(event.table.name),
        op=op,
        columns=tuple(
            EventColumn(losses.told_name(column.name), losses.told_type(column, flag), losses.told_flag(flag))
            for _, column, flag in shown
        ),
        before=before,
        after=image(event.after),
        table_id=event.table_id if names_table[losses.table_ids] else 0,
        handle_key_only=too_large,
    )
