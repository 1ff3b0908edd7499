"""Hypothesis strategies for transactions and histories, on which the public strategies are built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from hypothesis import strategies as st

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.testing.change_log import (
    ChangeLog,
    Image,
    RowChange,
    RowKey,
    Transaction,
    apply,
    key_indexes,
    row_key,
)
from ticdc_producer.testing.random_values import values

Images: TypeAlias = Callable[[TableInfo], st.SearchStrategy[Image]]
"""The strategy of a table's rows."""
State: TypeAlias = Mapping[str, dict[RowKey, Image]]
"""The rows of each table."""

_STEPS = [1000 << 18, 1]
"""Distances between two commit-ts: a second, or the smallest possible one."""
_SENT_FIRST = {Op.DELETE: 0, Op.UPDATE: 1, Op.INSERT: 2}


def images(table: TableInfo, *, invalid_utf8: bool = False) -> st.SearchStrategy[Image]:
    """Generate any rows of a table.

    :param invalid_utf8: text may contain bytes that are not UTF-8.
    """
    return st.tuples(*(_nullable(column, invalid_utf8) for column in table.sent_columns))


def _nullable(column: ColumnInfo, invalid_utf8: bool) -> st.SearchStrategy[Value]:
    some = values(column, invalid_utf8=invalid_utf8)
    return some | st.none() if column.nullable else some


def accepted_by(protocol: str) -> Images:
    """Return the strategy of a table's rows that the encoder of a protocol accepts.

    :raises ChangefeedError: for an unknown protocol or parameter.
    """
    from ticdc_producer.testing.encoding import accepts, encoder_of

    encoder = encoder_of(protocol)

    def accepted(table: TableInfo) -> st.SearchStrategy[Image]:
        return images(table).filter(
            lambda image: accepts(encoder, RowChange(table=table, op=Op.UPDATE, before=image, after=image))
        )

    return accepted


@st.composite
def random_transaction(
    draw: st.DrawFn, tables: Sequence[TableInfo], ts: int, max_changes: int
) -> Transaction:
    """Draw a transaction on tables that already have rows."""
    state = _empty(tables)
    for table in tables:
        for image in draw(st.lists(images(table), max_size=max_changes)):
            state[table.qualified_name][row_key(table, image)] = image
    return draw(
        _changes(tables, state, ts, max_changes, images).filter(lambda transaction: bool(transaction.changes))
    )


@st.composite
def random_history(
    draw: st.DrawFn,
    tables: st.SearchStrategy[TableInfo],
    max_tables: int,
    max_transactions: int,
    max_changes: int,
    rows: Images,
    start_ts: int,
) -> ChangeLog:
    """Draw transactions on tables that are empty at first.

    Unchanged tables are left out, because no message mentions them and examples are shorter without them.
    """
    # Drawing the number first shrinks to one table; a list with rejected members often does not.
    distinct = _distinct([draw(tables) for _ in range(draw(st.integers(1, max_tables)))])
    state, transactions, ts = _empty(distinct), [], start_ts
    for step in draw(st.lists(st.sampled_from(_STEPS), min_size=1, max_size=max_transactions)):
        transaction = draw(_changes(distinct, state, ts, max_changes, rows))
        for change in transaction.changes:
            apply(change, state[change.table.qualified_name])
        if transaction.changes:
            transactions.append(transaction)
            ts += step
    changed = {change.table.qualified_name for transaction in transactions for change in transaction.changes}
    changed_tables = [table for table in distinct if table.qualified_name in changed] or distinct[:1]
    return ChangeLog(tables=tuple(changed_tables), transactions=tuple(transactions))


def _distinct(tables: Sequence[TableInfo]) -> list[TableInfo]:
    """Return the first table of each name, with distinct ids."""
    named: dict[str, TableInfo] = {}
    for table in tables:
        named.setdefault(table.qualified_name.lower(), table)
    return [_numbered(table, number) for number, table in enumerate(named.values())]


def _numbered(table: TableInfo, number: int) -> TableInfo:
    first = table.table_id + 100 * number
    partitions = tuple(
        PartitionInfo(id=partition.id + 100 * number, name=partition.name) for partition in table.partitions
    )
    return replace(table, table_id=first, partitions=partitions, version=number)


def _empty(tables: Sequence[TableInfo]) -> dict[str, dict[RowKey, Image]]:
    return {table.qualified_name: {} for table in tables}


@st.composite
def _changes(
    draw: st.DrawFn, tables: Sequence[TableInfo], state: State, ts: int, max_changes: int, rows: Images
) -> Transaction:
    """Draw at most one net change per row, in TiCDC's order: by table, then deletes, updates, inserts.

    The transaction may be empty.
    """
    changes: dict[tuple[str, RowKey], RowChange] = {}
    for op in draw(st.lists(st.sampled_from(Op), min_size=1, max_size=max_changes)):
        free = [
            (table, before)
            for table in tables
            for key, before in state[table.qualified_name].items()
            if (table.qualified_name, key) not in changes
        ]
        if op == Op.INSERT or not free:
            table = draw(st.sampled_from(tables))
            change = _insert(table, draw(rows(table)))
        else:
            table, before = draw(st.sampled_from(free))
            change = _delete(table, before) if op == Op.DELETE else _update(table, before, draw(rows(table)))
        key = row_key(table, change.image)
        exists = key in state[table.qualified_name]
        conflicts = (table.qualified_name, key) in changes or (change.op == Op.INSERT and exists)
        if not conflicts and change.before != change.after:
            changes[table.qualified_name, key] = change
    ordered = sorted(changes.values(), key=lambda change: (change.physical_id, _SENT_FIRST[change.op]))
    return Transaction(commit_ts=ts, changes=tuple(ordered))


def _insert(table: TableInfo, after: Image) -> RowChange:
    return RowChange(table=table, op=Op.INSERT, after=after)


def _delete(table: TableInfo, before: Image) -> RowChange:
    return RowChange(table=table, op=Op.DELETE, before=before)


def _update(table: TableInfo, before: Image, row: Image) -> RowChange:
    """Return an update that does not change the handle key; otherwise it would be a delete and an insert."""
    after = list(row)
    for index in key_indexes(table):
        after[index] = before[index]
    return RowChange(table=table, op=Op.UPDATE, before=before, after=tuple(after))
