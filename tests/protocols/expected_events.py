"""Golden events as a consumer must see them, given the fidelity of a codec."""

from __future__ import annotations

from tests.golden_events import GoldenDDL, GoldenRow
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import DDLEvent, EventColumn, Image, Op, ResolvedEvent, RowEvent, Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo


def expected_ddl(
    event: DDLEvent | GoldenDDL,
    fidelity: Fidelity,
    table: TableInfo | None = None,
    before: TableInfo | None = None,
) -> DDLEvent:
    """The DDL event that a decoder must return.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    whole = DDLEvent(
        commit_ts=event.commit_ts,
        schema=event.schema,
        table=event.table,
        query=event.query,
        ddl_type=event.ddl_type,
    )
    schema, name = fidelity.visible_ddl_names(whole, table, before)
    return DDLEvent(
        commit_ts=fidelity.visible_commit_ts(event.commit_ts),
        schema=schema,
        table=name,
        query=event.query,
        ddl_type=fidelity.visible_ddl_type(event.ddl_type),
    )


def expected_resolved(ts: int, fidelity: Fidelity) -> ResolvedEvent:
    assert fidelity.resolved
    return ResolvedEvent(commit_ts=ts)


def expected_row(event: GoldenRow, fidelity: Fidelity, *, too_large: bool = False) -> RowEvent:
    """The row event that a decoder must return, without the row id.

    :param too_large: the row was over the limit, and only its handle key was sent.
    """
    by_key = too_large or (event.op == Op.DELETE and fidelity.deletes == "handle-key")
    sent = [
        (index, column, flag)
        for index, (column, flag) in enumerate(
            zip(event.table.sent_columns, event.table.sent_flags, strict=True)
        )
        if flag & ColumnFlag.HANDLE_KEY or not by_key
    ]

    def image(values: tuple[Value, ...] | None, *, against: tuple[Value, ...] | None = None) -> Image | None:
        if values is None:
            return None
        return {
            fidelity.visible_name(column.name): fidelity.full_projection(column)(values[index])
            for index, column, _ in sent
            if against is None or values[index] != against[index] or column.type in fidelity.always_old
        }

    updated = event.op == Op.UPDATE and fidelity.old_values == "updated"
    no_old = event.op == Op.UPDATE and fidelity.old_values == "none"
    before = None if no_old else image(event.before, against=event.after if updated else None)
    op = event.op
    if op == Op.UPDATE and not before and not fidelity.names_operation:
        op, before = Op.INSERT, None
    if fidelity.sorted_columns:
        sent.sort(key=lambda pair: pair[1].name.encode())
    names_table = {"none": False, "partitions": event.is_partitioned, "all": True}
    return RowEvent(
        commit_ts=fidelity.visible_commit_ts(event.commit_ts, event.op),
        schema=fidelity.visible_name(event.table.schema),
        table=fidelity.visible_name(event.table.name),
        op=op,
        columns=tuple(
            EventColumn(
                fidelity.visible_name(column.name),
                fidelity.visible_type(column, flag),
                fidelity.visible_flag(flag),
            )
            for _, column, flag in sent
        ),
        before=before,
        after=image(event.after),
        table_id=event.table_id if names_table[fidelity.table_ids] else 0,
        handle_key_only=too_large,
    )
