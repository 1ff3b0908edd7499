"""CREATE and DROP VIEW. TiCDC sends the DDL; a view has no rows of its own."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.ddl_action import Action
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext, quoted
from ticdc_producer.scenario.sql.ddl.view_columns import view_columns
from ticdc_producer.scenario.sql.syntax.statement import CreateView, DropObjects


def create_view(node: CreateView, context: DDLContext) -> None:
    """``CREATE [OR REPLACE] VIEW``. Only the SELECT's column names are read, since a view sends no rows."""
    schema, name = node.view.within(context.database)
    database = context.cluster.database(schema)
    if database.holds(name) and not (node.replacing and name.lower() in database.views):
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    query = node.query
    view = TableInfo(
        schema=database.name,
        name=name,
        table_id=context.cluster.ids.take(),
        columns=view_columns(node.columns, query.text, query.line, context.cluster, context.database),
        is_view=True,
    )
    database.views[name.lower()] = view = context.cluster.new_version(view)
    context.job(Action.CREATE_VIEW, after=view)


def drop_views(node: DropObjects, context: DDLContext) -> None:
    """One job per view; TiDB rebuilds its query."""
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
            query = f"DROP VIEW {quoted(view.schema, view.name)}"
            context.job(Action.DROP_VIEW, before=view, query=query)
