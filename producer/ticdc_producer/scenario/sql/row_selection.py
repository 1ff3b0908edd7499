"""Selects the rows of one table by WHERE, ORDER BY and LIMIT."""

from __future__ import annotations

from functools import cmp_to_key

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import Member, SQLValue
from ticdc_producer.scenario.sql.compare import as_boolean, compare
from ticdc_producer.scenario.sql.evaluate import check_expression, collation_of, evaluate
from ticdc_producer.scenario.sql.literal_conditions import split_memberships
from ticdc_producer.scenario.sql.lookup import candidates
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Row, RowLocation, Table


def select_rows(tree: exp.Expr, table: Table, mode: SQLMode) -> list[Row]:
    """The selected rows in the order of ORDER BY, otherwise of their locations."""
    where, order, limit = (tree.args.get(part) for part in ("where", "order", "limit"))
    _check(where, order, Scope(mode, table.info))
    table.load_selected(None if where is None else where.this)
    if where is None:
        rows = table.scan()
    else:
        memberships, others = split_memberships(where.this, table.info, mode)
        rows = [
            row
            for row in candidates(where.this, table)
            if all(_is_member(table, row, offset, values) for offset, values in memberships)
            and all(_holds(condition, table, row, mode) for condition in others)
        ]
    if order is not None:
        rows = _sorted(rows, order, table, mode)
    return rows if limit is None else rows[: _limit(limit)]


def _check(where: exp.Expr | None, order: exp.Expr | None, scope: Scope) -> None:
    if where is not None:
        check_expression(where.this, scope)
    for ordered in order.expressions if order is not None else ():
        check_expression(ordered.this, scope)


def _holds(condition: exp.Expr, table: Table, row: Row, mode: SQLMode) -> bool:
    return as_boolean(evaluate(condition, Scope(mode, table.info, table.read(row)))) is True


def _is_member(table: Table, row: Row, offset: int, values: frozenset[bytes]) -> bool:
    value = row.values[offset]
    return value is not None and encode_part(table.info.columns[offset], value) in values


def _limit(node: exp.Expr) -> int:
    count = node.expression
    if not isinstance(node, exp.Limit) or node.args.get("offset") or not isinstance(count, exp.Literal):
        raise UnsupportedSQL(f"{node.sql(dialect='mysql')!r} is not supported as a LIMIT")
    if count.is_string or not str(count.this).isdigit():
        raise ScenarioError(f"LIMIT needs a whole number, not {count.this!r}", value=str(count.this))
    return int(str(count.this)[:20])


def _sorted(rows: list[Row], order: exp.Expr, table: Table, mode: SQLMode) -> list[Row]:
    """Stable sorts, by the last expression first; NULLs are smallest."""
    for ordered in reversed(order.expressions):
        keys: dict[RowLocation, SQLValue] = {
            row.location: _sortable(evaluate(ordered.this, Scope(mode, table.info, table.read(row))))
            for row in rows
        }
        scope = Scope(mode, table.info)
        collation = collation_of(ordered.this, scope) or "utf8mb4_bin"

        def order_of(
            a: Row, b: Row, keys: dict[RowLocation, SQLValue] = keys, collation: str = collation
        ) -> int:
            left, right = keys[a.location], keys[b.location]
            found = compare(left, right, collation, mode)
            return (left is not None) - (right is not None) if found is None else found

        rows = sorted(rows, key=cmp_to_key(order_of), reverse=bool(ordered.args.get("desc")))
    return rows


def _sortable(value: SQLValue) -> SQLValue:
    """ENUM and SET sort by their numbers."""
    return value.number if isinstance(value, Member) else value
