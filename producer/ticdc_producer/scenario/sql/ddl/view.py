"""CREATE and DROP VIEW. TiCDC sends the DDL; a view has no rows of its own."""

from __future__ import annotations

import re

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.ddl_action import Action
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl.context import DDLContext, if_exists, quoted
from ticdc_producer.scenario.sql.ddl.view_columns import view_columns

_CHECK_OPTION = re.compile(r"\s+WITH\s+(?:(?:CASCADED|LOCAL)\s+)?CHECK\s+OPTION\s*\Z", re.IGNORECASE)
"""The clause behind the query of a view; TiDB reads and ignores it."""


def create_view(cursor: Cursor, context: DDLContext) -> None:
    """``CREATE [OR REPLACE] VIEW``. Only the SELECT's column names are read, since a view sends no rows."""
    replacing = any(cursor.statement.word(offset) == "REPLACE" for offset in range(3))
    cursor.position = _after_word_view(cursor)
    schema, name = cursor.qualified_name(context.database)
    database = context.cluster.database(schema)
    if database.holds(name) and not (replacing and name.lower() in database.views):
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    names, query = _read_definition(cursor)
    view = TableInfo(
        schema=database.name,
        name=name,
        table_id=context.cluster.ids.take(),
        columns=view_columns(names, query, cursor.line, context.cluster, context.database),
        is_view=True,
    )
    database.views[name.lower()] = view = context.cluster.new_version(view)
    context.job(cursor, Action.CREATE_VIEW, after=view)


def _read_definition(cursor: Cursor) -> tuple[tuple[str, ...], str]:
    """``[(columns)] AS query``: the listed columns, and the text of the query."""
    names = cursor.column_names() if cursor.word() == "(" else ()
    cursor.expect("AS")
    if cursor.word() not in ("SELECT", "WITH", "TABLE", "VALUES", "("):
        raise cursor.error("expected SELECT")
    return names, _CHECK_OPTION.sub("", cursor.rest())


def _after_word_view(cursor: Cursor) -> int:
    """The position after the word VIEW, which may follow ALGORITHM, DEFINER and SQL SECURITY."""
    for position in range(len(cursor.statement.tokens)):
        if cursor.statement.word(position) == "VIEW":
            return position + 1
    raise cursor.error("expected VIEW")


def drop_view(cursor: Cursor, context: DDLContext) -> None:
    """One job per view; TiDB rebuilds its query."""
    lenient = if_exists(cursor)
    names = [cursor.qualified_name(context.database)]
    while cursor.accept(","):
        names.append(cursor.qualified_name(context.database))
    cursor.accept_any("RESTRICT", "CASCADE")
    cursor.end()
    views = [
        (schema, name, context.cluster.database(schema).views.get(name.lower())) for schema, name in names
    ]
    for schema, name, view in views:
        if view is None and context.cluster.database(schema).holds(name):
            raise ScenarioError(f"'{schema}.{name}' is not VIEW", value=f"{schema}.{name}")
        if view is None and not lenient:
            raise ScenarioError(f"Unknown table '{schema}.{name}'", value=f"{schema}.{name}")
    for schema, name, view in views:
        if view is not None:
            del context.cluster.database(schema).views[name.lower()]
            query = f"DROP VIEW {quoted(view.schema, view.name)}"
            context.job(cursor, Action.DROP_VIEW, before=view, query=query)
