"""Subqueries in expressions, and comparisons of rows of several columns. Logic is three-valued."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import JsonText, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import own_nodes
from ticdc_producer.scenario.sql.expression.collation import collation_of, merged_collation
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, compare, extreme
from ticdc_producer.scenario.sql.expression.comparison import ACCEPTED_ORDERS, refined
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.equality import ValueIndex, distinct_key
from ticdc_producer.scenario.sql.query.plan import QueryPlan, column_value

_LONG = 8
"""Number of rows from which IN uses an index of the values; a JSON document is sought in one in any case."""


def has_join(tree: exp.Expr) -> bool:
    """Return whether an expression itself has IN, ANY or ALL with a query, which TiDB plans as a join.

    Source: tidb ``expressionRewriter.handleInSubquery``, ``handleCompareSubquery``.
    """
    return any(
        isinstance(node, exp.Any | exp.All)
        or (isinstance(node, exp.In) and node.args.get("query") is not None)
        for node in own_nodes(tree)
    )


def _one_column() -> ScenarioError:
    return ScenarioError("Operand should contain 1 column(s)")


@dataclass(frozen=True)
class _Members:
    """The values of a subquery, and their index."""

    values: Sequence[SQLValue]
    index: ValueIndex
    has_null: bool


@dataclass(frozen=True)
class _Bounds:
    """The values of a subquery with which ANY or ALL compares.

    :param several: whether two distinct values of the subquery decide ``= ALL`` or ``<> ANY``.
    """

    values: Sequence[SQLValue]
    several: bool


class Subqueries:
    """The evaluation of nodes with subqueries, and of comparisons of rows.

    :param plan: returns the checked query of a node.
    :param computes: whether a check computes the single row of a subquery that is not correlated, so that
        its error is one of the statement, also if no row needs it. Source: tidb
        ``expressionRewriter.handleScalarSubquery``.
    """

    def __init__(self, plan: Callable[[exp.Expr, Scope], QueryPlan], *, computes: bool) -> None:
        self._plan, self._computes = plan, computes
        self._members: dict[int, _Members] = {}
        self._bounds: dict[int, _Bounds] = {}

    def check(self, node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
        """Check one node, and return the nodes in it that are still to be checked."""
        if isinstance(node, exp.In):
            columns = len(_parts(node.this))
            self._check_columns(node.args["query"], columns, scope)
            return _parts(node.this)
        if isinstance(node, exp.Exists):
            self._plan(node.this, scope)
            return ()
        if isinstance(node, exp.Tuple):
            if type(node.parent) not in (*ACCEPTED_ORDERS, exp.NullSafeEQ, exp.In):
                raise _one_column()
            return node.expressions
        columns = 1
        compared = node.parent
        if compared is not None and isinstance(node, exp.Any | exp.All):
            columns = len(_parts(compared.this))
            if columns != 1 and not _is_membership(compared):
                raise _one_column()
        elif compared is not None and type(compared) in (*ACCEPTED_ORDERS, exp.NullSafeEQ):
            other = compared.this if compared.expression is node else compared.expression
            columns = len(_parts(other))
        if isinstance(node, exp.Any | exp.All):
            self._check_columns(node.this, columns, scope)
            return ()
        self._check_columns(node, columns, scope)
        if self._computes and not self._plan(node, scope).changes and node.find(exp.With) is None:
            self._single_row(node, scope)
        return ()

    def _check_columns(self, node: exp.Expr, columns: int, scope: Scope) -> None:
        if len(self._plan(node, scope).fields) != columns:
            raise ScenarioError(f"Operand should contain {columns} column(s)")

    def evaluate(self, node: exp.Expr, scope: Scope) -> SQLValue:
        """Return the value of a subquery, or the outcome of a comparison with one."""
        if isinstance(node, exp.Exists):
            return self._plan(node.this, scope).has_rows(scope)
        if isinstance(node, exp.In):
            return self._in(node, scope)
        if isinstance(node.expression, exp.Any | exp.All):
            return self._quantified(node, scope)
        if type(node) in ACCEPTED_ORDERS or isinstance(node, exp.NullSafeEQ):
            return self._row_comparison(node, scope)
        if isinstance(node, exp.Tuple):
            raise _one_column()
        row = self._single_row(node, scope)
        return None if row is None else column_value(row[0])

    def _single_row(self, node: exp.Expr, scope: Scope) -> Sequence[SQLValue] | None:
        plan = self._plan(node, scope)
        rows = plan.rows(scope)
        if len(rows) > 1:
            raise ScenarioError("Subquery returns more than 1 row")
        return rows[0] if rows else plan.without_rows(scope)

    def _in(self, node: exp.Expr, scope: Scope) -> SQLValue:
        query = node.args.get("query")
        if query is not None:
            return self._is_member(node.this, query, scope)
        operands = [evaluate(part, scope) for part in _parts(node.this)]
        collations = [collation_of(part, scope) for part in _parts(node.this)]
        pairs = [
            _refined_rows(node.this, operands, item, self._values(item, len(operands), scope), scope)
            for item in node.expressions
        ]
        return _any_of(_equal(left, right, collations, scope.mode) for left, right in pairs)

    def _is_member(self, row: exp.Expr, query: exp.Expr, scope: Scope) -> bool | None:
        operands = [evaluate(part, scope) for part in _parts(row)]
        collations = [collation_of(part, scope) for part in _parts(row)]
        plan = self._plan(query, scope)
        collations = [
            merged_collation(name, field.collation)
            for name, field in zip(collations, plan.fields, strict=True)
        ]
        rows = plan.rows(scope)
        of_documents = isinstance(operands[0], JsonText) or plan.fields[0].type.kind is EvalType.JSON
        is_indexed = (of_documents or len(rows) >= _LONG) and len(operands) == 1 and not plan.changes
        if is_indexed and operands[0] is not None:
            return self._indexed(plan, operands[0], collations[0], scope.mode)
        # Each row is compared: a text that is no number is an error also after an equal row.
        return _any_of([_equal(operands, row, collations, scope.mode) for row in rows])

    def _indexed(self, plan: QueryPlan, operand: SQLValue, collation: str, mode: SQLMode) -> bool | None:
        members = self._members.get(id(plan))
        if members is None:
            values = [row[0] for row in plan.rows(None)]
            index = ValueIndex(values, collation or DEFAULT_COLLATION)
            members = self._members[id(plan)] = _Members(values, index, None in values)
        positions = members.index.candidates(operand, strict=True)
        outcome = _any_of([_equal([operand], [members.values[at]], [collation], mode) for at in positions])
        return True if outcome else (None if members.has_null else False)

    def _quantified(self, node: exp.Expr, scope: Scope) -> SQLValue:
        """Evaluate ``a > ANY (…)`` or ``a > ALL (…)``."""
        quantifier = node.expression
        if _is_membership(node):
            is_member = self._is_member(node.this, quantifier.this, scope)
            return is_member if is_member is None else is_member == isinstance(node, exp.EQ)
        operand = evaluate(node.this, scope)
        plan = self._plan(quantifier.this, scope)
        collation = merged_collation(collation_of(node.this, scope), plan.fields[0].collation)
        of_all = isinstance(quantifier, exp.All)
        bounds = self._bounds_of(node, plan, scope)
        if operand is None and bounds.values:
            return None  # also for <> ANY of several values. Source: tidb ``buildQuantifierPlan``
        if bounds.several:
            return not of_all
        orders = [
            compare(operand, value, collation or DEFAULT_COLLATION, scope.mode) for value in bounds.values
        ]
        outcomes = [None if order is None else ACCEPTED_ORDERS[type(node)](order) for order in orders]
        if not of_all:
            return _any_of(outcomes)
        any_false = _any_of(None if outcome is None else not outcome for outcome in outcomes)
        return None if any_false is None else not any_false

    def _bounds_of(self, node: exp.Expr, plan: QueryPlan, scope: Scope) -> _Bounds:
        if id(plan) in self._bounds:
            return self._bounds[id(plan)]
        own = plan.fields[0].collation or DEFAULT_COLLATION
        values = [row[0] for row in plan.rows(scope)]
        several = _is_of_one_value(node) and _are_several(values, own)
        bounds = _Bounds(_compared_values(node, values, own, scope.mode), several)
        if not plan.changes:
            self._bounds[id(plan)] = bounds
        return bounds

    def _row_comparison(self, node: exp.Expr, scope: Scope) -> SQLValue:
        columns = max(len(_parts(node.this)), len(_parts(node.expression)))
        values = [self._values(side, columns, scope) for side in (node.this, node.expression)]
        left, right = _refined_rows(node.this, values[0], node.expression, values[1], scope)
        collations = [
            merged_collation(collation_of(left_part, scope), collation_of(right_part, scope))
            for left_part, right_part in zip(_parts(node.this), _parts(node.expression), strict=False)
        ]
        collations += [""] * (columns - len(collations))
        if isinstance(node, exp.NullSafeEQ):
            pairs = zip(left, right, collations, strict=True)
            return all(
                a is b is None or compare(a, b, name or DEFAULT_COLLATION, scope.mode) == 0
                for a, b, name in pairs
            )
        equal = _equal(left, right, collations, scope.mode)
        if isinstance(node, exp.EQ | exp.NEQ):
            return equal if isinstance(node, exp.EQ) or equal is None else not equal
        for a, b, name in zip(left, right, collations, strict=True):
            order = compare(a, b, name or DEFAULT_COLLATION, scope.mode)
            if order is None or order != 0:
                return None if order is None else ACCEPTED_ORDERS[type(node)](order)
        return ACCEPTED_ORDERS[type(node)](0)

    def _values(self, node: exp.Expr, columns: int, scope: Scope) -> Sequence[SQLValue]:
        """Return the values of one side of a comparison of rows."""
        if isinstance(node, exp.Query):
            row = self._single_row(node, scope)
            return [None] * columns if row is None else row
        if len(_parts(node)) != columns:
            raise ScenarioError(f"Operand should contain {columns} column(s)")
        return [evaluate(part, scope) for part in _parts(node)]


def _parts(node: exp.Expr) -> list[exp.Expr]:
    """Return the columns of a row in parentheses; any other node is a single column."""
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _refined_rows(
    left: exp.Expr, left_row: Sequence[SQLValue], right: exp.Expr, right_row: Sequence[SQLValue], scope: Scope
) -> tuple[Sequence[SQLValue], Sequence[SQLValue]]:
    """Return two rows for a comparison, in which some numbers are years or times; see ``refined``."""
    if isinstance(left, exp.Query) or isinstance(right, exp.Query):
        return left_row, right_row
    parts = zip(_parts(left), left_row, _parts(right), right_row, strict=True)
    pairs = [refined(*part, scope) for part in parts]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _is_membership(node: exp.Expr) -> bool:
    """Return whether a comparison is ``= ANY`` or ``<> ALL``, which are IN and NOT IN, and also compare rows.

    Source: tidb ``expressionRewriter.handleCompareSubquery``.
    """
    quantifier = node.expression
    return (isinstance(node, exp.EQ) and isinstance(quantifier, exp.Any)) or (
        isinstance(node, exp.NEQ) and isinstance(quantifier, exp.All)
    )


def _is_of_one_value(node: exp.Expr) -> bool:
    """Return whether a comparison is ``= ALL`` or ``<> ANY``, which one distinct value alone decides."""
    quantifier = node.expression
    return (isinstance(node, exp.EQ) and isinstance(quantifier, exp.All)) or (
        isinstance(node, exp.NEQ) and isinstance(quantifier, exp.Any)
    )


def _are_several(values: Sequence[SQLValue], collation: str) -> bool:
    """Return whether there are two distinct values. Source: tidb ``handleEQAll`` and ``handleNEAny``."""
    return len({distinct_key(value, collation) for value in values if value is not None}) > 1


def _compared_values(
    node: exp.Expr, values: Sequence[SQLValue], collation: str, mode: SQLMode
) -> Sequence[SQLValue]:
    """Return the values with which ANY or ALL compares: one of the subquery, and NULL if it has a NULL.

    The value is the MIN or MAX under the collation of the subquery, not under that of the comparison.
    Source: tidb ``expressionRewriter.handleOtherComparableSubq``.
    """
    of_all = isinstance(node.expression, exp.All)
    if not values:
        return values
    sign = -1 if isinstance(node, exp.LT | exp.LTE) == of_all else 1
    bound = extreme([value for value in values if value is not None], collation, mode, sign)
    return [bound, None] if None in values else [bound]


def _equal(
    left: Sequence[SQLValue], right: Sequence[SQLValue], collations: Sequence[str], mode: SQLMode
) -> bool | None:
    orders = [
        compare(a, b, name or DEFAULT_COLLATION, mode)
        for a, b, name in zip(left, right, collations, strict=True)
    ]
    if any(order is not None and order != 0 for order in orders):
        return False
    return None if None in orders else True


def _any_of(outcomes: Iterable[bool | None]) -> bool | None:
    result: bool | None = False
    for outcome in outcomes:
        if outcome:
            return True
        result = None if outcome is None else result
    return result
