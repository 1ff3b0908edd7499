"""Selects the rows of one table by WHERE, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.compare import DEFAULT_COLLATION, as_boolean, collation_of
from ticdc_producer.scenario.sql.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.lookup import candidates, split_memberships
from ticdc_producer.scenario.sql.ordering import SortKey, row_count, sort_rows
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Row, Table


def select_rows(tree: exp.Expr, table: Table, scope: Scope) -> list[Row]:
    """The selected rows in the order of ORDER BY, otherwise of their locations.

    :param scope: of the table; this function changes its row.
    """
    where, order, limit = (tree.args.get(part) for part in ("where", "order", "limit"))
    mode = scope.mode
    _check(where, order, scope)
    table.load_selected(None if where is None else where.this)
    if where is None:
        rows = table.scan()
    else:
        memberships, others = split_memberships(where.this, table.info, mode)
        rows = [
            row
            for row in candidates(where.this, table)
            if all(_is_member(table, row, offset, values) for offset, values in memberships)
            and all(_holds(condition, table, row, scope) for condition in others)
        ]
    if order is not None:
        rows = _sorted(rows, order, table, scope)
    return rows if limit is None else rows[: row_count(limit)]


def _check(where: exp.Expr | None, order: exp.Expr | None, scope: Scope) -> None:
    if where is not None:
        check_expression(where.this, scope)
    for ordered in order.expressions if order is not None else ():
        check_expression(ordered.this, scope)


def _holds(condition: exp.Expr, table: Table, row: Row, scope: Scope) -> bool:
    scope.row = table.read(row)
    return as_boolean(evaluate(condition, scope)) is True


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
