"""The rows of INSERT and REPLACE, and the checks of a statement before any of them is computed.

Rules: tidb ``pkg/planner/core/planbuilder.go`` (``buildInsert``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.dml.assign import (
    Assignment,
    check_default,
    checked_assignments,
    defaults_in,
    generated_error,
    is_binary_string,
    is_default,
)
from ticdc_producer.scenario.sql.dml.literal_rows import LiteralRows
from ticdc_producer.scenario.sql.dml.stored_rows import Cell, InsertColumns
from ticdc_producer.scenario.sql.expression.collation import encoded_in
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.expression.evaluate import check_expression
from ticdc_producer.scenario.sql.expression.function_call import column_name
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext, row_items
from ticdc_producer.scenario.sql.query.plan import QueryPlan, QueryRow, column_value
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope
from ticdc_producer.scenario.sql.query.select import SelectPlan
from ticdc_producer.scenario.sql.query.source import Field


class InsertPlan:
    """A checked INSERT or REPLACE into one version of a table.

    :ivar columns: the columns that its rows assign.
    :ivar no_columns: those of an empty row, which is a row of defaults.
    :ivar updates: the assignments of ON DUPLICATE KEY UPDATE.
    :ivar read_before: the columns that expressions may read before they have a value.
    """

    def __init__(self, tree: exp.Insert, verb: str, table: TableInfo, context: StatementContext) -> None:
        self._tree, self._verb, self._table = tree, verb, table
        rows = tree.expression
        aliased = isinstance(rows, exp.Values) and rows.args.get("alias")
        if aliased or tree.args.get("alias") or tree.this.args.get("alias"):
            hint = "TiDB has none; VALUES(column) is the value of the new row"
            raise UnsupportedSQL("a row alias in INSERT is not supported", hint=hint)
        offsets = _assigned_offsets(tree, table, context)
        self.columns, self.no_columns = InsertColumns.of(table, offsets), InsertColumns.of(table, [])
        self.updates: list[exp.Expr] = []
        self.read_before: list[tuple[int, ColumnInfo]] = []
        self._tuples: list[list[Cell]] | None = None
        self._assignments: list[Assignment] | None = None
        self._defaults: dict[str, ColumnInfo] = {}
        self._is_checked = False

    def source(self, context: StatementContext) -> InsertSource:
        """Return the rows of a statement.

        :raises ScenarioError: for a wrong column count of a SELECT, and one for a generated column.
        """
        rows = self._tree.expression
        if isinstance(rows, LiteralRows):
            return InsertSource(rows.args["rows"], is_values=not rows.args.get("of_file"))
        if not isinstance(rows, exp.Values):
            return _selected(rows, self._table, self.columns, context)
        if self._tuples is None:
            self._tuples = [list(row_items(row)) for row in rows.expressions]
        return InsertSource(self._tuples, is_values=True)

    def check(self, source: InsertSource, context: StatementContext) -> None:
        """Check the rows, and the syntax of ON DUPLICATE KEY UPDATE.

        Source: tidb ``buildValuesListOfInsert``.

        :raises ScenarioError: for wrong column counts, a value for a generated column, DEFAULT of a column
            without one, an expression that is not supported, or an unknown column.
        """
        if self._is_checked:
            for column in self._defaults.values():
                check_default(column, context.mode)  # the session may have another sql_mode now
            return
        scope = Scope(context.mode, self._table, context=context, outer=source.scope)
        all_empty = bool(source.tuples) and not source.tuples[0] and not self._tree.this.expressions
        count = 0 if all_empty else len(self.columns.assigned)
        named: set[str] = set()
        for number, row in enumerate(source.tuples, start=1):
            if len(row) != count:
                raise _count_error(number, count, len(row))
            for cell, (_, column) in zip(row, self.columns.assigned, strict=False):
                if isinstance(cell, exp.Expr) and is_default(cell, column):
                    check_default(column, context.mode)
                    self._defaults[column.name] = column
                elif isinstance(cell, exp.Expr):
                    named |= _checked_names(cell, column, scope, self._table, context)
                elif column.generated:
                    raise generated_error(column, self._table, _WITHOUT_GENERATED)
        self.read_before = self.columns.read_before(named)
        self.updates = [*filter(self._changes_row, _on_duplicate(self._tree, self._verb))]
        self._is_checked = True

    def check_names(self, context: StatementContext) -> None:
        """Check a statement that is not run."""
        rows = self._tree.expression
        if isinstance(rows, exp.Values | LiteralRows):
            source = self.source(context)
        else:
            plan = _select_plan(rows, self._table, self.columns, context)
            source = InsertSource((), plan.scope if isinstance(plan, SelectPlan) else None)
        self.check(source, context)
        self.assignments(Scope(context.mode, self._table, context=context, outer=source.scope))

    def _changes_row(self, assignment: exp.Expr) -> bool:
        """Return whether an assignment is more than the DEFAULT of a generated column.

        Without any other, ON DUPLICATE KEY UPDATE has no effect in TiDB.
        """
        name = assignment.this.name.lower() if isinstance(assignment, exp.EQ) else ""
        return not any(
            column.generated and column.name.lower() == name and is_default(assignment.expression, column)
            for column in self._table.columns
        )

    def assignments(self, scope: Scope) -> list[Assignment]:
        """Return the checked assignments of ON DUPLICATE KEY UPDATE."""
        if self._assignments is None:
            self._assignments = checked_assignments(self.updates, scope)
            for assignment in self._assignments:
                _check_ambiguous(assignment.expression, scope)
                _check_values(assignment.expression, scope)
        return self._assignments


@dataclass(frozen=True, slots=True)
class InsertSource:
    """The rows of an INSERT.

    :param scope: the names of a SELECT, which ON DUPLICATE KEY UPDATE can use; None if it has none.
    :param combinations: per row, the rows of the sources that the SELECT computed it from.
    :param is_values: whether they are in the statement, and not those of a SELECT or a file.
    """

    tuples: Sequence[Sequence[Cell]]
    scope: QueryScope | None = None
    combinations: Sequence[Combination] = ()
    is_values: bool = False

    def scope_of(self, number: int, scope: Scope) -> Scope:
        """Return the scope of ON DUPLICATE KEY UPDATE for a row."""
        if self.scope is not None:
            self.scope.combination = self.combinations[number]
        return scope


def _check_values(expression: exp.Expr, scope: Scope) -> None:
    """Check that the table has the columns of ``VALUES(column)``, whether or not a key is a duplicate.

    :raises ScenarioError: if it lacks one.
    """
    for node in expression.find_all(exp.Anonymous):
        if node.name.upper() == "VALUES":
            scope.offset(node.expressions[0].name)


def _check_ambiguous(expression: exp.Expr, scope: Scope) -> None:
    """Check that no column of ON DUPLICATE KEY UPDATE is one of the table and of the SELECT.

    :raises ScenarioError: for a column of both.
    """
    if not isinstance(scope.outer, QueryScope):
        return
    for node in expression.find_all(exp.Column):
        name = column_name(node)
        is_value = isinstance(node.parent, exp.Anonymous) and node.parent.name.upper() == "VALUES"
        if not is_value and scope.has_column(*name) and scope.outer.names.find(*name) is not None:
            raise ScenarioError(f"Column {node.sql()!r} in field list is ambiguous", column=name[0])


def _assigned_offsets(tree: exp.Insert, table: TableInfo, context: StatementContext) -> list[int]:
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    scope = Scope(context.mode, table)
    visible = [offset for offset, column in enumerate(table.columns) if not column.hidden]
    for name in named:
        _check_qualifiers(name, table)
    offsets = [scope.offset(name.name) for name in named] or visible
    if len(set(offsets)) < len(offsets):
        twice = next(name.name for name in named if offsets.count(scope.offset(name.name)) > 1)
        raise ScenarioError(f"Column {twice!r} specified twice", column=twice)
    return offsets


def _check_qualifiers(name: exp.Expr, table: TableInfo) -> None:
    """Check the names of table and database before the name of a column.

    :raises ScenarioError: if they are not those of the table.
    """
    own = {"table": table.name, "db": table.schema}
    if any(name.text(part) and name.text(part).lower() != own[part].lower() for part in own):
        written = ".".join(part.name for part in (name.parts if isinstance(name, exp.Column) else [name]))
        raise ScenarioError(f"Unknown column {written!r} in 'field list'", column=name.name)


def _select_plan(
    tree: exp.Expr, table: TableInfo, columns: InsertColumns, context: StatementContext
) -> QueryPlan:
    """Return a SELECT that gives the columns. Source: tidb ``buildSelectPlanOfInsert``."""
    plan, count = context.plan(tree, None), len(columns.assigned)
    if len(plan.fields) != count:
        raise _count_error(1, count, len(plan.fields))
    for _, column in columns.assigned:
        if column.generated:
            raise generated_error(column, table, _WITHOUT_GENERATED)
    return plan


def _selected(
    tree: exp.Expr, table: TableInfo, columns: InsertColumns, context: StatementContext
) -> InsertSource:
    """Return the rows of a SELECT."""
    plan = _select_plan(tree, table, columns, context)
    collations = [
        field.collation if is_binary_string(column) else ""
        for field, (_, column) in zip(plan.fields, columns.assigned, strict=True)
    ]
    if not isinstance(plan, SelectPlan):
        return InsertSource(_encoded(plan.rows(None), collations, plan.fields))
    rows = plan.selected(None)
    values = _encoded([row.values for row in rows], collations, plan.fields)
    return InsertSource(values, plan.scope, [row.combination for row in rows])


def _encoded(
    rows: Sequence[QueryRow], collations: Sequence[str], fields: Sequence[Field]
) -> Sequence[QueryRow]:
    """Return rows with the texts of binary columns in their charsets.

    :param collations: per column, that of its texts; empty unless the column is binary.
    :param fields: the columns of the query.
    """
    if any(field.type.kind is EvalType.BYTES for field in fields):
        rows = [[column_value(value) for value in row] for row in rows]
    if not any(collations):
        return rows
    return [[*map(encoded_in, collations, row)] for row in rows]


def _count_error(row: int, columns: int, values: int) -> ScenarioError:
    return ScenarioError(
        f"Column count doesn't match value count at row {row}: columns {columns}, values {values}"
    )


_WITHOUT_GENERATED = (
    "leave the column out; mariadb-dump has no option for that, but mydumper and mysqldump do it"
)


def _checked_names(
    cell: exp.Expr, column: ColumnInfo, scope: Scope, table: TableInfo, context: StatementContext
) -> set[str]:
    """Check an expression of VALUES, and return the columns in it in lower case.

    Source: tidb ``getInsertColExpr``.

    :raises ScenarioError: for one that is not supported, an unknown column, and a generated column.
    """
    check_expression(cell, scope)
    _check_subqueries(cell, context)
    _check_arguments(cell, table)
    if column.generated:
        raise generated_error(column, table, _WITHOUT_GENERATED)
    return {node.name.lower() for node in cell.find_all(exp.Column)}


def _check_subqueries(cell: exp.Expr, context: StatementContext) -> None:
    """Check that an expression of VALUES needs no join with its subqueries.

    Source: tidb ``getInsertColExpr``.

    :raises ScenarioError: if it needs one.
    """
    if context.needs_join(cell):
        what = "Insert's SET operation or VALUES_LIST doesn't support complex subqueries now"
        raise ScenarioError(what, hint="INSERT … SELECT can use such subqueries")


def _check_arguments(cell: exp.Expr, table: TableInfo) -> None:
    """Check that an expression of VALUES has no ``DEFAULT(column)`` of a generated column.

    :raises ScenarioError: if it has one.
    """
    names = defaults_in(cell)
    for column in table.columns if names else ():
        if column.generated and column.name.lower() in names:
            raise generated_error(column, table)


def _on_duplicate(tree: exp.Insert, verb: str) -> list[exp.Expr]:
    conflict = tree.args.get("conflict")
    if conflict is None:
        return []
    if verb == "REPLACE" or not conflict.args.get("duplicate"):
        raise ScenarioError("SQL does not parse: ON DUPLICATE KEY UPDATE does not belong here")
    return list(conflict.expressions)
