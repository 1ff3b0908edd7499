"""Evaluates expressions: one rule per kind of node of sqlglot's tree.

A node without a rule is refused by name. Logic is three-valued: TRUE, FALSE or NULL. Nodes that need more
than a row, such as subqueries and user variables, are evaluated by the scope's context.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.sql_value import (
    Duration,
    SQLMode,
    SQLValue,
    Unsigned,
    display_value,
)
from ticdc_producer.model.values.temporal_text import two_digit_year
from ticdc_producer.scenario.sql.expression import arithmetic
from ticdc_producer.scenario.sql.expression.call_normalizer import (
    AGGREGATES,
    FunctionCall,
    column_name,
    normalized_call,
)
from ticdc_producer.scenario.sql.expression.cast import cast, target_of
from ticdc_producer.scenario.sql.expression.compare import (
    as_boolean,
    check_operand,
    collation_of_all,
    compare,
    like,
    shared_collation,
)
from ticdc_producer.scenario.sql.expression.eval_type import EvalType, converted
from ticdc_producer.scenario.sql.expression.function_call import call_value
from ticdc_producer.scenario.sql.expression.literal import LITERALS, is_typed_literal, typed_literal
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.expression.type_inference import noted_decimals, noted_type

_MAX_UNSIGNED = (1 << 64) - 1
OF_CONTEXT = frozenset({
    exp.Subquery, exp.Exists, exp.Any, exp.All, exp.Tuple, exp.Parameter, exp.PropertyEQ,
})  # fmt: skip
"""Nodes that the context of the scope evaluates."""
SESSION_FUNCTIONS = {"LAST_INSERT_ID": 1, "ROW_COUNT": 0}
"""The largest number of arguments of each function of the session."""


def evaluate(node: exp.Expr, scope: Scope) -> SQLValue:
    """Return the value of an expression for the scope's current row.

    :raises UnsupportedSQL: for a construct that this tool does not compute.
    :raises ScenarioError: for an unknown column, a value out of range and similar errors.
    """
    call = normalized_call(node)
    if call is not None:
        return _call(call, node, scope)
    rule = RULES.get(type(node))
    if rule is None:
        raise no_rule_error(node)
    return rule(node, scope)


def no_rule_error(node: exp.Expr) -> UnsupportedSQL:
    """Return the error of a node that has no rule."""
    return UnsupportedSQL(f"{node.sql(dialect='mysql')[:80]!r} ({node.key.upper()}) is not supported")


def evaluate_constant(node: exp.Expr, mode: SQLMode) -> SQLValue:
    """Return the value of an expression without columns."""
    return evaluate(node, Scope(mode))


def _literal(rule: Callable[[exp.Expr, SQLMode], SQLValue]) -> Callable[..., SQLValue]:
    return lambda node, scope: rule(node, scope.mode)


def _column(node: exp.Expr, scope: Scope) -> SQLValue:
    return scope.value(*column_name(node))


def _paren(node: exp.Expr, scope: Scope) -> SQLValue:
    return evaluate(node.this, scope)


def _binary(operation: Callable[[SQLValue, SQLValue, SQLMode], SQLValue]) -> Callable[..., SQLValue]:
    def rule(node: exp.Expr, scope: Scope) -> SQLValue:
        left = evaluate(node.this, scope)
        if left is None:  # TiDB does not compute the other operand, which may be invalid
            return None
        right = evaluate(node.expression, scope)
        return None if right is None else operation(left, right, scope.mode)

    return rule


def _bitwise(operation: Callable[[int, int], int]) -> Callable[..., SQLValue]:
    def on_values(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
        bits = operation(arithmetic.to_bits(left, mode), arithmetic.to_bits(right, mode))
        return Unsigned(bits & _MAX_UNSIGNED)

    return _binary(on_values)


def _unary(operation: Callable[[SQLValue, SQLMode], SQLValue]) -> Callable[..., SQLValue]:
    def rule(node: exp.Expr, scope: Scope) -> SQLValue:
        value = evaluate(node.this, scope)
        return None if value is None else operation(value, scope.mode)

    return rule


def _compared(
    left_node: exp.Expr, left: SQLValue, right_node: exp.Expr, right: SQLValue, collation: str, scope: Scope
) -> int | None:
    """Compare the values of two expressions; None for NULL."""
    if left is None or right is None:
        if scope.mode.strict and (left is not None or right is not None):
            null, value = (left_node, right) if left is None else (right_node, left)
            if isinstance(value, str | bytes) and not _is_constant(null):
                check_operand(value, noted_type(null, scope), scope.mode)
        return None
    if not isinstance(left, Duration) and not isinstance(right, Duration):
        return compare(left, right, collation, scope.mode)
    time_is_read = any(
        isinstance(column.unnest(), exp.Column) and _is_constant(constant)
        for column, constant in ((left_node, right_node), (right_node, left_node))
    )
    return compare(left, right, collation, scope.mode, time_is_read=time_is_read)


def _operands(node: exp.Expr, scope: Scope) -> tuple[SQLValue, SQLValue]:
    """Return the values of the two operands of a comparison."""
    first, second = node.this, node.expression
    left, right = evaluate(first, scope), evaluate(second, scope)
    return _as_year(first, left, second, scope), _as_year(second, right, first, scope)


def _as_year(node: exp.Expr, value: SQLValue, other: exp.Expr, scope: Scope) -> SQLValue:
    """Return the value of an operand: a constant of two digits beside a YEAR is a year of 1970 to 2069.

    Source: tidb ``compareFunctionClass.refineArgs``.
    """
    if not isinstance(value, int) or not 0 < value < 100 or not _is_constant(node):
        return value
    return two_digit_year(value) if noted_type(other, scope) is EvalType.YEAR else value


def _is_constant(node: exp.Expr) -> bool:
    """Return whether an expression has the same value for all rows."""
    return node.find(exp.Column, exp.Query) is None


def _pair_collation(node: exp.Expr, left: SQLValue, right: SQLValue, scope: Scope) -> str:
    return shared_collation(node, scope) if isinstance(left, str) and isinstance(right, str) else ""


def _of_context(node: exp.Expr, scope: Scope) -> SQLValue:
    return scope.required_context(node).evaluate(node, scope)


def _of_group(node: exp.Expr, scope: Scope) -> SQLValue:
    return scope.aggregate(node)


def _is_contextual(node: exp.Expr) -> bool:
    """Return whether a comparison is with ANY or ALL of a query, or compares rows of several columns."""
    return type(node.this) is exp.Tuple or type(node.expression) in (exp.Any, exp.All, exp.Tuple)


def _comparison(accepts: Callable[[int], bool]) -> Callable[..., SQLValue]:
    def rule(node: exp.Expr, scope: Scope) -> SQLValue:
        if _is_contextual(node):
            return _of_context(node, scope)
        left, right = _operands(node, scope)
        collation = _pair_collation(node, left, right, scope)
        order = _compared(node.this, left, node.expression, right, collation, scope)
        return None if order is None else accepts(order)

    return rule


def _null_safe_equal(node: exp.Expr, scope: Scope) -> SQLValue:
    if _is_contextual(node):
        return _of_context(node, scope)
    left, right = _operands(node, scope)
    if left is None and right is None:
        return True
    collation = _pair_collation(node, left, right, scope)
    return _compared(node.this, left, node.expression, right, collation, scope) == 0


def _as_condition(node: exp.Expr, scope: Scope) -> bool | None:
    return as_boolean(evaluate(node, scope), scope.mode)


def _and(node: exp.Expr, scope: Scope) -> SQLValue:
    left = _as_condition(node.this, scope)
    if left is False:
        return False
    right = _as_condition(node.expression, scope)
    if right is False:
        return False
    return None if left is None or right is None else True


def _or(node: exp.Expr, scope: Scope) -> SQLValue:
    left = _as_condition(node.this, scope)
    if left:
        return True
    right = _as_condition(node.expression, scope)
    if right:
        return True
    return None if left is None or right is None else False


def _xor(node: exp.Expr, scope: Scope) -> SQLValue:
    left, right = _as_condition(node.this, scope), _as_condition(node.expression, scope)
    return None if left is None or right is None else left != right


def _not(node: exp.Expr, scope: Scope) -> SQLValue:
    value = _as_condition(node.this, scope)
    return None if value is None else not value


def _is(node: exp.Expr, scope: Scope) -> SQLValue:
    value = evaluate(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return value is None
    if isinstance(node.expression, exp.Boolean):
        return as_boolean(value, scope.mode) is bool(node.expression.this)
    raise UnsupportedSQL(f"{node.sql(dialect='mysql')[:80]!r} is not supported")


def _in(node: exp.Expr, scope: Scope) -> SQLValue:
    if node.args.get("query") is not None or type(node.this) is exp.Tuple:
        return _of_context(node, scope)
    if not node.expressions:
        raise ScenarioError("SQL does not parse: IN () needs a value")
    value = evaluate(node.this, scope)
    collation = collation_of_all([node.this, *node.expressions], scope)
    result: SQLValue = False
    for item in node.expressions:
        order = _compared(node.this, value, item, evaluate(item, scope), collation, scope)
        if order == 0:
            return True
        result = None if order is None else result
    return result


def _between(node: exp.Expr, scope: Scope) -> SQLValue:
    lowest, highest, value = node.args["low"], node.args["high"], evaluate(node.this, scope)
    # A constant that is a year for the first bound is one for the second: TiDB changes it in place.
    value = _as_year(node.this, value, lowest, scope)
    collation = collation_of_all([node.this, lowest, highest], scope)
    minimum = _as_year(lowest, evaluate(lowest, scope), node.this, scope)
    low = _compared(node.this, value, lowest, minimum, collation, scope)
    if low is not None and low < 0:
        return False
    value, maximum = _as_year(node.this, value, highest, scope), evaluate(highest, scope)
    maximum = _as_year(highest, maximum, node.this, scope)
    high = _compared(node.this, value, highest, maximum, collation, scope)
    if high is not None and high > 0:
        return False
    return None if low is None or high is None else True


def _like(node: exp.Expr, scope: Scope, escape: str = "\\") -> SQLValue:
    matches = like(
        evaluate(node.this, scope), evaluate(node.expression, scope), shared_collation(node, scope), escape
    )
    if matches is None:
        return None
    return matches is not bool(node.args.get("negate"))


def _escape(node: exp.Expr, scope: Scope) -> SQLValue:
    mark = evaluate(node.expression, scope)
    if not isinstance(node.this, exp.Like) or not isinstance(mark, str) or len(mark) > 1:
        raise ScenarioError("Incorrect arguments to ESCAPE", value=display_value(mark))
    return _like(node.this, scope, mark)


def _call(call: FunctionCall, node: exp.Expr, scope: Scope) -> SQLValue:
    special = _SPECIAL_CALLS.get(call.name)
    if special is not None:
        return special(call, node, scope)
    return call_value(call, [evaluate(argument, scope) for argument in call.arguments], node, scope)


def _proposed(call: FunctionCall, _: exp.Expr, scope: Scope) -> SQLValue:
    return scope.proposed_value(call.arguments[0].name)


def _default(call: FunctionCall, _: exp.Expr, scope: Scope) -> SQLValue:
    (column,) = call.arguments
    return scope.default(*column_name(column))


def _of_session(call: FunctionCall, node: exp.Expr, scope: Scope) -> SQLValue:
    arguments = [evaluate(argument, scope) for argument in call.arguments]
    return scope.required_context(node).function(call.name, arguments)


_SPECIAL_CALLS: dict[str, Callable[[FunctionCall, exp.Expr, Scope], SQLValue]] = {
    "DEFAULT": _default,
    "VALUES": _proposed,
    **dict.fromkeys(SESSION_FUNCTIONS, _of_session),
    **dict.fromkeys(AGGREGATES, lambda _, node, scope: scope.aggregate(node)),
}


def _cast(node: exp.Expr, scope: Scope) -> SQLValue:
    if is_typed_literal(node):
        return typed_literal(node, scope.mode)
    return cast(evaluate(node.this, scope), target_of(node.args["to"]), scope.mode)


def _if(node: exp.Expr, scope: Scope) -> SQLValue:
    branch = node.args["true"] if _as_condition(node.this, scope) else node.args.get("false")
    return _branch_value(branch, node, scope)


def _branch_value(branch: exp.Expr | None, node: exp.Expr, scope: Scope) -> SQLValue:
    """Evaluate a branch, and convert its value to the merged type of all branches."""
    if branch is None:
        return None
    value = evaluate(branch, scope)
    return converted(value, noted_type(node, scope), scope.mode, noted_decimals(node, scope))


def _case(node: exp.Expr, scope: Scope) -> SQLValue:
    branch = node.args.get("default")
    for case in node.args["ifs"]:
        condition = exp.EQ(this=node.this, expression=case.this) if node.this else case.this
        if _as_condition(condition, scope):
            branch = case.args["true"]
            break
    return _branch_value(branch, node, scope)


RULES: dict[type[exp.Expr], Callable[[exp.Expr, Scope], SQLValue]] = {
    **{kind: _literal(rule) for kind, rule in LITERALS.items()},
    **dict.fromkeys(OF_CONTEXT, _of_context),
    exp.GroupConcat: _of_group,
    exp.JSONObjectAgg: _of_group,
    exp.Column: _column,
    exp.Paren: _paren,
    exp.Collate: _paren,
    exp.Add: _binary(arithmetic.add),
    exp.Sub: _binary(arithmetic.subtract),
    exp.Mul: _binary(arithmetic.multiply),
    exp.Div: _binary(arithmetic.divide),
    exp.IntDiv: _binary(arithmetic.integer_divide),
    exp.Mod: _binary(arithmetic.modulo),
    exp.Neg: _unary(arithmetic.negate),
    exp.BitwiseAnd: _bitwise(lambda a, b: a & b),
    exp.BitwiseOr: _bitwise(lambda a, b: a | b),
    exp.BitwiseXor: _bitwise(lambda a, b: a ^ b),
    exp.BitwiseLeftShift: _bitwise(lambda a, b: a << b if b < 64 else 0),
    exp.BitwiseRightShift: _bitwise(lambda a, b: a >> b if b < 64 else 0),
    exp.BitwiseNot: _unary(lambda value, mode: Unsigned(~arithmetic.to_bits(value, mode) & _MAX_UNSIGNED)),
    exp.EQ: _comparison(lambda order: order == 0),
    exp.NEQ: _comparison(lambda order: order != 0),
    exp.LT: _comparison(lambda order: order < 0),
    exp.LTE: _comparison(lambda order: order <= 0),
    exp.GT: _comparison(lambda order: order > 0),
    exp.GTE: _comparison(lambda order: order >= 0),
    exp.NullSafeEQ: _null_safe_equal,
    exp.And: _and,
    exp.Or: _or,
    exp.Xor: _xor,
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Like: _like,
    exp.Escape: _escape,
    exp.Cast: _cast,
    exp.If: _if,
    exp.Case: _case,
}
