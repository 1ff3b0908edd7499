"""Hypothesis strategies for transactions and histories: what the public ones are made of."""

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
    key_places,
    row_key,
)
from ticdc_producer.testing.random_values import values

Images: TypeAlias = Callable[[TableInfo], st.SearchStrategy[Image]]
"""The strategy of a table's rows."""
State: TypeAlias = Mapping[str, dict[RowKey, Image]]
"""The rows of each table."""

_STEPS = [1000 << 18, 1]
"""Between two commit-ts: a second, or the smallest step there is."""
_SENT_FIRST = {Op.DELETE: 0, Op.UPDATE: 1, Op.INSERT: 2}


def images(table: TableInfo, *, invalid_utf8: bool = False) -> st.SearchStrategy[Image]:
    """Any rows of a table.

    :param invalid_utf8: text holds bytes that are not UTF-8, too.
    """
    return st.tuples(*(_nullable(column, invalid_utf8) for column in table.sent_columns))


def _nullable(column: ColumnInfo, invalid_utf8: bool) -> st.SearchStrategy[Value]:
    some = values(column, invalid_utf8=invalid_utf8)
    return some | st.none() if column.nullable else some


def taken_by(protocol: str) -> Images:
    """Rows of a table that the encoder of a protocol takes.

    :raises ChangefeedError: for a protocol or parameter that there is not.
    """
    from ticdc_producer.testing.encoding import encoder_of, takes

    encoder = encoder_of(protocol)

    def taken(table: TableInfo) -> st.SearchStrategy[Image]:
        return images(table).filter(
            lambda image: takes(encoder, RowChange(table=table, op=Op.UPDATE, before=image, after=image))
        )

    return taken


@st.composite
def random_transaction(draw: st.DrawFn, tables: Sequence[TableInfo], ts: int, most: int) -> Transaction:
    """A transaction on tables that have rows already."""
    state = _empty(tables)
    for table in tables:
        for image in draw(st.lists(images(table), max_size=most)):
            state[table.qualified_name][row_key(table, image)] = image
    return draw(_changes(tables, state, ts, most, images).filter(lambda made: bool(made.changes)))


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
    """Transactions on tables that are empty at first. Tables that none of them changes are left out: no
    message speaks of them, and an example reads better without."""
    # A number, then so many: that shrinks to one table, which a list with rejected members often does not.
    chosen = _distinct([draw(tables) for _ in range(draw(st.integers(1, max_tables)))])
    state, made, ts = _empty(chosen), [], start_ts
    for step in draw(st.lists(st.sampled_from(_STEPS), min_size=1, max_size=max_transactions)):
        transaction = draw(_changes(chosen, state, ts, max_changes, rows))
        for change in transaction.changes:
            apply(change, state[change.table.qualified_name])
        if transaction.changes:
            made.append(transaction)
            ts += step
    changed = {change.table.qualified_name for transaction in made for change in transaction.changes}
    shown = [table for table in chosen if table.qualified_name in changed] or chosen[:1]
    return ChangeLog(tables=tuple(shown), transactions=tuple(made))


def _distinct(drawn: Sequence[TableInfo]) -> list[TableInfo]:
    """The first table of each name, with ids of its own."""
    named: dict[str, TableInfo] = {}
    for table in drawn:
        named.setdefault(table.qualified_name.lower(), table)
    return [_numbered(table, place) for place, table in enumerate(named.values())]


def _numbered(table: TableInfo, place: int) -> TableInfo:
    first = table.table_id + 100 * place
    partitions = tuple(PartitionInfo(id=one.id + 100 * place, name=one.name) for one in table.partitions)
    return replace(table, table_id=first, partitions=partitions, version=place)


def _empty(tables: Sequence[TableInfo]) -> dict[str, dict[RowKey, Image]]:
    return {table.qualified_name: {} for table in tables}


@st.composite
def _changes(
    draw: st.DrawFn, tables: Sequence[TableInfo], state: State, ts: int, most: int, rows: Images
) -> Transaction:
    """One net change per row, in TiCDC's order: by table; deletes, updates, inserts. There may be none."""
    made: dict[tuple[str, RowKey], RowChange] = {}
    for op in draw(st.lists(st.sampled_from(Op), min_size=1, max_size=most)):
        free = [
            (table, before)
            for table in tables
            for key, before in state[table.qualified_name].items()
            if (table.qualified_name, key) not in made
        ]
        if op == Op.INSERT or not free:
            table = draw(st.sampled_from(tables))
            change = _insert(table, draw(rows(table)))
        else:
            table, before = draw(st.sampled_from(free))
            change = _delete(table, before) if op == Op.DELETE else _update(table, before, draw(rows(table)))
        key = row_key(table, change.shown)
        there = key in state[table.qualified_name]
        taken = (table.qualified_name, key) in made or (change.op == Op.INSERT and there)
        if not taken and change.before != change.after:
            made[table.qualified_name, key] = change
    ordered = sorted(made.values(), key=lambda change: (change.physical_id, _SENT_FIRST[change.op]))
    return Transaction(commit_ts=ts, changes=tuple(ordered))


def _insert(table: TableInfo, after: Image) -> RowChange:
    return RowChange(table=table, op=Op.INSERT, after=after)


def _delete(table: TableInfo, before: Image) -> RowChange:
    return RowChange(table=table, op=Op.DELETE, before=before)


def _update(table: TableInfo, before: Image, drawn: Image) -> RowChange:
    """An update that changed its handle key would be a delete and an insert."""
    after = list(drawn)
    for place in key_places(table):
        after[place] = before[place]
    return RowChange(table=table, op=Op.UPDATE, before=before, after=tuple(after))
