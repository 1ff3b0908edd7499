"""Calls of functions: their values, types and checks.

TiDB converts some arguments before the call, and the result of a function that chooses one of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.collation import charset_of
from ticdc_producer.model.values.sql_value import (
    DateTimeValue,
    Duration,
    Quotient,
    SQLMode,
    SQLValue,
    display_value,
)
from ticdc_producer.model.values.temporal_text import MAX_FSP
from ticdc_producer.scenario.sql.expression.aggregate_call import aggregate_of
from ticdc_producer.scenario.sql.expression.arithmetic import DIV_INCREMENT
from ticdc_producer.scenario.sql.expression.choice import shared_type
from ticdc_producer.scenario.sql.expression.collation import check_call, collation_of, encoded
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import (
    NUMBERS,
    TEMPORALS,
    UNKNOWN,
    EvalType,
    ExpressionType,
    converted,
)
from ticdc_producer.scenario.sql.expression.form import Form, evaluate, noted_type, type_of
from ticdc_producer.scenario.sql.expression.function_call import (
    CALL_NODES,
    FunctionCall,
    call_of,
    column_name,
)
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions.aggregate import AGGREGATES
from ticdc_producer.scenario.sql.functions.datetime.argument import datetime_argument
from ticdc_producer.scenario.sql.functions.function import (
    chosen_type,
    first_text_type,
    function_type,
    text_type,
)
from ticdc_producer.scenario.sql.functions.session import SESSION_FUNCTIONS, SessionCall, SessionFunction

_AROUND_DIGITS = 5
"""The point and the sign of a quotient, and the three characters that TiDB adds."""


def _call_at(node: exp.Expr) -> FunctionCall:
    call = call_of(node)
    if call is None:
        raise TypeError(f"{node.key} is not a function call")
    return call


def _type(node: exp.Expr, scope: Scope) -> ExpressionType:
    call = _call_at(node)
    return function_type(call.function.type, call.arguments, lambda argument: type_of(argument, scope))


def _parts(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    call = _call_at(node)
    call.function.check(call.name, len(call.arguments))
    check_call(call, scope)
    if call.function.documents:
        _check_documents(call, scope)
    return call.arguments


def _check_documents(call: FunctionCall, scope: Scope) -> None:
    """Check the types of JSON documents, also for a value that is NULL. Source: tidb ``verifyJSONArgsType``.

    :raises ScenarioError: for a number, a date or time, and a binary string.
    """
    for position, argument in enumerate(call.arguments):
        if position not in call.function.documents:
            continue
        kind = type_of(argument, scope).kind
        if kind is EvalType.BYTES:
            raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
        if kind in _NO_DOCUMENTS:
            what = f"Invalid data type for JSON data in argument {position + 1} to function {call.name}"
            raise ScenarioError(f"{what}; a JSON string or JSON type is required")


_NO_DOCUMENTS = NUMBERS | TEMPORALS | {EvalType.BIT}


def _value(node: exp.Expr, scope: Scope) -> SQLValue:
    call = _call_at(node)
    function, mode = call.function, scope.mode
    try:
        arguments = _arguments(call, scope)
    except ScenarioError as error:
        if not function.drops_errors or isinstance(error, UnsupportedSQL):
            raise
        return None
    decides = function.type is first_text_type and not isinstance(call.arguments[0], exp.Null)
    if decides and not isinstance(arguments[0], bytes):
        arguments = [_in_utf8(argument) for argument in arguments]
    if function.type in (text_type, first_text_type):
        arguments = [
            _fitting_quotient(argument, value, scope) if isinstance(value, Quotient) else value
            for argument, value in zip(call.arguments, arguments, strict=True)
        ]
    if function.takes_bytes:
        pairs = zip(call.arguments, arguments, strict=True)
        arguments = [encoded(argument, value, scope) for argument, value in pairs]
    collation = (collation_of(node, scope) or DEFAULT_COLLATION) if function.collated else ""
    if function.null_in_query and scope.in_query:
        with suppress(ScenarioError):
            return function(arguments, mode)
        return None
    if function.type is not chosen_type:
        value = function(arguments, mode, collation)
        if function.full_fraction and isinstance(value, DateTimeValue):
            is_literal = isinstance(call.arguments[0].unnest(), exp.Literal)
            return value if is_literal else replace(value, fsp=MAX_FSP)
        return value
    kind, digits = shared_type(node, lambda _: call.arguments, scope)
    if not function.collated:
        value = function(arguments, mode, collation)
        if kind is EvalType.DECIMAL and call.name == "COALESCE":
            digits = None  # unlike IFNULL, it does not pad: newBaseBuiltinFuncWithFieldTypes
        return converted(value, kind, mode, None if digits is None else digits.decimals)
    if kind in (EvalType.TEXT, EvalType.BYTES, EvalType.JSON):
        arguments = _comparable_texts(arguments, mode)
    elif not any(isinstance(argument, DateTimeValue | Duration) for argument in arguments):
        arguments = [converted(argument, kind, mode) for argument in arguments]
    decimals = digits.decimals if kind is EvalType.TIME and digits is not None else None
    return converted(function(arguments, mode, collation), kind, mode, decimals)


def _in_utf8(value: SQLValue) -> SQLValue:
    """Return a binary string as a text. Source: tidb ``builtinInternalFromBinarySig``.

    :raises ScenarioError: if it is not UTF-8, whatever the sql_mode.
    """
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        text = display_value(value)
        raise ScenarioError(f"Cannot convert string {text} from binary to utf8mb4", value=text) from None


def _arguments(call: FunctionCall, scope: Scope) -> list[SQLValue]:
    if not call.function.takes_first:
        return [evaluate(argument, scope) for argument in call.arguments]
    values: list[SQLValue] = []
    for argument in call.arguments:
        values.append(evaluate(argument, scope))
        if values[-1] is not None:
            break
    return values


def _fitting_quotient(node: exp.Expr, value: Quotient, scope: Scope) -> SQLValue:
    """Return a quotient as an argument of a text function: its text may have too many digits for TiDB.

    :raises ScenarioError: in strict mode, if it has.
    """
    text, longest = to_text(value), _longest_text(node, scope)
    if longest is None or len(text) <= longest:
        return text
    if scope.mode.strict:
        raise ScenarioError(f"Data Too Long, field len {longest}, data len {len(text)}", value=text)
    return text[:longest]


def _longest_text(node: exp.Expr, scope: Scope) -> int | None:
    """Return the length of the text to which TiDB casts a quotient; None if it is not known.

    Source: tidb ``setType4DivDecimal``, ``WrapWithCastAsString``.
    """
    quotient = node.unnest()
    if not isinstance(quotient, exp.Div):
        return None
    left, right = noted_type(quotient.this, scope).digits, noted_type(quotient.expression, scope).digits
    if left is None or right is None:
        return None
    is_literal = isinstance(quotient.this.unnest(), exp.Literal)
    whole = left.whole + left.decimals - (is_literal and not left.decimals)
    return whole + right.decimals + DIV_INCREMENT + _AROUND_DIGITS


def _comparable_texts(arguments: list[SQLValue], mode: SQLMode) -> list[SQLValue]:
    """Return the texts that GREATEST and LEAST compare: a text or number next to a date is read as a date.

    The first date or time decides, or a datetime. Source: tidb ``resolveType4Extremum``.

    :raises ScenarioError: in strict mode, for such a text that is not a date.
    """
    temporals = [each for each in arguments if isinstance(each, DateTimeValue | Duration)]
    datetimes = [each for each in temporals if isinstance(each, DateTimeValue) and each.fsp >= 0]
    model = next(iter((*datetimes, *temporals)), None)
    if not isinstance(model, DateTimeValue):
        return [converted(argument, EvalType.TEXT, mode) for argument in arguments]
    as_date = model.fsp < 0
    return [
        argument if argument is None else _text_of_date(argument, mode, as_date=as_date)
        for argument in arguments
    ]


def _text_of_date(value: SQLValue, mode: SQLMode, *, as_date: bool) -> SQLValue:
    moment = datetime_argument(value, mode)
    if moment is None:
        return converted(value, EvalType.TEXT, mode)
    return moment.date_text() if as_date else moment.text()


def _column_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    return scope.type(*column_name(node.expressions[0]))


def _parts_of_default(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    if len(node.expressions) != 1 or not isinstance(node.expressions[0], exp.Column):
        raise ScenarioError("SQL does not parse: DEFAULT() needs the name of one column")
    scope.default(*column_name(node.expressions[0]))  # an error also without rows
    return node.expressions


def _parts_of_values(node: exp.Expr, _: Scope) -> Iterable[exp.Expr]:
    if len(node.expressions) != 1 or not isinstance(node.expressions[0], exp.Column | exp.Identifier):
        raise ScenarioError("SQL does not parse: VALUES() needs the name of one column")
    return ()


def _of_session(name: str, function: SessionFunction) -> Form:
    """Make the form of a function of the session."""

    def run(node: exp.Expr, scope: Scope) -> SQLValue:
        arguments = [evaluate(argument, scope) for argument in node.expressions[function.takes_sequence :]]
        return function.run(SessionCall(node, arguments, scope.required_context(node).session, scope.mode))

    def parts(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
        scope.required_context(node)
        return function.value_arguments(name, node.expressions)

    return Form(run, function.type, parts)


def _aggregate_type(node: exp.Expr, scope: Scope) -> ExpressionType:
    call = aggregate_of(node)
    if call is None:
        return UNKNOWN
    return function_type(call.function.type, call.arguments, lambda argument: type_of(argument, scope))


def _parts_of_aggregate(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    scope.check_aggregate()
    aggregate = aggregate_of(node)
    if aggregate is None:
        return ()
    if any(aggregate_of(inner) for argument in aggregate.arguments for inner in argument.walk()):
        raise ScenarioError("Invalid use of group function")
    return (*aggregate.arguments, *(ordered.this for ordered in aggregate.order))


_OF_GROUP = Form(lambda node, scope: scope.aggregate(node), _aggregate_type, _parts_of_aggregate)


def _collation_name(node: exp.Expr, scope: Scope) -> str:
    """Return ``COLLATION(x)``: that of a text, ``binary`` of other values. ``CHARSET`` is its charset."""
    (value,) = node.expressions
    kind = noted_type(value, scope).kind
    if kind is EvalType.UNKNOWN:
        raise UnsupportedSQL(f"{node.sql(dialect='mysql')[:80]!r} of this value is not supported")
    if kind not in (EvalType.TEXT, EvalType.JSON):
        return "binary"
    return collation_of(value, scope) or DEFAULT_COLLATION


def _one_part(node: exp.Expr, _: Scope) -> Iterable[exp.Expr]:
    if len(node.expressions) != 1:
        raise ScenarioError(f"Incorrect parameter count in the call to {node.name.upper()}()")
    return node.expressions


_OF_SCOPE: dict[str, Form] = {
    "CHARSET": Form(lambda node, scope: charset_of(_collation_name(node, scope)), EvalType.TEXT, _one_part),
    "COLLATION": Form(_collation_name, EvalType.TEXT, _one_part),
    "DEFAULT": Form(
        lambda node, scope: scope.default(*column_name(node.expressions[0])), _column_type, _parts_of_default
    ),
    "VALUES": Form(
        lambda node, scope: scope.proposed_value(node.expressions[0].name), _column_type, _parts_of_values
    ),
    **{name: _of_session(name, function) for name, function in SESSION_FUNCTIONS.items()},
    **dict.fromkeys(AGGREGATES, _OF_GROUP),
}
"""Calls whose value the scope or its context has."""


_CALL = Form(_value, _type, _parts)


def _either(choose: Callable[[exp.Expr], Form]) -> Form:
    """Return the form of a kind of node whose nodes have one of several forms."""
    return Form(
        lambda node, scope: choose(node).evaluate(node, scope),
        lambda node, scope: choose(node).type_of(node, scope),
        lambda node, scope: choose(node).parts(node, scope),
    )


def _or_call(form: Form) -> Form:
    return _either(lambda node: form if call_of(node) is None else _CALL)


def with_calls(forms: Mapping[type[exp.Expr], Form]) -> Mapping[type[exp.Expr], Form]:
    """Add calls to other forms; a sum may be a call."""
    either = {kind: _or_call(form) for kind, form in forms.items() if kind in CALL_NODES}
    return {
        **dict.fromkeys(CALL_NODES, _CALL),
        **forms,
        **either,
        exp.Anonymous: _either(lambda node: _OF_SCOPE.get(str(node.this).upper(), _CALL)),
        exp.GroupConcat: _OF_GROUP,
        exp.JSONObjectAgg: _OF_GROUP,
    }
