"""Comparisons: of two values, IN, BETWEEN and LIKE.

Rules: tidb ``pkg/expression/builtin_compare.go``, ``builtin_other.go``, ``builtin_like.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from math import ceil, floor

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_scalar import as_datetime, readable
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import as_float, as_number, check_number, is_text
from ticdc_producer.model.values.sql_value import (
    DateTimeValue,
    Duration,
    SQLMode,
    SQLValue,
    VectorText,
    display_value,
)
from ticdc_producer.model.values.temporal_text import FIRST_NUMBER, two_digit_year
from ticdc_producer.scenario.sql.expression.collation import (
    check_comparable,
    collation_of_all,
    shared_collation,
)
from ticdc_producer.scenario.sql.expression.compare import check_operand, compare, like
from ticdc_producer.scenario.sql.expression.eval_type import NUMBERS, TEMPORALS, EvalType
from ticdc_producer.scenario.sql.expression.form import (
    Form,
    child_nodes,
    evaluate,
    is_constant,
    is_folded,
    noted_type,
    type_of,
)
from ticdc_producer.scenario.sql.expression.scope import Scope


def _compared(
    left_node: exp.Expr, left: SQLValue, right_node: exp.Expr, right: SQLValue, collation: str, scope: Scope
) -> int | None:
    """Compare the values of two expressions; None for NULL."""
    if left is None or right is None:
        if scope.mode.strict and (left is not None or right is not None):
            null, value = (left_node, right) if left is None else (right_node, left)
            if isinstance(value, str | bytes) and not is_constant(null):
                check_operand(value, noted_type(null, scope).kind, scope.mode, scope.in_storage)
        return None
    if not isinstance(left, Duration) and not isinstance(right, Duration):
        return compare(left, right, collation, scope.mode, in_storage=scope.in_storage)
    time_is_read = any(
        isinstance(column.unnest(), exp.Column) and _is_computed(constant, scope)
        for column, constant in ((left_node, right_node), (right_node, left_node))
    )
    return compare(left, right, collation, scope.mode, time_is_read=time_is_read)


def _is_computed(node: exp.Expr, scope: Scope) -> bool:
    """Return whether TiDB plans a statement with the value of an expression, also with that of a subquery.

    Source: tidb ``expressionRewriter.handleScalarSubquery``.
    """
    if is_folded(node):
        return True
    context = scope.context
    return context is not None and isinstance(node, exp.Query) and not context.needs_join(node)


def refined(
    left_node: exp.Expr,
    left: SQLValue,
    right_node: exp.Expr,
    right: SQLValue,
    scope: Scope,
    operator: type[exp.Expr] = exp.EQ,
) -> tuple[SQLValue, SQLValue]:
    """Return the values of two expressions for a comparison: some numbers are years or times next to others.

    Source: tidb ``compareFunctionClass.refineArgs``.

    :param operator: the kind of the comparison.
    """
    if isinstance(left, int) or isinstance(right, int):
        mirrored = _MIRRORED.get(operator, operator)
        left, right = (
            _as_year(left_node, left, right_node, scope, mirrored),
            _as_year(right_node, right, left_node, scope, operator),
        )
    return _with_moments(left_node, left, right_node, right, scope)


def _with_moments(
    left_node: exp.Expr, left: SQLValue, right_node: exp.Expr, right: SQLValue, scope: Scope
) -> tuple[SQLValue, SQLValue]:
    """Return the values of two expressions, with a time for a number next to a date or time."""
    if isinstance(left, DateTimeValue):
        return left, _as_moment(right_node, right, left_node, scope)
    if isinstance(right, DateTimeValue):
        return _as_moment(left_node, left, right_node, scope), right
    return left, right


def _as_moment(node: exp.Expr, value: SQLValue, other: exp.Expr, scope: Scope) -> SQLValue:
    """Return a number next to a date or time as one: a YEAR without month and day, and some constants.

    A constant becomes one next to a DATETIME or TIMESTAMP that is not a constant. It remains a number if
    it is not a date, or has a zero part where strict mode refuses that.
    Source: tidb ``ParseTimeFromYear``, ``refineNumericConstantCmpDatetime``, ``ParseTimeFromNum``.
    """
    if not isinstance(value, _NUMBERS):
        return value
    if isinstance(value, int) and noted_type(node, scope).kind is EvalType.YEAR:
        return DateTimeValue(int(value), 0, 0)
    if noted_type(other, scope).kind is not EvalType.DATETIME:
        return value
    if _is_computed(other, scope) or not _is_computed(node, scope):
        return value
    moment = None if 0 < value < FIRST_NUMBER else as_datetime(value, 0, scope.mode)
    return value if moment is None or not (moment.is_zero or readable(moment, scope.mode)) else moment


_NUMBERS = (int, float, Decimal)


def _as_year(
    node: exp.Expr, value: SQLValue, other: exp.Expr, scope: Scope, operator: type[exp.Expr] = exp.EQ
) -> SQLValue:
    """Return the value of an operand: a constant of two digits next to a YEAR is a year of 1970 to 2069.

    Source: tidb ``compareFunctionClass.refineArgs``, ``RefineComparedConstant``.

    :param operator: the kind of the comparison, whose second operand this is.
    """
    if isinstance(value, int):
        year: int | None = two_digit_year(value) if 0 < value < _CENTURY else None
    else:
        year = _year_of(value, operator, scope.mode)
    if year is None:
        return value
    is_year = noted_type(other, scope).kind is EvalType.YEAR and _is_computed(node, scope)
    return year if is_year else value


def _year_of(value: SQLValue, operator: type[exp.Expr], mode: SQLMode) -> int | None:
    """Return the year to which TiDB converts a text or a DOUBLE; None if it remains as it is."""
    if isinstance(value, VectorText) or not isinstance(value, str | bytes | float):
        return None
    number, complete = as_number(value)
    if mode.strict and not complete:
        return None
    if operator in _ROUNDINGS:
        whole, is_zero_year = _ROUNDINGS[operator](number), False
    elif operator is exp.NEQ or isinstance(value, float) or number != int(number):
        return None
    else:
        whole, is_zero_year = int(number), to_text(value)[:1] == "0" and len(value) < len("0000")
    return two_digit_year(whole) if 0 < whole < _CENTURY or (whole == 0 and is_zero_year) else whole


_CENTURY = 100
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE
}  # fmt: skip
_ROUNDINGS: dict[type[exp.Expr], Callable[[int | Decimal | float], int]] = {
    exp.LT: ceil, exp.GTE: ceil, exp.LTE: floor, exp.GT: floor
}  # fmt: skip


def _order(node: exp.Expr, scope: Scope, null_safe: bool = False) -> int | None:
    """Compare the two operands of a node; None for NULL.

    :param null_safe: whether two NULLs are equal.
    """
    first, second = node.this, node.expression
    left, right = evaluate(first, scope), evaluate(second, scope)
    if null_safe and left is right is None:
        return 0
    left, right = refined(first, left, second, right, scope, type(node))
    are_texts = isinstance(left, str) and isinstance(right, str)
    collation = shared_collation(node, scope) if are_texts else ""
    return _compared(first, left, second, right, collation, scope)


def _is_contextual(node: exp.Expr) -> bool:
    """Return whether a comparison is with ANY or ALL of a query, or compares rows of several columns."""
    return type(node.this) is exp.Tuple or type(node.expression) in (exp.Any, exp.All, exp.Tuple)


def _parts_of_comparison(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    if not _is_contextual(node):
        check_comparable([node.this, node.expression], scope)
    return child_nodes(node, scope)


def _parts_of_between(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    check_comparable([node.this, node.args["low"], node.args["high"]], scope)
    return child_nodes(node, scope)


def _comparison(accepts: Callable[[int], bool]) -> Form:
    def rule(node: exp.Expr, scope: Scope) -> SQLValue:
        if _is_contextual(node):
            return scope.required_context(node).evaluate(node, scope)
        order = _order(node, scope)
        return None if order is None else accepts(order)

    return Form(rule, EvalType.INTEGER, _parts_of_comparison)


def _null_safe_equal(node: exp.Expr, scope: Scope) -> SQLValue:
    if _is_contextual(node):
        return scope.required_context(node).evaluate(node, scope)
    return _order(node, scope, null_safe=True) == 0


def _in(node: exp.Expr, scope: Scope) -> SQLValue:
    if node.args.get("query") is not None or type(node.this) is exp.Tuple:
        return scope.required_context(node).evaluate(node, scope)
    if not node.expressions:
        raise ScenarioError("SQL does not parse: IN () needs a value")
    value = evaluate(node.this, scope)
    collation = collation_of_all([node.this, *node.expressions], scope)
    result: SQLValue = False
    for item, each in zip(node.expressions, _choices(node, value, scope), strict=True):
        operands = _with_moments(node.this, value, item, each, scope)
        order = _compared(node.this, operands[0], item, operands[1], collation, scope)
        if order == 0:
            return True
        result = None if order is None else result
    return result


def _choices(node: exp.Expr, value: SQLValue, scope: Scope) -> Iterator[SQLValue]:
    """Yield the values of the list of IN. Next to a YEAR, its texts are years.

    Its numbers are, too, unless TiDB computes IN, which it does for two or more integers.
    Source: tidb ``expressionRewriter.inToExpression``.
    """
    if not isinstance(value, int) or noted_type(node.this, scope).kind is not EvalType.YEAR:
        yield from (evaluate(item, scope) for item in node.expressions)
        return
    values = [evaluate(item, scope) for item in node.expressions]
    pairs = list(zip(node.expressions, values, strict=True))
    years = [_as_year(item, each, node.this, scope) for item, each in pairs]
    are_integers = len(years) > 1 and all(each is None or isinstance(each, int) for each in years)
    is_in = are_integers and not _begins_key(node.this, scope)
    for each, year in zip(values, years, strict=True):
        yield each if is_in and isinstance(each, int) else year


def _begins_key(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a condition gives ranges of an index, whose bounds have the type of the column."""
    table = scope.table if scope.in_storage and isinstance(node, exp.Column) else None
    if table is None:
        return False
    names = {table.columns[index.offsets[0]].name.lower() for index in table.indexes}
    return node.name.lower() in names


