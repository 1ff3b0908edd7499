"""The value of a call of a function, from the values of its arguments.

TiDB converts some arguments before the call, and the result of a function that chooses one of its arguments.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, Quotient, SQLMode, SQLValue
from ticdc_producer.model.values.temporal_text import MAX_FSP
from ticdc_producer.scenario.sql.expression.call_normalizer import CHOOSING, FunctionCall
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, collation_of
from ticdc_producer.scenario.sql.expression.digits_inference import longest_text
from ticdc_producer.scenario.sql.expression.eval_type import EvalType, converted
from ticdc_producer.scenario.sql.expression.function_types import TEXT_FUNCTIONS
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.expression.type_inference import noted_decimals, noted_type
from ticdc_producer.scenario.sql.functions import function_named
from ticdc_producer.scenario.sql.functions.datetime_argument import datetime_argument


def call_value(call: FunctionCall, arguments: list[SQLValue], node: exp.Expr, scope: Scope) -> SQLValue:
    """Return the value of a call.

    :param arguments: the values of its arguments.
    :param node: the call in the tree.
    :raises ScenarioError: for arguments that the function does not accept.
    """
    function = function_named(call.name)
    if call.name in TEXT_FUNCTIONS:
        arguments = [
            _fitting_quotient(argument, value, scope) if isinstance(value, Quotient) else value
            for argument, value in zip(call.arguments, arguments, strict=True)
        ]
    collation = (collation_of(node, scope) or DEFAULT_COLLATION) if function.collated else ""
    if call.name not in CHOOSING:
        value = function(call.name, arguments, scope.mode, collation)
        if function.full_fraction and isinstance(value, DateTimeValue):
            is_literal = isinstance(call.arguments[0].unnest(), exp.Literal)
            return value if is_literal else replace(value, fsp=MAX_FSP)
        return value
    shared = noted_type(node, scope)
    if not function.collated:
        value = function(call.name, arguments, scope.mode, collation)
        return converted(value, shared, scope.mode, noted_decimals(node, scope))
    if shared is EvalType.TEXT:
        arguments = _comparable_texts(arguments, scope.mode)
    elif not any(isinstance(argument, DateTimeValue | Duration) for argument in arguments):
        arguments = [converted(argument, shared, scope.mode) for argument in arguments]
    return converted(function(call.name, arguments, scope.mode, collation), shared, scope.mode)


def _fitting_quotient(node: exp.Expr, value: Quotient, scope: Scope) -> SQLValue:
    """Return a quotient as an argument of a text function: its text may have too many digits for TiDB.

    :raises ScenarioError: in strict mode, if it has.
    """
    text, longest = to_text(value), longest_text(node, scope)
    if longest is None or len(text) <= longest:
        return text
    if scope.mode.strict:
        raise ScenarioError(f"Data Too Long, field len {longest}, data len {len(text)}", value=text)
    return text[:longest]


def _comparable_texts(arguments: list[SQLValue], mode: SQLMode) -> list[SQLValue]:
    """Return the texts that GREATEST and LEAST compare: a text beside a date is read as a date.

    :raises ScenarioError: in strict mode, for a text beside a date that is none.
    """
    if not any(isinstance(argument, DateTimeValue) for argument in arguments):
        return [converted(argument, EvalType.TEXT, mode) for argument in arguments]
    return [argument if argument is None else _text_of_date(argument, mode) for argument in arguments]


def _text_of_date(value: SQLValue, mode: SQLMode) -> SQLValue:
    moment = datetime_argument(value, mode)
    if moment is None:
        return converted(value, EvalType.TEXT, mode)
    return value.text() if isinstance(value, DateTimeValue) else moment.text()
