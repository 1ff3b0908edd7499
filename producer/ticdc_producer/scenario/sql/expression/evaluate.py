"""The forms of all expressions, among them literals, columns, CAST and subqueries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.collation import KNOWN, charset_of
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.call_value import with_calls
from ticdc_producer.scenario.sql.expression.cast import cast
from ticdc_producer.scenario.sql.expression.cast_type import target_of
from ticdc_producer.scenario.sql.expression.choice import CHOICES
from ticdc_producer.scenario.sql.expression.collation import collation_of, encoded
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.comparison import COMPARISONS
from ticdc_producer.scenario.sql.expression.eval_type import (
    NUMBERS,
    TEMPORALS,
    Digits,
    EvalType,
    ExpressionType,
    kind_of_value,
    temporal_type,
)
from ticdc_producer.scenario.sql.expression.form import (
    FORMS,
    Form,
    check_expression,
    evaluate,
    type_of,
)
from ticdc_producer.scenario.sql.expression.function_call import column_name
from ticdc_producer.scenario.sql.expression.literal import LITERALS, is_typed_literal, typed_literal
from ticdc_producer.scenario.sql.expression.operators import OPERATORS
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.expression.window_call import WINDOWED

__all__ = ["FORMS", "check_expression", "evaluate", "evaluate_constant", "type_of"]

E = EvalType


def evaluate_constant(node: exp.Expr, mode: SQLMode) -> SQLValue:
    """Return the value of an expression without columns, after a check."""
    scope = Scope(mode)
    check_expression(node, scope)
    return evaluate(node, scope)


def _no_parts(*_: object) -> Iterable[exp.Expr]:
    return ()


def _literal(value_of: Callable[[exp.Expr, SQLMode], SQLValue]) -> Form:
    def type_of_literal(node: exp.Expr, scope: Scope) -> ExpressionType:
        return ExpressionType(kind_of_value(value_of(node, scope.mode)), _digits_of_literal(node))

    return Form(lambda node, scope: value_of(node, scope.mode), type_of_literal, _no_parts)


def _digits_of_literal(node: exp.Expr) -> Digits | None:
    if type(node) is not exp.Literal or node.is_string:
        return None
    whole, _, decimals = str(node.this).partition(".")
    return Digits(len(whole), len(decimals)) if (whole + decimals).isdigit() else None


def _column(node: exp.Expr, scope: Scope) -> SQLValue:
    return scope.value(*column_name(node))


def _column_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    return scope.type(*column_name(node))


def _known_column(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    name = column_name(node)
    if not scope.knows(*name):
        raise scope.unknown_column(*name)
    return ()


def _inner(node: exp.Expr, scope: Scope) -> SQLValue:
    return evaluate(node.this, scope)


def _inner_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    return type_of(node.this, scope)


_BINARY = NUMBERS | TEMPORALS | {E.BYTES, E.BIT}
"""Types whose charset is ``binary``."""


def _known_collation(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    name = collation_of(node, scope)
    if name not in KNOWN:
        raise UnsupportedSQL(f"the collation {name} is not supported")
    charset = _charset_of(node.this.unnest(), scope)
    if charset and charset_of(name) != charset:
        raise ScenarioError(f"COLLATION {name!r} is not valid for CHARACTER SET {charset!r}", value=name)
    return (node.this,)


def _charset_of(node: exp.Expr, scope: Scope) -> str:
    """Return the charset of the expression to which COLLATE is applied; empty if it is not known.

    Source: tidb ``expressionRewriter.Leave`` (``SetCollationExpr``).
    """
    if isinstance(node, exp.Introducer):
        return node.name.removeprefix("_").lower()
    if isinstance(node, exp.Cast) and node.to.text("kind"):
        return node.to.text("kind").lower()
    kind = type_of(node, scope).kind
    if kind in _BINARY:
        return "binary"
    if kind is E.TEXT and isinstance(node, exp.Literal):
        return charset_of(DEFAULT_COLLATION)
    if kind is E.TEXT and isinstance(node, exp.Column):
        collation = collation_of(node, scope)
        return charset_of(collation) if collation else ""
    return ""


def _cast(node: exp.Expr, scope: Scope) -> SQLValue:
    if is_typed_literal(node):
        return typed_literal(node, scope.mode)
    target, value = target_of(node.args["to"]), evaluate(node.this, scope)
    if target.type.kind is E.BYTES:
        value = encoded(node.this, value, scope)
    return cast(value, target, scope.mode)


def _cast_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    if is_typed_literal(node):
        value = typed_literal(node, scope.mode)
        fsp = value.fsp if isinstance(value, DateTimeValue | Duration) else 0
        return temporal_type(kind_of_value(value), fsp)
    return target_of(node.args["to"]).type


def _known_target(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    if is_typed_literal(node):
        typed_literal(node, scope.mode)
    else:
        target_of(node.args["to"])
    return (node.this,)


def _of_context(node: exp.Expr, scope: Scope) -> SQLValue:
    return scope.required_context(node).evaluate(node, scope)


def _type_of_context(node: exp.Expr, scope: Scope) -> ExpressionType:
    return scope.required_context(node).type(node, scope)


def _parts_of_context(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    return scope.required_context(node).check(node, scope)


FORMS.update(
    with_calls(
        {
            **{kind: _literal(rule) for kind, rule in LITERALS.items()},
            **dict.fromkeys(
                (
                    exp.Subquery,
                    exp.Exists,
                    exp.Any,
                    exp.All,
                    exp.Parameter,
                    exp.PropertyEQ,
                    exp.SessionParameter,
                ),
                Form(_of_context, _type_of_context, _parts_of_context),
            ),
            exp.Tuple: Form(_of_context, parts=_parts_of_context),
            exp.Column: Form(_column, _column_type, _known_column),
            exp.Paren: Form(_inner, _inner_type),
            exp.Collate: Form(_inner, E.TEXT, _known_collation),
            exp.Cast: Form(_cast, _cast_type, _known_target),
            exp.Window: WINDOWED,
            **OPERATORS,
            **COMPARISONS,
            **CHOICES,
        }
    )
)
