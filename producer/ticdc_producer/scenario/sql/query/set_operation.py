"""UNION, INTERSECT and EXCEPT, and queries in parentheses with clauses of their own.

Rules: tidb ``pkg/planner/core/logical_plan_builder.go`` (``buildSetOpr``): INTERSECT binds tighter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.number_text import EXACT
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.arithmetic import scale_of
from ticdc_producer.scenario.sql.expression.collation import collation_of, merged_collation
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import (
    OF_INTEGER,
    WHOLE,
    Digits,
    EvalType,
    ExpressionType,
    converted,
    merged_digits,
    merged_type,
)
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.ordering import SortKey, sort_rows
from ticdc_producer.scenario.sql.expression.scope import Context, Scope
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.grouping import by_position
from ticdc_producer.scenario.sql.query.plan import QueryPlan, QueryRow, check_column_counts, limited
from ticdc_producer.scenario.sql.query.scope import Names, QueryScope
from ticdc_producer.scenario.sql.query.source import Field, QuerySource, SourceRow
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
        first = self._operands[0].fields
        self.fields = [
            Field(field.name, self._collation(number), self._type(number))
            for number, field in enumerate(first)
        ]
        source = QuerySource("", self.fields, lambda _: [], changes=False)
        positions = tuple((0, offset) for offset in range(len(first)))
        self._names = Names([source], (0,), positions)
        self._scope = QueryScope(mode, context=context, names=self._names, combination=(None,))
        self._keys = self._sort_keys()

    def _flattened(self, tree: exp.Expr) -> list[exp.Expr]:
        """Return the operands from left to right, and note the operators between them."""
        if not isinstance(tree, exp.SetOperation):
            return [tree.this]
        left = tree.this
        nested = isinstance(left, exp.SetOperation)
        operands = self._flattened(left) if nested else [left]
        name = _OPERATORS[type(tree)]
        distinct = tree.args.get("distinct")
        if not distinct and name != "UNION":
            raise UnsupportedSQL(f"{name} ALL is not supported")
        self._operators.append(name if distinct else "UNION ALL")
        return [*operands, tree.expression]

    def _collation(self, number: int) -> str:
        return reduce(merged_collation, (operand.fields[number].collation for operand in self._operands))

    def _type(self, number: int) -> ExpressionType:
        types = [operand.fields[number].type for operand in self._operands]
        digits = merged_digits(
            ExpressionType(kind, OF_INTEGER if digits is None and kind in WHOLE else digits)
            for kind, digits in types
            if kind is not EvalType.NULL
        )
        if digits is not None and any(each.kind in WHOLE for each in types):
            digits = Digits(max(digits.whole, OF_INTEGER.whole - digits.decimals), digits.decimals)
        return ExpressionType(merged_type(types).kind, digits)

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
        results = [operand.rows(outer) for operand in self._operands]
        if len(results) > 1:
            results = self._with_shared_types(results)
        rows = self._combined(results)
        return limited(sort_rows(rows, self._keys, self._mode), self._tree)

    def _with_shared_types(self, results: list[list[QueryRow]]) -> list[list[QueryRow]]:
        """Convert the values of each column to the merged type of its expressions."""
        scales = [_shared_scale(results, number, field) for number, field in enumerate(self.fields)]
        converted_results = []
        for rows, operand in zip(results, self._operands, strict=True):
            columns = list(zip(operand.fields, self.fields, scales, strict=True))
            converted_results.append(
                [
                    [_as_type(value, *column, self._mode) for value, column in zip(row, columns, strict=True)]
                    for row in rows
                ]
            )
        return converted_results

    def _combined(self, results: list[list[QueryRow]]) -> list[QueryRow]:
        operands, operators = [results[0]], []
        for name, rows in zip(self._operators, results[1:], strict=True):
            if name == "INTERSECT":
                common_keys = {self._key(row) for row in rows}
                operands[-1] = [row for row in self._distinct(operands[-1]) if self._key(row) in common_keys]
            else:
                operands.append(rows)
                operators.append(name)
        combined = operands[0]
        for name, rows in zip(operators, operands[1:], strict=True):
            if name == "EXCEPT":
                excluded_keys = {self._key(row) for row in rows}
                combined = [row for row in self._distinct(combined) if self._key(row) not in excluded_keys]
            else:
                combined = [*combined, *rows]
                combined = self._distinct(combined) if name == "UNION" else combined
        return combined

    def _distinct(self, rows: list[QueryRow]) -> list[QueryRow]:
        rows_by_key: dict[object, QueryRow] = {}
        for row in rows:
            rows_by_key.setdefault(self._key(row), row)
        return list(rows_by_key.values())

    def _key(self, row: QueryRow) -> object:
        pairs = zip(row, self.fields, strict=True)
        return tuple(distinct_key(value, field.collation or DEFAULT_COLLATION) for value, field in pairs)


def _shared_scale(results: Sequence[Sequence[QueryRow]], column: int, field: Field) -> int:
    """Return the scale of a DECIMAL column: of its type, or the largest of its values; -1 for other types."""
    if field.type.kind is not EvalType.DECIMAL:
        return -1
    if field.type.digits is not None:
        return field.type.digits.decimals
    values = (row[column] for rows in results for row in rows)
    return max((scale_of(value) for value in values if isinstance(value, Decimal)), default=0)


def _as_type(value: SQLValue, of: Field, merged: Field, scale: int, mode: SQLMode) -> SQLValue:
    """Convert a value of one query to the merged type.

    TiDB converts it, and rounds quotients, where types differ.
    """
    value = converted(value, merged.type.kind, mode)
    if scale < 0 or not isinstance(value, Decimal) or scale_of(value) == scale:
        return value
    if of.type.digits == merged.type.digits and scale_of(value) > scale:
        return value
    return value.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=EXACT)