def _parts_of_in(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    if node.args.get("query") is not None:
        return scope.required_context(node).check(node, scope)
    if type(node.this) is not exp.Tuple:
        check_comparable([node.this, *node.expressions], scope)
        _check_constants(node, scope)
    return child_nodes(node, scope)


def _check_constants(node: exp.Expr, scope: Scope) -> None:
    """Check the texts of a list, which TiDB converts once while it plans a statement.

    It does so if the type of all comparisons is that of the left side. Source: tidb
    ``expressionRewriter.inToExpression``, ``builtinInRealSig.buildHashMapForConstArgs``.

    :raises ScenarioError: in strict mode, for a text that cannot be converted.
    """
    texts = [item.name for item in node.expressions if item.is_string]
    if not texts or not scope.mode.strict or len(node.expressions) == 1 or is_folded(node.this):
        return
    kind = type_of(node.this, scope).kind
    of_others = {type_of(item, scope).kind for item in node.expressions if not item.is_string}
    if kind in _CONVERTED and of_others <= _CONVERTED[kind]:
        for text in texts:
            check_operand(text, kind, scope.mode, in_storage=False)


_OF_DATES = frozenset({EvalType.DATE, EvalType.DATETIME, EvalType.TEXT, EvalType.NULL})
_CONVERTED = {
    EvalType.DOUBLE: NUMBERS | TEMPORALS | {EvalType.TEXT, EvalType.NULL},
    EvalType.DECIMAL: NUMBERS - {EvalType.DOUBLE} | {EvalType.NULL},
    EvalType.DATE: _OF_DATES,
    EvalType.DATETIME: _OF_DATES,
}
"""The types of a list, next to texts, with which all comparisons are in the type of the left side."""


def _between(node: exp.Expr, scope: Scope) -> SQLValue:
    lowest, highest, value = node.args["low"], node.args["high"], evaluate(node.this, scope)
    minimum, maximum = evaluate(lowest, scope), evaluate(highest, scope)
    text = maximum
    if is_text(value) or is_text(minimum) or is_text(maximum):
        value, minimum, maximum = _as_numbers(value, minimum, maximum, scope.mode)
    # Times are numbers here if another operand is a number, so no number becomes a time: ResolveType4Between.
    # A constant that is a year for the first bound is one for the second: TiDB changes it in place.
    may_be_years = not any(isinstance(each, Decimal | float) for each in (value, minimum, maximum))
    value = _as_year(node.this, value, lowest, scope) if may_be_years else value
    collation = collation_of_all([node.this, lowest, highest], scope)
    minimum = _as_year(lowest, minimum, node.this, scope) if may_be_years else minimum
    low = _compared(node.this, value, lowest, minimum, collation, scope)
    if low is not None and low < 0:
        return False
    if maximum is not text:
        check_number(text, scope.mode)
    value = _as_year(node.this, value, highest, scope) if may_be_years else value
    maximum = _as_year(highest, maximum, node.this, scope) if may_be_years else maximum
    high = _compared(node.this, value, highest, maximum, collation, scope)
    if high is not None and high > 0:
        return False
    return None if low is None or high is None else True


def _as_numbers(value: SQLValue, minimum: SQLValue, maximum: SQLValue, mode: SQLMode) -> Sequence[SQLValue]:
    """Return the operands of BETWEEN, whose texts are numbers if one operand is a number.

    Source: tidb ``ResolveType4Between``.
    """
    operands = (value, minimum, maximum)
    if not any(isinstance(operand, int | float | Decimal) for operand in operands):
        return operands
    for operand in (value, minimum):  # the second bound is not computed if the first one decides
        if is_text(operand):
            check_number(operand, mode)
    return [as_float(operand) if is_text(operand) else operand for operand in operands]


def _like(node: exp.Expr, scope: Scope, escape: str = "\\") -> SQLValue:
    matches = like(
        evaluate(node.this, scope), evaluate(node.expression, scope), shared_collation(node, scope), escape
    )
    return None if matches is None else matches is not bool(node.args.get("negate"))


def _escape(node: exp.Expr, scope: Scope) -> SQLValue:
    mark = evaluate(node.expression, scope)
    if not isinstance(node.this, exp.Like) or not isinstance(mark, str) or len(mark) > 1:
        raise ScenarioError("Incorrect arguments to ESCAPE", value=display_value(mark))
    return _like(node.this, scope, mark)


ACCEPTED_ORDERS: dict[type[exp.Expr], Callable[[int], bool]] = {
    exp.EQ: lambda order: order == 0,
    exp.NEQ: lambda order: order != 0,
    exp.LT: lambda order: order < 0,
    exp.LTE: lambda order: order <= 0,
    exp.GT: lambda order: order > 0,
    exp.GTE: lambda order: order >= 0,
}
"""Whether a comparison is true for the order of its operands."""
COMPARISONS: dict[type[exp.Expr], Form] = {
    **{kind: _comparison(accepts) for kind, accepts in ACCEPTED_ORDERS.items()},
    exp.NullSafeEQ: Form(_null_safe_equal, EvalType.INTEGER, _parts_of_comparison),
    exp.In: Form(_in, EvalType.INTEGER, _parts_of_in),
    exp.Between: Form(_between, EvalType.INTEGER, _parts_of_between),
    exp.Like: Form(_like, EvalType.INTEGER, _parts_of_comparison),
    exp.Escape: Form(_escape, EvalType.INTEGER),
}
