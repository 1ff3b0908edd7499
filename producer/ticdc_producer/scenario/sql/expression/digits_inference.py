"""Infers the digits of an expression's type from its parts.

Rules: tidb ``pkg/expression/builtin_arithmetic.go`` (``setType4DivDecimal``), ``builtin_math.go``
(``calculateDecimal4RoundAndTruncate``), ``pkg/expression/aggregation/base_func.go`` (``typeInfer4Avg``),
``pkg/planner/core/logical_plan_builder.go`` (``unionJoinFieldType``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from ticdc_producer.model.values.sql_value import DateTimeValue, Duration
from ticdc_producer.scenario.sql.expression.arithmetic import DIV_INCREMENT, MAX_SCALE
from ticdc_producer.scenario.sql.expression.call_normalizer import (
    Aggregate,
    FunctionCall,
    aggregate_of,
    choices_of,
    column_name,
    normalized_call,
)
from ticdc_producer.scenario.sql.expression.cast import target_of
from ticdc_producer.scenario.sql.expression.compare import SUBQUERIES
from ticdc_producer.scenario.sql.expression.function_types import OF_FIRST
from ticdc_producer.scenario.sql.expression.literal import is_typed_literal, typed_literal
from ticdc_producer.scenario.sql.expression.number_digits import OF_INTEGER, Digits, merged_digits
from ticdc_producer.scenario.sql.expression.scope import Scope

_DIGITS_OF_COUNT = 22
_WHOLE_OF_DATETIME = 14
_OF_NOW = ("CURRENT_TIME", "CURRENT_TIMESTAMP", "CURTIME", "LOCALTIME", "LOCALTIMESTAMP", "NOW", "SYSDATE",
           "UTC_TIME", "UTC_TIMESTAMP")  # fmt: skip
_OF_DATE = ("CURDATE", "CURRENT_DATE", "DATE", "FROM_DAYS", "LAST_DAY", "MAKEDATE", "UTC_DATE")
_AGGREGATES = ("ANY_VALUE", "AVG", "MAX", "MIN", "SUM")


def digits_of(node: exp.Expr, scope: Scope) -> Digits | None:
    """Return the digits of an expression's type; None if this tool does not infer them."""
    aggregate = aggregate_of(node)
    if aggregate is not None:
        return _aggregate(aggregate, scope)
    if choices := choices_of(node):
        return _merged(choices, scope)
    call = normalized_call(node)
    if call is not None:
        return _call(call, scope)
    if isinstance(node, SUBQUERIES):
        return scope.required_context(node).digits(node, scope)
    rule = _RULES.get(type(node))
    return None if rule is None else rule(node, scope)


def longest_text(node: exp.Expr, scope: Scope) -> int | None:
    """Return the length of the text to which TiDB casts a quotient for a function; None if it is not known.

    Source: tidb ``setType4DivDecimal``, ``WrapWithCastAsString``.
    """
    quotient = node.unnest()
    if not isinstance(quotient, exp.Div):
        return None
    left, right = digits_of(quotient.this, scope), digits_of(quotient.expression, scope)
    if left is None or right is None:
        return None
    is_literal = isinstance(quotient.this.unnest(), exp.Literal)
    whole = left.whole + left.decimals - (is_literal and not left.decimals)
    return whole + right.decimals + DIV_INCREMENT + _AROUND_DIGITS


_AROUND_DIGITS = 5
"""The point and the sign of a quotient, and the three characters that TiDB adds."""


def _aggregate(aggregate: Aggregate, scope: Scope) -> Digits | None:
    if aggregate.name not in _AGGREGATES:
        return None
    digits = digits_of(aggregate.arguments[0], scope)
    if digits is None or aggregate.name not in ("SUM", "AVG"):
        return digits
    more = DIV_INCREMENT if aggregate.name == "AVG" else 0
    return Digits(digits.whole + _DIGITS_OF_COUNT, min(digits.decimals + more, MAX_SCALE))


