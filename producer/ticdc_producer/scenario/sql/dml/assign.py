"""Assigns values to columns: SET lists, DEFAULTs, NULL checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import ORIGIN_TS, TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.model.values.temporal_text import datetime_from_python
from ticdc_producer.scenario.sql.definition.generated import expression_of
from ticdc_producer.scenario.sql.dml.point_update import cast_to_column
from ticdc_producer.scenario.sql.expression.collation import encoded
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.function_call import column_name
from ticdc_producer.scenario.sql.expression.scope import Scope

T = MySQLType


class Assignment(NamedTuple):
    """A checked assignment: the column with its offset, and the expression."""

    offset: int
    column: ColumnInfo
    expression: exp.Expr


def is_default(node: exp.Expr, column: ColumnInfo) -> bool:
    """Return whether a node is the word DEFAULT instead of a value, or DEFAULT of the assigned column itself.

    Source: tidb ``extractDefaultExpr`` (``pkg/planner/core``).
    """
    word = node.this if type(node) is exp.Column else node
    if type(word) in _WORDS:
        return not word.args.get("quoted") and _is_default_word(word)
    return type(node) is exp.Anonymous and _default_argument(node) == column.name.lower()


def defaults_in(node: exp.Expr) -> set[str]:
    """Return the names in lower case of the columns of ``DEFAULT(column)`` in an expression."""
    return {_default_argument(call) for call in node.find_all(exp.Anonymous)} - {""}


def _default_argument(call: exp.Anonymous) -> str:
    """Return the name in lower case of the column of ``DEFAULT(column)``; empty for other calls."""
    if str(call.this).upper() != "DEFAULT" or len(call.expressions) != 1:
        return ""
    return str(call.expressions[0].name).lower()


_WORDS = frozenset({exp.Var, exp.Identifier})


def _is_default_word(word: exp.Expr) -> bool:
    return str(word.this).upper() == "DEFAULT"


def assigned_value(node: exp.Expr, column: ColumnInfo, scope: Scope, *, casts: bool = False) -> Value:
    """Return the canonical value that an assignment gives a column.

    :param casts: whether the value is cast to the type of the column first.
    :raises ScenarioError: for a value that does not fit, or NULL for a NOT NULL column.
    """
    if is_default(node, column):
        return default_value(column, scope)
    given = evaluate(node, scope)
    if is_binary_string(column):
        given = encoded(node, given, scope)
    if casts:
        given = cast_to_column(column, given, scope.mode)
    return stored_value(given, column, scope)


def is_binary_string(column: ColumnInfo) -> bool:
    """Return whether a column has bytes, so that a text is stored in its own charset."""
    return column.binary and column.type in STRINGS | LOBS


def stored_value(given: SQLValue, column: ColumnInfo, scope: Scope) -> Value:
    """Return the canonical value that a column gets for a value.

    :raises ScenarioError: for a value that does not fit, or NULL for a NOT NULL column.
    """
    value = coerce(column, given, scope.mode)
    if value is None and not column.nullable and not (column.auto_increment or column.auto_random):
        if scope.lenient_nulls:
            scope.filled_null = True
            return column.zero
        raise null_error(column)
    return value


def default_value(column: ColumnInfo, scope: Scope) -> Value:
    """Return the value of a column that a statement does not assign.

    :raises ScenarioError: in strict mode, for a NOT NULL column without DEFAULT.
    """
    mode = scope.mode
    if column.default_expression == "CURRENT_TIMESTAMP":
        return now_value(column, mode)
    if column.default_expression:
        # A copy, because TiDB begins the series of RAND(seed) with each row.
        expression = expression_of(column.default_expression).copy()
        return coerce(column, evaluate(expression, Scope(mode, context=scope.context)), mode)
    if column.has_default:
        return column.default
    check_default(column, mode)
    if column.auto_increment or column.auto_random or column.generated:
        return None
    if column.nullable:
        return None  # also after DROP DEFAULT: getColDefaultValueFromNil
    return b"1" if column.type == T.ENUM else column.zero  # the implicit default of ENUM is the first member


def check_default(column: ColumnInfo, mode: SQLMode) -> None:
    """Check that a column has a default. An ENUM has one even in strict mode.

    Source: tidb ``CheckNoDefaultValueForInsert``.

    :raises ScenarioError: in strict mode, for a NOT NULL column without DEFAULT.
    """
    if column.has_default or column.default_expression or (column.nullable and not column.default_dropped):
        return
    if column.auto_increment or column.auto_random or column.generated or column.type == T.ENUM:
        return
    if mode.strict:
        raise ScenarioError(f"Field {column.name!r} doesn't have a default value", column=column.name)


def value_before_assignment(column: ColumnInfo, scope: Scope) -> Value:
    """Return what an expression of VALUES reads of a column that has no value yet.

    It is the default, and the zero value of a column that is NOT NULL without one, also in strict mode.
    Source: tidb ``InsertValues.setValueForRefColumn``.
    """
    if column.generated or column.auto_increment or column.auto_random:
        return None if column.nullable else column.zero
    try:
        return default_value(column, scope)
    except ScenarioError:
        return column.zero


def now_value(column: ColumnInfo, mode: SQLMode) -> Value:
    """Return CURRENT_TIMESTAMP in the column's precision."""
    moment = datetime_from_python(mode.now.astimezone(mode.zone), max(column.decimal, 0))
    return coerce(column, moment, mode)


