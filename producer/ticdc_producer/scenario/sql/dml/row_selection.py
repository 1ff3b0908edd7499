"""The rows that the WHERE, ORDER BY and LIMIT of an UPDATE or DELETE of one table select."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.definition.partitioning import chosen_partitions
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, is_satisfied
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.ordering import SortKey, row_count, sort_rows
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.lookup import (
    Lookup,
    encoded_members,
    literals_of,
    membership_column,
)
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.text.clause import partition_names


class RowSelection:
    """The checked clauses of a statement, and the index by which its rows are looked up.

    All of this follows from the tree and from the version of the table; the values of literals are read for
    each statement.

    :param scope: of the table.
    :raises ScenarioError: for an expression that is not supported, or an unknown column.
    """

    def __init__(self, tree: exp.Expr, table: TableInfo, scope: Scope) -> None:
        self._partitions = chosen_partitions(table, partition_names(tree.this))
        where, self._order, self._limit = (tree.args.get(part) for part in ("where", "order", "limit"))
        self._where = None if where is None else where.this
        if self._where is not None:
            check_expression(self._where, scope)
        for ordered in self._order.expressions if self._order is not None else ():
            check_expression(ordered.this, scope)
        self._literals = literals_of(self._where)
        self._lookup = None if self._where is None else Lookup(self._where, table)
        conditions = [] if self._lookup is None else self._lookup.conditions
        self._conditions = [(condition, membership_column(condition, table)) for condition in conditions]

    def rows(self, table: Table, scope: Scope) -> list[Row]:
        """Return the selected rows in the order of ORDER BY, otherwise of their locations.

        :param scope: of the table; this function changes its row.
        """
        if not all(is_satisfied(evaluate(node, scope), scope.mode) for node in self._literals):
            return []
        table.load_selected(self._where)
        rows = table.scan() if self._lookup is None else self._selected(self._lookup, table, scope)
        rows = table.seen(rows, scope.mode)
        if self._partitions is not None:
            rows = [row for row in rows if row.table_id in self._partitions]
        if self._order is not None:
            rows = _sorted(rows, self._order, table, scope)
        return rows if self._limit is None else rows[: row_count(self._limit)]

    def _selected(self, lookup: Lookup, table: Table, scope: Scope) -> list[Row]:
        rows, satisfied = lookup.rows(table)
        memberships: list[tuple[int, frozenset[bytes]]] = []
        others: list[exp.Expr] = []
        for condition, offset in self._conditions:
            column = None if offset is None else table.info.columns[offset]
            members = None if column is None else encoded_members(column, condition, scope.mode)
            if offset is not None and members is not None:
                memberships.append((offset, members))
            elif condition is not satisfied:
                others.append(condition)
        if not memberships and not others:
            return rows
        return [
            row
            for row in rows
            if all(_is_member(table, row, offset, values) for offset, values in memberships)
            and all(_holds(condition, table, row, scope) for condition in others)
        ]


def _holds(condition: exp.Expr, table: Table, row: Row, scope: Scope) -> bool:
    scope.row, scope.in_storage = table.read(row), True
    satisfied = is_satisfied(evaluate(condition, scope), scope.mode)
    scope.in_storage = False
    return satisfied


def _is_member(table: Table, row: Row, offset: int, values: frozenset[bytes]) -> bool:
    value = row.values[offset]
    return value is not None and encode_part(table.info.columns[offset], value) in values


def _sorted(rows: list[Row], order: exp.Expr, table: Table, scope: Scope) -> list[Row]:
    keys: list[SortKey[Row]] = []
    for ordered in order.expressions:
        collation = collation_of(ordered.this, scope) or DEFAULT_COLLATION
        keys.append(SortKey(_value_of(ordered.this, table, scope), collation, bool(ordered.args.get("desc"))))
    return sort_rows(rows, keys, scope.mode)


def _value_of(node: exp.Expr, table: Table, scope: Scope) -> Callable[[Row], SQLValue]:
    def value(row: Row) -> SQLValue:
        scope.row = table.read(row)
        return evaluate(node, scope)

    return value
