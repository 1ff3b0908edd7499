"""UNION, INTERSECT and EXCEPT, and queries in parentheses with clauses of their own.

Rules: tidb ``pkg/planner/core/logical_plan_builder.go`` (``buildSetOpr``): INTERSECT binds tighter.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.ordering import SortKey, sort_rows
from ticdc_producer.scenario.sql.expression.scope import Context, Scope
from ticdc_producer.scenario.sql.query.grouping import by_position
from ticdc_producer.scenario.sql.query.plan import (
    QueryPlan,
    QueryRow,
    check_column_counts,
    left_operand,
    limited,
)
from ticdc_producer.scenario.sql.query.scope import Names, QueryScope
from ticdc_producer.scenario.sql.query.set_rows import SetRows, union_of
from ticdc_producer.scenario.sql.query.source import QuerySource, SourceRow
from ticdc_producer.scenario.sql.text.clause import refuse_other_clauses

_OPERATORS = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}


class SetPlan(QueryPlan):
    """A checked UNION, INTERSECT or EXCEPT; or a query in parentheses with ORDER BY or LIMIT after it.

    :param outer: the scope of the statement around it.
    :param plan: checks a query.
    """

    def __init__(
        self,
        tree: exp.Expr,
        outer: Scope | None,
        context: Context,
        plan: Callable[[exp.Expr, Scope | None], QueryPlan],
        mode: SQLMode,
    ) -> None:
        super().__init__()
        refuse_other_clauses(
            tree, tree.key.upper(), "this", "expression", "distinct", "order", "limit", "offset", "with_"
        )
        self._tree, self._mode = tree, mode
        self._operators: list[str] = []
        self._operands = [plan(operand, outer) for operand in self._flattened(tree)]
        check_column_counts([len(operand.fields) for operand in self._operands])
        self.correlated = any(operand.correlated for operand in self._operands)
        self.reads_iteration = any(operand.reads_iteration for operand in self._operands)
        self.fields = self._combined([[] for _ in self._operands]).fields
        source = QuerySource("", self.fields, lambda _: [])
        positions = tuple((0, offset) for offset in range(len(self.fields)))
        self._names = Names([source], (0,), positions)
        self._scope = QueryScope(mode, context=context, names=self._names, combination=(None,))
        self._keys = self._sort_keys()

    def _flattened(self, tree: exp.Expr) -> list[exp.Expr]:
        """Return the operands from left to right, and note the operators between them."""
        if not isinstance(tree, exp.SetOperation):
            return [tree.this]
        left = left_operand(tree)
        nested = isinstance(left, exp.SetOperation)
        operands = self._flattened(left) if nested else [left]
        name = _OPERATORS[type(tree)]
        distinct = tree.args.get("distinct")
        if not distinct and name != "UNION":
            raise UnsupportedSQL(f"{name} ALL is not supported")
        self._operators.append(name if distinct else "UNION ALL")
        return [*operands, tree.expression]

    def _sort_keys(self) -> list[SortKey[QueryRow]]:
        order = self._tree.args.get("order")
        items = [self._names.expression((0, offset)) for offset in range(len(self.fields))]
        keys: list[SortKey[QueryRow]] = []
        for item in () if order is None else order.expressions:
            expression = by_position(item.this, items, "order clause")
            check_expression(expression, self._scope)
            collation = collation_of(expression, self._scope) or DEFAULT_COLLATION
            keys.append(SortKey(self._value_of(expression), collation, bool(item.args.get("desc"))))
        return keys

    def _value_of(self, expression: exp.Expr) -> Callable[[QueryRow], SQLValue]:
        def value(row: QueryRow) -> SQLValue:
            self._scope.combination = (SourceRow(row),)
            return evaluate(expression, self._scope)

        return value

    def _run(self, outer: Scope | None) -> list[QueryRow]:
        combined = self._combined([operand.rows(outer) for operand in self._operands])
        return limited(sort_rows(combined.rows, self._keys, self._mode), self._tree)

    def _combined(self, results: list[list[QueryRow]]) -> SetRows:
        """Combine the rows of the operands: INTERSECT first, then the others from left to right.

        Those of UNION get a shared type; INTERSECT and EXCEPT leave the one of their left side. Source: tidb
        ``buildIntersect``, ``buildExcept``.
        """
        operands = [SetRows(plan.fields, rows) for plan, rows in zip(self._operands, results, strict=True)]
        parts, operators = [operands[0]], []
        for name, operand in zip(self._operators, operands[1:], strict=True):
            if name == "INTERSECT":
                parts[-1] = parts[-1].matching(operand, self._mode, expected=True)
            else:
                parts.append(operand)
                operators.append(name)
        distinct: list[bool] = []
        united = parts[:1]
        for name, part in zip(operators, parts[1:], strict=True):
            if name == "EXCEPT":
                united = [union_of(united, distinct, self._mode).matching(part, self._mode, expected=False)]
                distinct = []
            else:
                united.append(part)
                distinct.append(name == "UNION")
        return union_of(united, distinct, self._mode)