def null_error(column: ColumnInfo) -> ScenarioError:
    return ScenarioError(f"Column {column.name!r} cannot be null", column=column.name, value="NULL")


def generated_error(column: ColumnInfo, table: TableInfo, hint: str = "") -> ScenarioError:
    what = f"The value specified for generated column {column.name!r} in table {table.name!r} is not allowed"
    return ScenarioError(what, column=column.name, hint=hint)


def checked_assignments(assignments: Iterable[exp.Expr], scope: Scope) -> list[Assignment]:
    """Return assignments after a check, before any row is changed.

    :raises ScenarioError: for an expression that is not an assignment, or an unknown column.
    """
    checked = []
    for assignment in assignments:
        target = assignment.this
        if not isinstance(assignment, exp.EQ) or not isinstance(target, exp.Column):
            raise ScenarioError(
                f"SQL does not parse: {assignment.sql(dialect='mysql')[:80]!r} is not an assignment"
            )
        name = column_name(target)
        column = scope.column(*name)
        if column.generated and scope.table is not None and not is_default(assignment.expression, column):
            raise generated_error(column, scope.table)
        if not is_default(assignment.expression, column):
            check_expression(assignment.expression, scope)
        checked.append(Assignment(scope.offset(*name), column, assignment.expression))
    return checked


def assign_at_once(assignments: Iterable[Assignment], scope: Scope, *, casts: bool) -> set[int]:
    """Apply assignments of UPDATE to the scope's row; all of them use the original values.

    MySQL's assignments use the values that earlier ones set. TiDB's do not; if a column is assigned twice,
    the last assignment counts. Source: tidb ``UpdateExec.composeNewRow``.

    :param casts: whether the rows are found by a unique key, see :mod:`.point_update`.
    :return: the offsets that were assigned.
    """
    values = {
        offset: assigned_value(expression, column, scope, casts=casts)
        for offset, column, expression in assignments
    }
    for offset, value in values.items():
        scope.row[offset] = value
    return set(values)


def assign_in_order(assignments: Iterable[Assignment], scope: Scope) -> set[int]:
    """Apply assignments of ON DUPLICATE KEY UPDATE; each uses the values that earlier ones set.

    Source: tidb ``InsertExec.doDupRowUpdate``.

    :return: the offsets that were assigned.
    """
    offsets = set()
    for offset, column, expression in assignments:
        scope.row[offset] = assigned_value(expression, column, scope)
        offsets.add(offset)
    return offsets


def is_changed(before: tuple[Value, ...], scope: Scope) -> bool:
    """Return whether assignments changed the row of a scope, so that TiDB writes it.

    A NULL that became the value of a NOT NULL column is a change, whatever the column held before. The error
    value of an ENUM equals its member ``''``. Source: tidb ``updateRecord``, ``Datum.compareMysqlEnum``.
    """
    if tuple(scope.row) == before:
        return scope.filled_null
    if scope.filled_null or scope.table is None:
        return True
    changes = zip(scope.table.columns, before, scope.row, strict=True)
    return not all(old == new or _are_empty_members(column, old, new) for column, old, new in changes)


def _are_empty_members(column: ColumnInfo, *values: Value) -> bool:
    if column.type != T.ENUM:
        return False
    numbers = [-1 if value is None else int(value) for value in values]
    return all(number == 0 or (number > 0 and not column.elements[number - 1]) for number in numbers)


def touch_updated_columns(before: tuple[Value, ...], scope: Scope, assigned: set[int]) -> None:
    """Set the columns that were not assigned and that TiDB sets, if the row changed.

    These are the columns with ON UPDATE CURRENT_TIMESTAMP, and the origin of an active-active row, which this
    cluster writes now.
    """
    if scope.table is None or not (scope.table.updated_by_clock or scope.table.active_active):
        return
    if not is_changed(before, scope):
        return
    if scope.table.active_active and (origin := scope.table.internal_offsets[ORIGIN_TS]) not in assigned:
        scope.row[origin] = None
    for offset in scope.table.updated_by_clock:
        if offset not in assigned:
            scope.row[offset] = now_value(scope.table.columns[offset], scope.mode)
