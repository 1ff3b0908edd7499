"""Infers the type of an expression from its parts, before any row is computed.

Rules: tidb ``pkg/expression/builtin_arithmetic.go``, ``builtin_control.go``, ``pkg/expression/aggregation``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from sqlglot import exp

from ticdc_producer.scenario.sql.expression.call_normalizer import (
    CHOOSING,
    FunctionCall,
    aggregate_of,
    choices_of,
    column_name,
    normalized_call,
)
from ticdc_producer.scenario.sql.expression.cast import target_of
from ticdc_producer.scenario.sql.expression.compare import SUBQUERIES
from ticdc_producer.scenario.sql.expression.digits_inference import digits_of
from ticdc_producer.scenario.sql.expression.eval_type import (
    NUMBERS,
    TEMPORALS,
    EvalType,
    merged_type,
    type_of_value,
)
from ticdc_producer.scenario.sql.expression.function_types import (
    OF_ARGUMENTS,
    OF_FIRST,
    OF_FUNCTION,
    TEXT_FUNCTIONS,
)
from ticdc_producer.scenario.sql.expression.literal import LITERALS, is_typed_literal, typed_literal
from ticdc_producer.scenario.sql.expression.scope import Scope

E = EvalType


def type_of(node: exp.Expr, scope: Scope) -> EvalType:
    """Return the type of an expression; UNKNOWN if its values alone show it."""
    call = normalized_call(node)
    if call is not None:
        return _of_call(call, node, scope)
    literal = LITERALS.get(type(node))
    if literal is not None:
        value = literal(node, scope.mode)
        return E.NULL if value is None else type_of_value(value)
    if isinstance(node, (*SUBQUERIES, exp.Parameter, exp.PropertyEQ)):
        return scope.required_context(node).type(node, scope)
    rule = _RULES.get(type(node))
    return E.UNKNOWN if rule is None else rule(node, scope)


def noted_type(node: exp.Expr, scope: Scope) -> EvalType:
    """Return the type of an expression, which is inferred once for all rows of a statement."""
    noted = scope.types.get(id(node))
    if noted is None:
        noted = scope.types[id(node)] = node, type_of(node, scope)
    return noted[1]


def noted_decimals(node: exp.Expr, scope: Scope) -> int | None:
    """Return the digits of the fraction to which TiDB casts the choices of an expression.

    None if it has one choice that is not NULL, which TiDB does not cast, or if they are not known.
    Source: tidb ``newBaseBuiltinFuncWithFieldTypes``.
    """
    noted = scope.decimals.get(id(node))
    if noted is None:
        choices = [choice for choice in choices_of(node) if not isinstance(choice.unnest(), exp.Null)]
        digits = digits_of(node, scope) if len(choices) > 1 else None
        noted = scope.decimals[id(node)] = node, None if digits is None else digits.decimals
    return noted[1]


def _merged_choices(node: exp.Expr, scope: Scope) -> EvalType:
    return merged_type(type_of(choice, scope) for choice in choices_of(node))


def _inner(node: exp.Expr, scope: Scope) -> EvalType:
    return type_of(node.this, scope)


def _column(node: exp.Expr, scope: Scope) -> EvalType:
    return scope.type(*column_name(node))


def _fixed(eval_type: EvalType) -> Callable[[exp.Expr, Scope], EvalType]:
    return lambda *_: eval_type


def _operands(node: exp.Expr, scope: Scope) -> EvalType:
    return _of_numbers(_operand(side, scope) for side in (node.this, node.expression))


def _operand(node: exp.Expr, scope: Scope) -> EvalType:
    """Return the type of an operand; as an operand ``x'…'`` is a number."""
    is_number = isinstance(node.unnest(), exp.HexString | exp.BitString)
    return E.UNSIGNED if is_number else type_of(node, scope)


def _of_numbers(types: Iterable[EvalType]) -> EvalType:
    """Return the type of arithmetic on some operands: an integer is unsigned if one operand is."""
    operands = {_number(operand) for operand in types}
    for result in (E.UNKNOWN, E.DOUBLE, E.DECIMAL, E.UNSIGNED):
        if result in operands:
            return result
    return E.INTEGER


def _number(operand: EvalType) -> EvalType:
    """Return the type of an operand of arithmetic."""
    if operand in TEMPORALS or operand is E.UNKNOWN:
        return E.UNKNOWN
    if operand in (E.SHORT_UNSIGNED, E.YEAR, E.BIT):
        return E.UNSIGNED
    return operand if operand in NUMBERS or operand is E.NULL else E.DOUBLE


def _division(node: exp.Expr, scope: Scope) -> EvalType:
    return _of_numbers([_operands(node, scope), E.DECIMAL])


def _whole_division(node: exp.Expr, scope: Scope) -> EvalType:
    operands = _operands(node, scope)
    return operands if operands in (E.UNSIGNED, E.UNKNOWN) else E.INTEGER


def _negative(node: exp.Expr, scope: Scope) -> EvalType:
    operand = _number(type_of(node.this, scope))
    return E.UNKNOWN if operand is E.UNSIGNED else operand


def _cast(node: exp.Expr, scope: Scope) -> EvalType:
    if is_typed_literal(node):
        return type_of_value(typed_literal(node, scope.mode))
    target = target_of(node.args["to"])
    return E.BYTES if target.charset == "binary" else _OF_CAST[target.name]


_OF_CAST: Mapping[str, EvalType] = MappingProxyType({
    "SIGNED": E.INTEGER, "UNSIGNED": E.UNSIGNED, "DECIMAL": E.DECIMAL, "DOUBLE": E.DOUBLE, "FLOAT": E.DOUBLE,
    "YEAR": E.UNSIGNED, "CHAR": E.TEXT, "BINARY": E.BYTES, "DATE": E.DATE, "DATETIME": E.DATETIME,
    "TIME": E.TIME, "JSON": E.JSON, "VECTOR": E.UNKNOWN,
})  # fmt: skip


def _aggregate(node: exp.Expr, scope: Scope) -> EvalType:
    call = aggregate_of(node)
    if call is None:
        return E.UNKNOWN
    fixed = _OF_AGGREGATE.get(call.name)
    if fixed is not None:
        return fixed
    if call.name == "GROUP_CONCAT":
        return _text(call.arguments, scope)
    argument = type_of(call.arguments[0], scope)
    if call.name not in ("SUM", "AVG"):
        return argument
    return argument if argument in (E.NULL, E.UNKNOWN) else _of_numbers([argument, E.DECIMAL])


_OF_AGGREGATE: Mapping[str, EvalType] = MappingProxyType({
    "COUNT": E.INTEGER, "BIT_AND": E.UNSIGNED, "BIT_OR": E.UNSIGNED, "BIT_XOR": E.UNSIGNED,
    "JSON_ARRAYAGG": E.JSON, "JSON_OBJECTAGG": E.JSON,
})  # fmt: skip


def _of_call(call: FunctionCall, node: exp.Expr, scope: Scope) -> EvalType:
    fixed = OF_FUNCTION.get(call.name)
    if fixed is not None:
        return fixed
    if call.name in CHOOSING:
        return _merged_choices(node, scope)
    if call.name in TEXT_FUNCTIONS:
        return _text(call.arguments, scope)
    if call.name in OF_FIRST:
        operand = type_of(call.arguments[0], scope)
        return operand if call.name == "NULLIF" else _number(operand)
    if call.name in OF_ARGUMENTS and call.arguments:
        first = call.arguments[0]
        return OF_ARGUMENTS[call.name](call, type_of(first, scope), digits_of(first, scope))
    if call.name == "UNIX_TIMESTAMP":
        return E.INTEGER
    if call.name == "FROM_UNIXTIME":
        return E.TEXT if len(call.arguments) > 1 else E.DATETIME
    if call.name == "MOD":
        return _of_numbers(type_of(argument, scope) for argument in call.arguments)
    if call.name in ("DEFAULT", "VALUES"):
        return scope.type(call.arguments[0].name)
    return _aggregate(node, scope)


def _text(arguments: Iterable[exp.Expr], scope: Scope) -> EvalType:
    """Return the type of a string: binary if an argument is binary, UNKNOWN if an argument is."""
    types = {type_of(argument, scope) for argument in arguments}
    return next((result for result in (E.UNKNOWN, E.BYTES) if result in types), E.TEXT)


_RULES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], EvalType]] = {
    exp.Column: _column,
    exp.Paren: _inner,
    exp.Collate: _fixed(E.TEXT),
    exp.Cast: _cast,
    exp.Neg: _negative,
    exp.Div: _division,
    exp.IntDiv: _whole_division,
    **dict.fromkeys((exp.Case, exp.If), _merged_choices),
    **dict.fromkeys((exp.GroupConcat, exp.JSONObjectAgg), _aggregate),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Mod), _operands),
    **dict.fromkeys(
        (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.And, exp.Or, exp.Xor, exp.Not,
         exp.Is, exp.In, exp.Between, exp.Like, exp.Escape),
        _fixed(E.INTEGER),
    ),
    **dict.fromkeys(
        (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift,
         exp.BitwiseNot),
        _fixed(E.UNSIGNED),
    ),
}  # fmt: skip
