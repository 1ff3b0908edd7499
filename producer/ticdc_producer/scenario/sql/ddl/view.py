"""CREATE, DROP and RENAME of views. TiCDC sends the DDL; a view has no rows, and its columns only have names.

Source: tidb ``pkg/ddl/executor.go`` (``CreateView``, ``buildViewInfo``): columns without a type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext, quoted
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import PlanningContext
from ticdc_producer.scenario.sql.query.plan import QueryPlan
from ticdc_producer.scenario.sql.query.select import SelectPlan
from ticdc_producer.scenario.sql.restore.view_query import stored_query
from ticdc_producer.scenario.sql.session.session_settings import SessionValues
from ticdc_producer.scenario.sql.store.cluster import TiDBCluster
from ticdc_producer.scenario.sql.syntax.statement import DropObjects
from ticdc_producer.scenario.sql.syntax.view import CreateView
from ticdc_producer.scenario.sql.text.clause import is_star
from ticdc_producer.scenario.sql.text.cursor import SourceText
from ticdc_producer.scenario.sql.text.parse import parse_dml


def create_view(node: CreateView, context: DDLContext) -> None:
    """Run ``CREATE [OR REPLACE] VIEW``.

    The view sends no rows; statements can select from it.

    :raises ScenarioError: for a query that TiDB rejects, such as one of columns that do not exist.
    """
    schema, name = node.view.within(context.database)
    database = context.cluster.database(schema)
    if database.holds(name) and not (node.replacing and name.lower() in database.views):
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    query, selected = node.query, _checked_query(node, context)
    view = TableInfo(
        schema=database.name,
        name=name,
        table_id=context.cluster.ids.take(),
        columns=_view_columns(node, selected, context),
        is_view=True,
    )
    database.views[name.lower()] = view = context.cluster.new_version(view)
    database.view_queries.pop(name.lower(), None)
    if selected is not None:
        database.view_queries[name.lower()] = selected
    context.job(Action.CREATE_VIEW, after=view, query=_replaced_query(query, database.name, context))


def _replaced_query(query: SourceText, schema: str, context: DDLContext) -> str:
    """Return the text of CREATE VIEW with TiDB's SELECT, where TiCDC new architecture sends it; else empty.

    :param schema: the database of the view.
    """
    cluster, statement = context.cluster, query.statement
    if cluster.profile != "new":
        return ""

    def columns(schema: str, name: str) -> list[str] | None:
        known = cluster.databases.get(schema.lower())
        table = None if known is None else known.tables.get(name.lower())
        return None if table is None else [column.name for column in table.info.columns if not column.hidden]

    stored = stored_query(query, context.database, schema, columns)
    if stored is None:
        return ""
    first, last = statement.tokens[query.start], statement.tokens[query.end - 1]
    return f"{statement.text[: first.start]}{stored}{statement.text[last.end + 1 :]}"


def _checked_query(node: CreateView, context: DDLContext) -> exp.Expr | None:
    """Return the checked query of a view, with columns in place of ``*``; None if this tool cannot run it."""
    try:
        _, tree = parse_dml(node.query.text, node.query.line)
    except ScenarioError:
        return None
    for table in [*tree.find_all(exp.Table)]:
        if not table.db and not _is_common(table):
            table.set("db", exp.to_identifier(context.database, quoted=True))

    replaced = [part.lower() for part in node.view.within(context.database)]

    def find_view(table: exp.Table) -> tuple[TableInfo, exp.Expr] | None:
        if [table.db.lower(), table.name.lower()] == replaced:  # tidb `BuildDataSourceFromView`: no recursion
            return None
        return context.cluster.view(table.db, table.name)

    try:
        find = context.cluster.table  # the tables of the query have their databases
        plan = _ViewContext(context.mode, find, SessionValues(), find_view=find_view).plan(tree, None)
    except UnsupportedSQL:
        return None
    if node.columns and len(node.columns) != len(plan.fields):
        raise ScenarioError("View's SELECT and view's field list have different column counts")
    return tree


def _is_common(table: exp.Table) -> bool:
    """Return whether a name is that of a common table: of one before, or of its own if RECURSIVE."""
    child: exp.Expr = table
    while (parent := child.parent) is not None:
        if isinstance(parent, exp.With):
            position = parent.expressions.index(child) + bool(parent.args.get("recursive"))
            visible = parent.expressions[:position]
        else:
            with_ = parent.args.get("with_")
            visible = [] if with_ is None or with_ is child else with_.expressions
        if table.name.lower() in {common.alias.lower() for common in visible}:
            return True
        child = parent
    return False


class _ViewContext(PlanningContext):
    """The context of a view's query, whose plans have columns in place of each ``*``."""

    def _planned(self, node: exp.Expr, outer: Scope | None) -> QueryPlan:
        plan = super()._planned(node, outer)
        if isinstance(plan, SelectPlan):
            plan.unfold()
        return plan

    def check(self, node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
        if isinstance(node, exp.Parameter | exp.SessionParameter | exp.PropertyEQ):
            raise ScenarioError("View's SELECT contains a variable or parameter")
        return super().check(node, scope)


def drop_views(node: DropObjects, context: DDLContext) -> None:
    """Run DROP VIEW, which has one job per view; TiDB rebuilds its query."""
    names = [name.within(context.database) for name in node.names]
    views = [
        (schema, name, context.cluster.database(schema).views.get(name.lower())) for schema, name in names
    ]
    for schema, name, view in views:
        if view is None and context.cluster.database(schema).holds(name):
            raise ScenarioError(f"'{schema}.{name}' is not VIEW", value=f"{schema}.{name}")
        if view is None and not node.if_exists:
            raise ScenarioError(f"Unknown table '{schema}.{name}'", value=f"{schema}.{name}")
    for schema, name, view in views:
        if view is not None:
            del context.cluster.database(schema).views[name.lower()]
            context.cluster.database(schema).view_queries.pop(name.lower(), None)
            query = f"DROP VIEW {quoted(view.schema, view.name)}"
            context.job(Action.DROP_VIEW, before=view, query=query)


def rename_view(cluster: TiDBCluster, view: TableInfo, target: tuple[str, str]) -> TableInfo:
    """Give a view another name in its database. Source: tidb ``ExtractTblInfos``.

    :param target: the new schema and name.
    :raises ScenarioError: for another schema, or if a table has the new name already.
    """
    if target[0].lower() != view.schema.lower():
        what = f"Changing schema from {view.schema!r} to {target[0]!r} is not allowed."
        raise ScenarioError(what, value=".".join(target))
    after = cluster.renamed(view, target)
    database, old, new = cluster.database(view.schema), view.name.lower(), target[1].lower()
    database.views[new] = after
    del database.views[old]
    if old in database.view_queries:
        database.view_queries[new] = database.view_queries.pop(old)
    return after


def _view_columns(node: CreateView, query: exp.Expr | None, context: DDLContext) -> tuple[ColumnInfo, ...]:
    """Return the columns of a view; empty if this tool cannot parse its SELECT.

    :param query: the checked SELECT; None if this tool cannot run it.
    """
    names, line = node.columns, node.query.line
    selected = [] if names else [*_selected_names(node.query, query, context.cluster, context.database)]
    given = [name.lower() for name in names] or [name.lower() for name, is_given in selected if is_given]
    for name in given:
        if given.count(name) > 1:
            raise ScenarioError(f"Duplicate column name {name!r}", line=line, column=name)
    column_names = names or tuple(name for name, _ in selected)
    return tuple(ColumnInfo(name=name, type=MySQLType.UNSPECIFIED) for name in column_names)


def _selected_names(
    query: SourceText, tree: exp.Expr | None, cluster: TiDBCluster, database: str
) -> Iterator[tuple[str, bool]]:
    """Yield the names of the columns, and whether each is that of a column or an alias.

    TiDB changes other names that are not unique.

    :param tree: the checked query; None if this tool cannot run it.
    :param database: the current database.
    """
    try:
        if tree is None:
            _, tree = parse_dml(query.text, query.line)
    except ScenarioError:
        return
    while isinstance(tree, exp.Union | exp.Subquery):  # the first SELECT names the columns
        tree = tree.this
    if not isinstance(tree, exp.Select):
        return
    for node in tree.expressions:
        if is_star(node):
            yield from ((name, True) for name in _star_names(tree, node.text("table"), cluster, database))
        else:
            is_given = isinstance(node, exp.Alias | exp.Column)
            yield node.alias_or_name or query.text[slice(*_span(node))], is_given


def _star_names(select: exp.Select, qualifier: str, cluster: TiDBCluster, database: str) -> Iterator[str]:
    """Yield the column names that ``*`` or ``table.*`` means.

    :param qualifier: the table or alias; empty for ``*``.
    """
    for source in select.find_all(exp.Table):
        if qualifier and source.alias_or_name.lower() != qualifier.lower():
            continue
        table = cluster.find(source.db or database, source.name)
        if table is not None:
            yield from (column.name for column in table.info.columns if not column.hidden)


def _span(node: exp.Expr) -> tuple[int, int]:
    """Return the start and end of an expression in the text, by the positions of its parts.

    It is 0, 0 if no part has a position.
    """
    positions = [part.meta for part in node.walk() if "start" in part.meta]
    if not positions:
        return 0, 0
    return min(meta["start"] for meta in positions), max(meta["end"] for meta in positions) + 1
