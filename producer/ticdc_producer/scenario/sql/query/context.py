"""The state that the queries of one statement share: its tables, its WITH, the session's values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.definition.partitioning import chosen_partitions
from ticdc_producer.scenario.sql.expression.eval_type import (
    EvalType,
    ExpressionType,
    kind_of_value,
)
from ticdc_producer.scenario.sql.expression.evaluate import evaluate, type_of
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.plan import QueryPlan, RenamedPlan
from ticdc_producer.scenario.sql.query.recursive import Iteration, RecursiveParts, RecursivePlan, is_recursive
from ticdc_producer.scenario.sql.query.select import SelectPlan
from ticdc_producer.scenario.sql.query.set_operation import SetPlan
from ticdc_producer.scenario.sql.query.source import QuerySource, Source, TableSource
from ticdc_producer.scenario.sql.query.subquery import Subqueries, has_join
from ticdc_producer.scenario.sql.query.user_variables import PlannedVariables, signed
from ticdc_producer.scenario.sql.session.session_settings import SessionValues
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.text.clause import (
    check_index_hints,
    named_table,
    partition_names,
    refuse_other_clauses,
)
from ticdc_producer.scenario.sql.text.dialect import ROW

View: TypeAlias = tuple[TableInfo, exp.Expr]
"""A view and its query."""


class StatementContext:
    """The context of one statement; see ``Context`` of the module ``scope``.

    :param find: finds the table of a database and a name; the database is empty for the current one.
    :param values: the session's variables.
    :param with_: the WITH clause of the statement, or of a query in it.
    :param around: the context of the statement, for a query with a WITH of its own.
    :param find_view: finds the view that a node names, and its query; None if it names none.
    :param outer: the scope of the statement around a query with a WITH of its own.
    :cvar computes_subqueries: see ``Subqueries``.
    """

    computes_subqueries = True

    def __init__(
        self,
        mode: SQLMode,
        find: Callable[[str, str], Table],
        values: SessionValues,
        with_: exp.Expr | None = None,
        around: StatementContext | None = None,
        find_view: Callable[[exp.Table], View | None] = lambda _: None,
        outer: Scope | None = None,
    ) -> None:
        self.mode, self.find, self.values = mode, find, values
        self.find_view: Callable[[exp.Table], View | None] = find_view if around is None else around.find_view
        self._plans: dict[int, QueryPlan] = {} if around is None else around._plans
        self._variables: PlannedVariables = PlannedVariables() if around is None else around._variables
        self._cached_subqueries: Subqueries | None = None
        self._common: Mapping[str, QueryPlan] = {} if around is None else around._common
        if with_ is not None:
            self._add_common(with_, outer)

    def _add_common(self, with_: exp.Expr, outer: Scope | None) -> None:
        recursive = with_.args.get("recursive")
        for table in with_.expressions:
            name = table.alias.lower()
            plan = self._recursive(table, outer) if recursive else self.plan(table.this, outer)
            if name in {other.alias.lower() for other in with_.expressions if other is not table}:
                raise ScenarioError(f"Not unique table/alias: {table.alias!r}", value=table.alias)
            self._common = {**self._common, name: _renamed(plan, table)}

    def _recursive(self, table: exp.Expr, outer: Scope | None) -> QueryPlan:
        """Return the query of a WITH RECURSIVE, which may read itself."""
        name = table.alias.lower()
        parts = RecursiveParts(table.this, name)
        if not parts.recursive:
            return self.plan(table.this, outer)
        inner = self._within(table.this, outer)
        around = inner._common

        def planned(part: exp.Expr, iteration: Iteration) -> QueryPlan:
            inner._common = {**around, name: iteration}
            try:
                return inner.plan(part, outer)
            finally:
                inner._common = around

        seed = _renamed(inner.plan(parts.seed, outer), table)
        is_inside = any(isinstance(common, Iteration) for common in around.values())
        return RecursivePlan(parts, seed, planned, self.mode, reads_iteration=is_inside)

    def _within(self, node: exp.Expr, outer: Scope | None) -> StatementContext:
        """Return the context of the parts of a query, which may have a WITH."""
        with_ = node.args.get("with_")
        if with_ is None:
            return self
        return type(self)(self.mode, self.find, self.values, with_, self, outer=outer)

    def _subqueries(self) -> Subqueries:
        """Return the object that evaluates subqueries.

        It is made when needed: a reference cycle with this object in each statement would cost time.
        """
        if self._cached_subqueries is None:
            self._cached_subqueries = Subqueries(self.plan, computes=self.computes_subqueries)
        return self._cached_subqueries

    def plan(self, node: exp.Expr, outer: Scope | None) -> QueryPlan:
        """Return the checked query of a node.

        :param outer: the scope of the statement around it.
        """
        plan = self._plans.get(id(node))
        if plan is None:
            plan = self._plans[id(node)] = self._planned(node, outer)
        return plan

    def _planned(self, node: exp.Expr, outer: Scope | None) -> QueryPlan:
        inner = self._within(node, outer)
        if isinstance(node, exp.Select):
            return SelectPlan(node, outer, inner, lambda source: inner.source(source, outer), self.mode)
        if isinstance(node, exp.Values):
            raise unknown_rows()
        if isinstance(node, exp.Subquery) and not any(
            node.args.get(part) for part in ("order", "limit", "offset")
        ):
            refuse_other_clauses(node, "a subquery", "this", "alias", "with_")
            return inner.plan(node.this, outer)
        if isinstance(node, exp.SetOperation | exp.Subquery):
            return SetPlan(node, outer, inner, inner.plan, self.mode)
        raise UnsupportedSQL(f"{node.key.upper()} is not supported as a query")

    def needs_join(self, node: exp.Expr) -> bool:
        """Return whether TiDB needs a join for the subqueries of a checked expression, not only their values.

        It needs one for IN, ANY, ALL, for a recursive WITH, and for any correlated subquery, also one inside
        of another. Source: tidb ``expressionRewriter.handleScalarSubquery``, ``hasCTEConsumerInSubPlan``.
        """
        plans = [self._plans.get(id(query)) for query in node.find_all(exp.Query)]
        return bool(plans) and (
            has_join(node)
            or any(plan is not None and plan.correlated for plan in plans)
            or any(map(is_recursive, node.find_all(exp.With)))
        )

    def source(self, node: exp.Expr, outer: Scope | None) -> Source:
        """Return the source that a node of FROM names or contains."""
        alias = node.args.get("alias")
        if isinstance(node, exp.Table) and not node.db:
            common = self._common.get(node.name.lower())
            if common is not None:
                refuse_other_clauses(node, "FROM", "this", "alias", "joins")
                return _query_source(common, node.alias_or_name)
        if isinstance(node, exp.Table) and (view := self.find_view(node)) is not None:
            info, query = view
            return _query_source(self._view(info, query), node.alias_or_name)
        if isinstance(node, exp.Table):
            table = self.find(*named_table(node))
            check_index_hints(node, table.info.indexes)
            partitions = chosen_partitions(table.info, partition_names(node))
            return TableSource(table, node.alias, self.mode, partitions)
        if not isinstance(node, exp.Subquery | exp.Values):
            raise UnsupportedSQL(f"{node.key.upper()} is not supported in FROM")
        if alias is None or not node.alias:
            raise ScenarioError("Every derived table must have its own alias")
        # The joins after a derived table in parentheses are those of the FROM around it.
        query = node.this if node.args.get("joins") else node
        return _query_source(_renamed(self.plan(query, outer), node), node.alias)

    def _view(self, info: TableInfo, query: exp.Expr) -> QueryPlan:
        """Return the query of a view.

        :raises ScenarioError: if its tables lack a column that they had.
        """
        names = [column.name for column in info.columns]
        try:
            plan = self.plan(query, None)
        except UnsupportedSQL:
            raise
        except ScenarioError as error:
            what = f"View '{info.schema}.{info.name}' references invalid table(s) or column(s) or function(s)"
            raise ScenarioError(what, value=info.name, hint=error.what) from error
        if len(names) != len(plan.fields):
            raise UnsupportedSQL(f"the view {info.name!r} is not supported: it has other columns now")
        return RenamedPlan(plan, names)

    def check(self, node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
        if isinstance(node, exp.Parameter | exp.SessionParameter):
            self._variable(node)
            return ()
        if isinstance(node, exp.PropertyEQ):
            if not isinstance(node.this, exp.Parameter):
                raise ScenarioError("SQL does not parse: := needs a user variable on its left")
            return (node.expression,)
        return self._subqueries().check(node, scope)

    def evaluate(self, node: exp.Expr, scope: Scope) -> SQLValue:
        if isinstance(node, exp.Parameter):
            return self._variables.read(node, self._variable(node), scope)
        if isinstance(node, exp.SessionParameter):
            return self._variable(node)
        if isinstance(node, exp.PropertyEQ):
            value, name = evaluate(node.expression, scope), node.this.name
            self._variables.note(node.this, self.values.variable(name), scope)
            # NULL leaves the variable as it is: builtinSetIntVarSig.
            return None if value is None else signed(self.values.assign(name, value))
        return self._subqueries().evaluate(node, scope)

    def collation(self, node: exp.Expr, scope: Scope) -> str:
        query = node.this if isinstance(node, exp.Any | exp.All) else node
        return "" if isinstance(node, exp.Exists) else self.plan(query, scope).fields[0].collation

    def type(self, node: exp.Expr, scope: Scope) -> ExpressionType:
        if isinstance(node, exp.Parameter | exp.SessionParameter):
            return ExpressionType(kind_of_value(self._variable(node)))
        if isinstance(node, exp.PropertyEQ):
            kind, digits = type_of(node.expression, scope)
            return ExpressionType(EvalType.INTEGER if kind is EvalType.UNSIGNED else kind, digits)
        if isinstance(node, exp.Exists | exp.Any | exp.All):
            return ExpressionType(EvalType.INTEGER)
        return self.plan(node, scope).fields[0].type

    def _variable(self, node: exp.Expr) -> SQLValue:
        if isinstance(node, exp.Parameter):
            return self.values.variable(node.name)
        return self.values.session_variable(node.name.lower(), str(node.args.get("kind") or ""), self.mode)

    @property
    def session(self) -> SessionValues:
        return self.values

    def note_generated(self, number: int) -> None:
        self.values.note_generated(number)

    def note_stored(self) -> None:
        """Note that the statement stored a new row."""
        self.values.note_stored()


class PlanningContext(StatementContext):
    """The context of a statement that is planned, but not run."""

    computes_subqueries = False


def row_items(row: exp.Expr) -> list[exp.Expr]:
    """Return the expressions of one row of VALUES: ``(1, 2)`` or, of one column, ``(1)``.

    :raises ScenarioError: for ``ROW(1, 2)``.
    """
    if not isinstance(row, exp.Tuple):
        return [row.this if isinstance(row, exp.Paren) else row]
    first = row.expressions[0] if len(row.expressions) == 1 else None
    is_call = isinstance(first, exp.Anonymous) and first.name.upper() == ROW
    if is_call or (first is not None and ROW in first.meta):
        raise unknown_rows()
    return row.expressions


def unknown_rows() -> ScenarioError:
    """Return TiDB's error for ``VALUES ROW(…)``, which its planner does not have."""
    return ScenarioError("Unknown table ''", hint="TiDB has no VALUES ROW: write SELECT … UNION ALL SELECT …")


def _renamed(plan: QueryPlan, node: exp.Expr) -> QueryPlan:
    """Return the query with the column names that its alias gives, after a check that they are unique."""
    alias = node.args.get("alias")
    names = [column.name for column in alias.args.get("columns") or ()] if alias is not None else []
    if names and len(names) != len(plan.fields):
        raise ScenarioError(
            "In definition of view, derived table or common table expression, SELECT list and column names"
            " list have different column counts"
        )
    lower_names = [name.lower() for name in names or (field.name for field in plan.fields)]
    for name in lower_names:
        if lower_names.count(name) > 1:
            raise ScenarioError(f"Duplicate column name {name!r}", column=name)
    return RenamedPlan(plan, names) if names else plan


def _query_source(plan: QueryPlan, name: str) -> Source:
    return QuerySource(
        name, plan.fields, plan.rows, correlated=plan.correlated, reads_iteration=plan.reads_iteration
    )
