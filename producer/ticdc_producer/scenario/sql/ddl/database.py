"""CREATE, ALTER and DROP DATABASE."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.ddl_action import Action
from ticdc_producer.scenario.sql.cluster import Database
from ticdc_producer.scenario.sql.column_definition import read_charset, read_collation
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl.context import DDLContext, if_exists, if_not_exists
from ticdc_producer.scenario.sql.ddl.foreign_keys import check_dropped
from ticdc_producer.scenario.sql.table_definition import table_charset_of

_SERVER_CHARSET = ("utf8mb4", "utf8mb4_bin")


def create_database(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_not_exists(cursor)
    name = cursor.identifier("a database name")
    charset, collation, _ = _read_options(cursor)
    if name.lower() in context.cluster.databases:
        if lenient:
            return
        raise ScenarioError(f"Can't create database {name!r}; database exists", value=name)
    context.cluster.ids.take()
    charset, collation = table_charset_of(charset, collation, _SERVER_CHARSET)
    context.cluster.databases[name.lower()] = Database(name, charset, collation)
    context.job(cursor, Action.CREATE_SCHEMA, schema=name)


def alter_database(cursor: Cursor, context: DDLContext) -> None:
    """Existing tables do not change their charset; new tables get the database's."""
    named = cursor.word() not in ("DEFAULT", "CHARSET", "CHARACTER", "COLLATE", "PLACEMENT", "ENCRYPTION")
    name = cursor.identifier("a database name") if named else context.database
    database = context.cluster.database(name)
    charset, collation, placement = _read_options(cursor)
    if placement:
        context.job(cursor, Action.MODIFY_SCHEMA_PLACEMENT, schema=database.name)
    if charset or collation:
        charset, collation = table_charset_of(charset, collation, (database.charset, database.collation))
        database.charset, database.collation = charset, collation
        context.job(cursor, Action.MODIFY_SCHEMA_CHARSET, schema=database.name)


def drop_database(cursor: Cursor, context: DDLContext) -> None:
    lenient = if_exists(cursor)
    name = cursor.identifier("a database name")
    cursor.end()
    if lenient and name.lower() not in context.cluster.databases:
        return
    database = context.cluster.database(name)
    check_dropped(context, list(database.tables.values()))
    del context.cluster.databases[name.lower()]
    if context.database.lower() == name.lower():
        context.database = ""
    context.job(cursor, Action.DROP_SCHEMA, schema=database.name)


def _read_options(cursor: Cursor) -> tuple[str, str, bool]:
    charset, collation, placement = "", "", False
    while not cursor.at_end:
        cursor.accept("DEFAULT")
        if cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
            cursor.accept("=")
            charset = read_charset(cursor)
        elif cursor.accept("COLLATE"):
            cursor.accept("=")
            collation = read_collation(cursor)
        elif cursor.accept("PLACEMENT", "POLICY"):
            cursor.accept("=")
            cursor.identifier("a placement policy")
            placement = True
        elif cursor.accept("ENCRYPTION"):  # of the data at rest
            cursor.accept("=")
            cursor.string()
        else:
            raise cursor.unsupported(f"the database option {cursor.word() or 'here'}")
    return charset, collation, placement
