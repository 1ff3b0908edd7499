"""The functions by which tables may be partitioned.

Rules: tidb ``pkg/ddl/partition.go`` (``checkPartitionExprAllowed``, ``checkPartitionExprArgs``,
``checkPartitionFuncType``).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.scenario.sql.definition.generated import columns_of
from ticdc_producer.scenario.sql.expression.eval_type import WHOLE, EvalType
from ticdc_producer.scenario.sql.expression.evaluate import check_expression
from ticdc_producer.scenario.sql.expression.form import type_of
from ticdc_producer.scenario.sql.expression.function_call import FunctionCall, call_of
from ticdc_producer.scenario.sql.expression.scope import Scope

T = MySQLType
_DATE = frozenset({T.DATE, T.DATETIME})
_TIME = frozenset({T.DURATION, T.DATETIME})
_ARGUMENTS = {
    **dict.fromkeys(("TO_DAYS", "TO_SECONDS", "DAYOFMONTH", "MONTH", "DAYOFYEAR", "QUARTER"), _DATE),
    **dict.fromkeys(("YEARWEEK", "YEAR", "WEEKDAY", "DAYOFWEEK", "DAY", "DATEDIFF"), _DATE),
    **dict.fromkeys(("HOUR", "MINUTE", "SECOND", "TIME_TO_SEC", "MICROSECOND"), _TIME),
    "UNIX_TIMESTAMP": frozenset({T.TIMESTAMP}),
    "FROM_DAYS": _DATE | _TIME,
}
"""The types of the columns that functions take: all columns of DATEDIFF, one column of the others."""
_NUMERIC = frozenset({"ABS", "CEILING", "FLOOR", "MOD"})
_UNITS = {
    **dict.fromkeys(("YEAR", "YEAR_MONTH", "QUARTER", "MONTH", "DAY"), _DATE),
    **dict.fromkeys(("DAY_MICROSECOND", "DAY_HOUR", "DAY_MINUTE", "DAY_SECOND"), frozenset({T.DATETIME})),
    **dict.fromkeys(("HOUR", "HOUR_MINUTE", "HOUR_SECOND", "MINUTE", "MINUTE_SECOND", "SECOND"), _TIME),
    **dict.fromkeys(("MICROSECOND", "HOUR_MICROSECOND", "MINUTE_MICROSECOND"), _TIME),
    "SECOND_MICROSECOND": _TIME,
}
_NOT_KEY = frozenset({T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.JSON, T.VECTOR_FLOAT32})
_OF_COLUMNS = INTEGERS | {T.DATE, T.DATETIME, T.DURATION, T.VARCHAR, T.VAR_STRING, T.STRING}
_OPERATORS = (exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Mod, exp.Neg)
_OPERANDS = (exp.Column, exp.Paren, exp.Literal, exp.Null, exp.Boolean, exp.HexString, exp.BitString)


def check_columns(kind: str, columns: Sequence[ColumnInfo], line: int) -> None:
    """Check the columns of ``COLUMNS`` or KEY.

    Source: tidb ``isColTypeAllowedAsPartitioningCol``, ``checkPartitionColumnsUnique``.

    :raises ScenarioError: for a type that TiDB does not take there, and for a repeated column.
    """
    for position, column in enumerate(columns):
        if column in columns[:position]:
            what = f"Duplicate partition field name {column.name!r}"
            raise ScenarioError(what, line=line, column=column.name)
        if (column.type in _NOT_KEY) if kind == "KEY" else (column.type not in _OF_COLUMNS):
            what = f"Field {column.name!r} is of a not allowed type for this type of partitioning"
            raise ScenarioError(what, line=line, column=column.name)


def check_function(tree: exp.Expr, scope: Scope, line: int) -> None:
    """Check that a partition function depends on columns, returns integers and consists of allowed parts.

    :raises ScenarioError: if it does not.
    """
    column = scope.column(tree.name) if isinstance(tree, exp.Column) else None
    if column is not None and column.type not in (*INTEGERS, T.YEAR, T.BIT):
        what = f"Field {column.name!r} is of a not allowed type for this type of partitioning"
        hint = "RANGE COLUMNS, LIST COLUMNS and KEY take more types"
        raise ScenarioError(what, line=line, column=column.name, hint=hint)
    _check_part(tree, scope, line)
    check_expression(tree, scope)
    if not columns_of(tree):
        raise _wrong_expression(line)
    if column is None and type_of(tree, scope).kind not in WHOLE | {EvalType.UNKNOWN}:
        raise ScenarioError("The PARTITION function returns the wrong type", line=line)


def _check_part(node: exp.Expr, scope: Scope, line: int) -> None:
    call = call_of(node)
    if call is not None:
        _check_call(call, scope, line)
        parts: Sequence[exp.Expr] = call.arguments
    elif isinstance(node, _OPERATORS):
        parts = list(node.iter_expressions())
        if T.TIMESTAMP in _types(parts, scope):
            raise _wrong_expression(line)
    elif isinstance(node, _OPERANDS):
        parts = [node.this] if isinstance(node, exp.Paren) else []
    else:
        raise ScenarioError("This partition function is not allowed", line=line)
    for part in parts:
        _check_part(part, scope, line)


def _check_call(call: FunctionCall, scope: Scope, line: int) -> None:
    types = _types(call.arguments, scope)
    if call.name in _NUMERIC:
        is_allowed = T.TIMESTAMP not in types
    elif call.name == "EXTRACT":
        accepted = _UNITS.get(call.arguments[0].name.upper(), frozenset())
        is_allowed = not accepted.isdisjoint(types)
    elif call.name == "DATEDIFF":
        is_allowed = _DATE.issuperset(types)
    elif call.name in _ARGUMENTS:
        is_allowed = not _ARGUMENTS[call.name].isdisjoint(types)
    else:
        raise ScenarioError("This partition function is not allowed", line=line)
    if not is_allowed:
        raise _wrong_expression(line)


def _types(arguments: Sequence[exp.Expr], scope: Scope) -> list[MySQLType]:
    """Return the types of the arguments that are columns."""
    return [scope.column(node.name).type for node in arguments if isinstance(node, exp.Column)]


def _wrong_expression(line: int) -> ScenarioError:
    what = "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed"
    return ScenarioError(what, line=line)
