"""The few functions that TiDB accepts in ``DEFAULT (expression)``.

Source: tidb ``pkg/ddl/add_column.go`` (``getFuncCallDefaultValue``); ``parser.y`` (``DefaultValueExpr``).
"""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.errors import ScenarioError

_WITH_ANY_ARGUMENTS = {"CURDATE", "CURRENT_DATE", "JSON_ARRAY", "JSON_OBJECT", "JSON_QUOTE", "VEC_FROM_TEXT"}
_FORMATS = {"%Y-%m", "%Y-%m-%d", "%Y-%m-%d %H.%i.%s", "%Y-%m-%d %H:%i:%s"}


def check_default_function(column: str, expression: exp.Expr, line: int) -> None:
    """Check that TiDB accepts an expression that is no literal.

    :param column: name of the column.
    :raises ScenarioError: if it does not.
    """
    call = expression.unnest()
    name = _name(call)
    if not name:
        what = f"the DEFAULT of column {column!r} is neither a literal nor a call of a function"
        raise ScenarioError(what, line=line, column=column, hint="TiDB accepts no other expression there")
    if name in _WITH_ANY_ARGUMENTS:
        return
    arguments = call.expressions
    if name == "STR_TO_DATE" and all(isinstance(argument, exp.Literal) for argument in arguments):
        return
    if name == "DATE_FORMAT" and _is_date_of_now(arguments):
        return
    what = f"Default value expression of column {column!r} contains a disallowed function: {name}"
    hint = "TiDB accepts JSON_OBJECT, JSON_ARRAY, JSON_QUOTE, STR_TO_DATE, CURRENT_DATE, DATE_FORMAT of NOW()"
    raise ScenarioError(what, line=line, column=column, hint=hint)


def _name(call: exp.Expr) -> str:
    if isinstance(call, exp.Anonymous):
        return str(call.this).upper()
    if isinstance(call, exp.JSONObject):
        return "JSON_OBJECT"
    return call.sql_name() if isinstance(call, exp.Func) and not isinstance(call, exp.Binary) else ""


def _is_date_of_now(arguments: list[exp.Expr]) -> bool:
    if len(arguments) != 2 or _name(arguments[0]) != "NOW":
        return False
    return isinstance(arguments[1], exp.Literal) and arguments[1].this in _FORMATS
