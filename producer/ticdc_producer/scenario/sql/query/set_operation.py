"""UNION, INTERSECT and EXCEPT, and queries in parentheses with clauses of their own.

Rules: tidb ``pkg/planner/core/logical_plan_builder.go`` (``buildSetOpr``): INTERSECT binds tighter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.number_text import EXACT
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.arithmetic import scale_of
from ticdc_producer.scenario.sql.expression.collation import collation_of, merged_collation
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, compare
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
from ticdc_producer.scenario.sql.query.equality import ValueIndex, distinct_key
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
        self.fields = self._combined([[] for _ in self._operands]).fields
        source = QuerySource("", self.fields, lambda _: [], changes=False)
        positions = tuple((0, offset) for offset in range(len(self.fields)))
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

    def _combined(self, results: list[list[QueryRow]]) -> _Result:
        """Combine the rows of the operands: INTERSECT first, then the others from left to right.

        Those of UNION get a shared type; INTERSECT and EXCEPT leave the one of their left side. Source: tidb
        ``buildIntersect``, ``buildExcept``.
        """
        operands = [_Result(plan.fields, rows) for plan, rows in zip(self._operands, results, strict=True)]
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
                united = [_united(united, distinct, self._mode).matching(part, self._mode, expected=False)]
                distinct = []
            else:
                united.append(part)
                distinct.append(name == "UNION")
        return _united(united, distinct, self._mode)


@dataclass(frozen=True, slots=True)
class _Result:
    """The columns and rows of a query, or of several that are combined."""

    fields: Sequence[Field]
    rows: list[QueryRow]

    def distinct(self) -> _Result:
        rows_by_key: dict[object, QueryRow] = {}
        for row in self.rows:
            rows_by_key.setdefault(self._key(row), row)
        return _Result(self.fields, list(rows_by_key.values()))

    def _key(self, row: QueryRow) -> object:
        pairs = zip(row, self.fields, strict=True)
        return tuple(distinct_key(value, field.collation or DEFAULT_COLLATION) for value, field in pairs)

    def matching(self, other: _Result, mode: SQLMode, *, expected: bool) -> _Result:
        """Return the different rows that are, or are not, among others. NULL equals NULL here.

        Source: tidb ``buildSemiJoinForSetOperator``.
        """
        collations = [
            merged_collation(own.collation, field.collation) or DEFAULT_COLLATION
            for own, field in zip(self.fields, other.fields, strict=True)
        ]
        index = ValueIndex([row[0] for row in other.rows], collations[0])
        nulls = [row for row in other.rows if row[0] is None]

        def equals(row: QueryRow, candidate: QueryRow) -> bool:
            return all(
                left is right is None or compare(left, right, collation, mode) == 0
                for left, right, collation in zip(row, candidate, collations, strict=True)
            )

        def is_among(row: QueryRow) -> bool:
            candidates = (other.rows[position] for position in index.candidates(row[0]))
            return any(equals(row, candidate) for candidate in (nulls if row[0] is None else candidates))

        return _Result(self.fields, [row for row in self.distinct().rows if is_among(row) is expected])


def _united(parts: Sequence[_Result], distinct: Sequence[bool], mode: SQLMode) -> _Result:
    """Return the rows of a UNION.

    :param distinct: whether each part after the first is added by UNION, not by UNION ALL.
    """
    columns = [[part.fields[number] for part in parts] for number in range(len(parts[0].fields))]
    collations = [reduce(merged_collation, (each.collation for each in column)) for column in columns]
    fields = [
        Field(column[0].name, collation, _shared_type(column))
        for column, collation in zip(columns, collations, strict=True)
    ]
    results = _with_shared_types(parts, fields, mode) if len(parts) > 1 else [part.rows for part in parts]
    united = _Result(fields, results[0])
    for is_distinct, rows in zip(distinct, results[1:], strict=True):
        united = _Result(fields, [*united.rows, *rows])
        united = united.distinct() if is_distinct else united
    return united


def _shared_type(column: Sequence[Field]) -> ExpressionType:
    types = [field.type for field in column]
    digits = merged_digits(
        ExpressionType(kind, OF_INTEGER if digits is None and kind in WHOLE else digits)
        for kind, digits in types
        if kind is not EvalType.NULL
    )
    if digits is not None and any(each.kind in WHOLE for each in types):
        digits = Digits(max(digits.whole, OF_INTEGER.whole - digits.decimals), digits.decimals)
    return ExpressionType(merged_type(types).kind, digits)


def _with_shared_types(
    parts: Sequence[_Result], fields: Sequence[Field], mode: SQLMode
) -> list[list[QueryRow]]:
    """Convert the values of each column to the merged type of its expressions."""
    scales = [_shared_scale([part.rows for part in parts], *column) for column in enumerate(fields)]
    converted_results = []
    for part in parts:
        columns = list(zip(part.fields, fields, scales, strict=True))
        converted_results.append(
            [
                [_as_type(value, *column, mode) for value, column in zip(row, columns, strict=True)]
                for row in part.rows
            ]
        )
    return converted_results


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
