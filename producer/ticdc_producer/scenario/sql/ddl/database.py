"""CREATE, ALTER and DROP DATABASE."""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.foreign_keys import check_dropped
from ticdc_producer.scenario.sql.definition.charset import charset_of_options
from ticdc_producer.scenario.sql.store import cluster
from ticdc_producer.scenario.sql.syntax.statement import DatabaseStatement
from ticdc_producer.scenario.sql.syntax.table_option import TableOption

_SERVER_CHARSET = ("utf8mb4", "utf8mb4_bin")


def run_database(node: DatabaseStatement, context: DDLContext) -> None:
    """Run CREATE, ALTER or DROP DATABASE."""
    match node.verb:
        case "CREATE":
            _create(node, context)
        case "ALTER":
            _alter(node, context)
        case "DROP":
            _drop(node, context)


def _create(node: DatabaseStatement, context: DDLContext) -> None:
    name = node.name
    charset, collation = _new_charset(node.options)
    if name.lower() in context.cluster.databases:
        if node.conditional:
            return
        raise ScenarioError(f"Can't create database {name!r}; database exists", value=name)
    if name.endswith(" "):
        raise ScenarioError(f"Incorrect database name {name!r}", value=name)
    context.cluster.ids.take()
    charset, collation = (charset, collation) if charset else _SERVER_CHARSET
    context.cluster.databases[name.lower()] = cluster.Database(name, charset, collation)
    context.job(Action.CREATE_SCHEMA, schema=name)


def _alter(node: DatabaseStatement, context: DDLContext) -> None:
    """Change the database's charset, which new tables get; existing tables keep theirs."""
    database = context.cluster.database(node.name or context.database)
    charset, collation = charset_of_options(node.options)
    if any(option.kind == "PLACEMENT POLICY" for option in node.options):
        context.job(Action.MODIFY_SCHEMA_PLACEMENT, schema=database.name)
    if charset:
        database.charset, database.collation = charset, collation
        context.job(Action.MODIFY_SCHEMA_CHARSET, schema=database.name)


def _drop(node: DatabaseStatement, context: DDLContext) -> None:
    name = node.name
    if node.conditional and name.lower() not in context.cluster.databases:
        return
    database = context.cluster.database(name)
    check_dropped(context, list(database.tables.values()))
    del context.cluster.databases[name.lower()]
    if context.database.lower() == name.lower():
        context.database = ""
    context.job(Action.DROP_SCHEMA, schema=database.name)


def _new_charset(options: Iterable[TableOption]) -> tuple[str, str]:
    """Return the charset and the collation of a new database: the last ones of the options.

    Source: tidb ``CreateSchema``, ``ResolveCharsetCollation``.
    """
    last = {option.kind: option for option in options}
    return charset_of_options([last[kind] for kind in ("CHARSET", "COLLATE") if kind in last])