def _of_datetime(fsp: int) -> Digits:
    """Return the digits of a date or time, whose fraction has ``fsp`` digits."""
    return Digits(_WHOLE_OF_DATETIME, max(fsp, 0))


def _call(call: FunctionCall, scope: Scope) -> Digits | None:
    if call.name in _OF_NOW:
        fsp = str(call.arguments[0].this) if call.arguments else "0"
        return _of_datetime(int(fsp)) if fsp.isdigit() else None
    if call.name in _OF_DATE:
        return _of_datetime(0)
    if call.name == "MOD":
        return _merged(call.arguments, scope)
    first = digits_of(call.arguments[0], scope) if call.name in OF_FIRST and call.arguments else None
    if first is None or call.name in ("ABS", "NULLIF"):
        return first
    return Digits(first.whole + 1, _rounded_decimals(call.arguments[1:], first))


def _rounded_decimals(decimals: Sequence[exp.Expr], first: Digits) -> int:
    """Return the decimals of ROUND and TRUNCATE: a literal number, or those of the first argument."""
    if not decimals:
        return 0
    (number,) = decimals
    if isinstance(number, exp.Neg):
        return 0
    written = str(number.this) if isinstance(number, exp.Literal) else ""
    return min(int(written), MAX_SCALE) if written.isdigit() else first.decimals


def _merged(nodes: Iterable[exp.Expr], scope: Scope) -> Digits | None:
    return merged_digits(digits_of(node, scope) for node in nodes if not isinstance(node, exp.Null))


def _literal(node: exp.Expr, _: Scope) -> Digits | None:
    whole, _point, decimals = str(node.this).partition(".")
    is_exact = not node.is_string and (whole + decimals).isdigit()
    return Digits(len(whole), len(decimals)) if is_exact else None


def _column(node: exp.Expr, scope: Scope) -> Digits | None:
    return scope.digits(*column_name(node))


def _inner(node: exp.Expr, scope: Scope) -> Digits | None:
    return digits_of(node.this, scope)


def _cast(node: exp.Expr, scope: Scope) -> Digits | None:
    if is_typed_literal(node):
        value = typed_literal(node, scope.mode)
        return _of_datetime(value.fsp) if isinstance(value, DateTimeValue | Duration) else None
    target = target_of(node.args["to"])
    if target.name in ("DATE", "DATETIME", "TIME"):
        return _of_datetime(target.sizes[0] if target.sizes else 0)
    if target.name in ("SIGNED", "UNSIGNED"):
        return OF_INTEGER
    if target.name != "DECIMAL":
        return None
    precision, scale = target.decimal_sizes
    return Digits(precision - scale, scale)


def _arithmetic(combine: Callable[[Digits, Digits], Digits]) -> Callable[[exp.Expr, Scope], Digits | None]:
    def rule(node: exp.Expr, scope: Scope) -> Digits | None:
        left, right = digits_of(node.this, scope), digits_of(node.expression, scope)
        return None if left is None or right is None else combine(left, right)

    return rule


def _sum(left: Digits, right: Digits) -> Digits:
    return Digits(max(left.whole, right.whole) + 1, max(left.decimals, right.decimals))


def _product(left: Digits, right: Digits) -> Digits:
    return Digits(left.whole + right.whole, min(left.decimals + right.decimals, MAX_SCALE))


def _quotient(left: Digits, right: Digits) -> Digits:
    return Digits(left.whole + right.decimals, min(left.decimals + DIV_INCREMENT, MAX_SCALE))


_RULES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], Digits | None]] = {
    exp.Literal: _literal,
    exp.Column: _column,
    exp.Paren: _inner,
    exp.Neg: _inner,
    exp.Cast: _cast,
    exp.Add: _arithmetic(_sum),
    exp.Sub: _arithmetic(_sum),
    exp.Mul: _arithmetic(_product),
    exp.Div: _arithmetic(_quotient),
}
