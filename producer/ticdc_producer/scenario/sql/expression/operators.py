"""Operators of numbers and of conditions. Logic is three-valued: TRUE, FALSE or NULL.

Rules of types: tidb ``pkg/expression/builtin_arithmetic.go`` (``setType4DivDecimal``), ``builtin_op.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.number_text import check_bigint, check_number
from ticdc_producer.model.values.sql_value import JsonText, Quotient, SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression import arithmetic
from ticdc_producer.scenario.sql.expression.arithmetic import DIV_INCREMENT, MAX_SCALE
from ticdc_producer.scenario.sql.expression.compare import as_boolean, is_satisfied
from ticdc_producer.scenario.sql.expression.eval_type import (
    WHOLE,
    Digits,
    EvalType,
    ExpressionType,
    arithmetic_kind,
    computed_type,
    number_kind,
)
from ticdc_producer.scenario.sql.expression.form import (
    Evaluate,
    Form,
    evaluate,
    is_folded,
    noted_type,
    type_of,
)
from ticdc_producer.scenario.sql.expression.scope import Scope

E = EvalType
_MAX_UNSIGNED = (1 << 64) - 1


def _of_operands(
    operation: Callable[[SQLValue, SQLValue, SQLMode], SQLValue],
    check: Callable[[SQLValue, SQLMode], None] = check_number,
    *,
    skips: bool = True,
) -> Evaluate:
    """Make the rule of an operator of two operands.

    :param check: checks an operand whose other operand is NULL.
    :param skips: whether TiDB does not compute the second operand if the first one is NULL.
    """

    def rule(node: exp.Expr, scope: Scope) -> SQLValue:
        left = evaluate(node.this, scope)
        if left is None and skips:
            return None
        right = evaluate(node.expression, scope)
        if left is None or right is None:
            check(right if left is None else left, scope.mode)
            return None
        return _with_all_digits(operation(left, right, scope.mode), node)

    return rule


def _of_operand(operation: Callable[[SQLValue, SQLMode], SQLValue]) -> Evaluate:
    def rule(node: exp.Expr, scope: Scope) -> SQLValue:
        value = evaluate(node.this, scope)
        return None if value is None else _with_all_digits(operation(value, scope.mode), node)

    return rule


def _with_all_digits(value: SQLValue, node: exp.Expr) -> SQLValue:
    """Return a value of which a DOUBLE takes all digits if it is computed of constants.

    Source: tidb ``Constant.EvalDecimal``, ``PropagateType``.
    """
    if isinstance(value, Quotient) and not value.is_divided and is_folded(node):
        return Quotient(value, value.text_scale, is_divided=True)
    return value


def _arithmetic(
    operation: Callable[[SQLValue, SQLValue, SQLMode], SQLValue],
    digits: Callable[[Digits, Digits], Digits] | None = None,
    kind: Callable[[EvalType], EvalType] = lambda operands: operands,
    *,
    skips: bool = True,
) -> Form:
    """Make the form of an operator.

    :param digits: gives the digits of the result from those of the operands; None if they are not inferred.
    :param kind: gives the kind of the result from the one of the operands.
    :param skips: see ``_of_operands``.
    """

    def rule(node: exp.Expr, scope: Scope) -> ExpressionType:
        left, right = _operand_type(node.this, scope), _operand_type(node.expression, scope)
        result = kind(arithmetic_kind((left.kind, right.kind)))
        if digits is None or left.digits is None or right.digits is None:
            return ExpressionType(result)
        return computed_type(result, digits(left.digits, right.digits))

    return Form(_of_operands(operation, skips=skips), rule)


def _operand_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    """Return the type of an operand; as an operand ``x'…'`` is a number."""
    if isinstance(node.unnest(), exp.HexString | exp.BitString):
        return ExpressionType(E.UNSIGNED)
    return type_of(node, scope)


def _digits_of_sum(left: Digits, right: Digits) -> Digits:
    return Digits(max(left.whole, right.whole) + 1, max(left.decimals, right.decimals))


def _digits_of_product(left: Digits, right: Digits) -> Digits:
    return Digits(left.whole + right.whole, min(left.decimals + right.decimals, MAX_SCALE))


def _digits_of_quotient(left: Digits, right: Digits) -> Digits:
    return Digits(left.whole + right.decimals, min(left.decimals + DIV_INCREMENT, MAX_SCALE))


def _type_of_difference(node: exp.Expr, scope: Scope) -> ExpressionType:
    kind, digits = _DIFFERENCE.type_of(node, scope)
    return ExpressionType(
        E.INTEGER if kind is E.UNSIGNED and not scope.mode.unsigned_subtraction else kind, digits
    )


def _never_whole(operands: EvalType) -> EvalType:
    return arithmetic_kind((operands, E.DECIMAL))


def _always_whole(operands: EvalType) -> EvalType:
    return operands if operands in (E.UNSIGNED, E.UNKNOWN) else E.INTEGER


def _negative_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    kind, digits = type_of(node.this, scope)
    kind = number_kind(kind)
    return computed_type(E.UNKNOWN if kind is E.UNSIGNED else kind, digits)


def _bitwise(operation: Callable[[int, int], int]) -> Form:
    def on_values(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
        bits = operation(arithmetic.to_bits(left, mode), arithmetic.to_bits(right, mode))
        return Unsigned(bits & _MAX_UNSIGNED)

    return Form(_of_operands(on_values, check_bigint), E.UNSIGNED)


def _inverted(value: SQLValue, mode: SQLMode) -> SQLValue:
    return Unsigned(~arithmetic.to_bits(value, mode) & _MAX_UNSIGNED)


def _negated(node: exp.Expr, scope: Scope) -> SQLValue:
    """Return ``-x``: only a constant that is beyond a BIGINT becomes a DECIMAL.

    Source: tidb ``unaryMinusFunctionClass.typeInfer``, ``builtinUnaryMinusIntSig``.
    """
    negative = _of_operand(arithmetic.negate)(node, scope)
    if isinstance(negative, Decimal) and not is_folded(node.this):
        kind = noted_type(node.this, scope).kind
        if kind in WHOLE or kind is E.BIT:
            raise ScenarioError("BIGINT value is out of range in the result of -", value=str(negative))
    return negative


def as_condition(node: exp.Expr, scope: Scope) -> bool | None:
    """Return the value of an expression as a condition."""
    return as_boolean(evaluate(node, scope), scope.mode)


def _and(node: exp.Expr, scope: Scope) -> SQLValue:
    left = as_condition(node.this, scope)
    if left is False:
        return False
    right = as_condition(node.expression, scope)
    if right is False:
        return False
    return None if left is None or right is None else True


def _or(node: exp.Expr, scope: Scope) -> SQLValue:
    left = as_condition(node.this, scope)
    if left:
        return True
    right = as_condition(node.expression, scope)
    if right:
        return True
    return None if left is None or right is None else False


def _xor(node: exp.Expr, scope: Scope) -> SQLValue:
    left, right = as_condition(node.this, scope), as_condition(node.expression, scope)
    return None if left is None or right is None else left != right


def _not(node: exp.Expr, scope: Scope) -> SQLValue:
    """Return NOT; of a JSON document, whether it is the number 0. Source: tidb ``builtinUnaryNotJSONSig``."""
    operand = evaluate(node.this, scope)
    if isinstance(operand, JsonText):
        return not is_satisfied(operand, scope.mode)
    value = as_boolean(operand, scope.mode)
    return None if value is None else not value


def _is(node: exp.Expr, scope: Scope) -> SQLValue:
    value = evaluate(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return value is None
    if isinstance(node.expression, exp.Boolean):
        return as_boolean(value, scope.mode) is bool(node.expression.this)
    raise UnsupportedSQL(f"{node.sql(dialect='mysql')[:80]!r} is not supported")


_DIFFERENCE = _arithmetic(arithmetic.subtract, _digits_of_sum)
OPERATORS: dict[type[exp.Expr], Form] = {
    exp.Add: _arithmetic(arithmetic.add, _digits_of_sum, skips=False),
    exp.Sub: Form(_of_operands(arithmetic.subtract), _type_of_difference),
    exp.Mul: _arithmetic(arithmetic.multiply, _digits_of_product),
    exp.Div: _arithmetic(arithmetic.divide, _digits_of_quotient, _never_whole),
    exp.IntDiv: _arithmetic(arithmetic.integer_divide, kind=_always_whole),
    exp.Mod: _arithmetic(arithmetic.modulo, skips=False),
    exp.Neg: Form(_negated, _negative_type),
    exp.BitwiseAnd: _bitwise(lambda a, b: a & b),
    exp.BitwiseOr: _bitwise(lambda a, b: a | b),
    exp.BitwiseXor: _bitwise(lambda a, b: a ^ b),
    exp.BitwiseLeftShift: _bitwise(lambda a, b: a << b if b < 64 else 0),
    exp.BitwiseRightShift: _bitwise(lambda a, b: a >> b if b < 64 else 0),
    exp.BitwiseNot: Form(_of_operand(_inverted), E.UNSIGNED),
    exp.And: Form(_and, E.INTEGER),
    exp.Or: Form(_or, E.INTEGER),
    exp.Xor: Form(_xor, E.INTEGER),
    exp.Not: Form(_not, E.INTEGER),
    exp.Is: Form(_is, E.INTEGER),
}
