"""DDL: databases and tables come and go, each job with its number, ids and catalog entries.

Rules: golden README "What takes a time stamp", "Ids"; action codes: tables.md §4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from producer.errors import ScenarioError
from producer.model.catalog import DDLJob
from producer.model.sql_mode import SQLMode
from producer.model.table import TableInfo
from producer.scenario.sql.allocator import RowIds
from producer.scenario.sql.cluster import Cluster, Database
from producer.scenario.sql.column_definition import read_charset, read_collation
from producer.scenario.sql.cursor import Cursor
from producer.scenario.sql.storage import Table
from producer.scenario.sql.table_definition import make_table, read_table, table_charset_of

CREATE_SCHEMA, DROP_SCHEMA, CREATE_TABLE, DROP_TABLE, TRUNCATE_TABLE = 1, 2, 3, 4, 11
NO_HANDLE_KEY = "no primary key or not-null unique key"


@dataclass(slots=True)
class DDLContext:
    """What a DDL works on.

    :param database: the current one.
    :param record: takes the finished job; numbers it.
    """

    cluster: Cluster
    mode: SQLMode
    database: str
    force_replicate: bool
    record: Callable[[DDLJob], None]

    def job(
        self,
        cursor: Cursor,
        action: int,
        *,
        before: TableInfo | None = None,
        after: TableInfo | None = None,
        schema: str = "",
        query: str = "",
    ) -> None:
        """Give the job its id and hand it on; TiCDC discards those on tables that it cannot replicate.

        :param query: where TiDB rebuilds the statement; else the user's text.
        """
        self.cluster.ids.take()
        shown = after or before
        sent = shown is None or shown.eligible or self.force_replicate
        self.record(
            DDLJob(
                commit_seq=-1,
                query=query or cursor.statement.text,
                job_type=action,
                ddl_type=action,
                schema=shown.schema if shown else schema,
                table=shown.name if shown else "",
                old_schema=before.schema if before else "",
                old_table=before.name if before else "",
                version_before=before.version if before else -1,
                version_after=after.version if after else -1,
                sent=sent,
                reason="" if sent else NO_HANDLE_KEY,
                line=cursor.statement.line,
            )
        )


def run_ddl(cursor: Cursor, context: DDLContext) -> None:
    """Run one DDL statement.

    :raises ScenarioError: if it does not parse, or contradicts what there is.
    :raises UnsupportedSQL: if it is none that this tool runs.
    """
    for words, run in _STATEMENTS:
        if cursor.accept(*words):
            run(cursor, context)
            return
    name = " ".join(filter(None, (cursor.word(), cursor.word(1))))
    raise cursor.unsupported(name or "a statement of this kind")


def is_ddl(first_word: str) -> bool:
    """Whether a statement that starts so commits the open transaction and is read by hand."""
    return first_word in ("CREATE", "DROP", "TRUNCATE", "ALTER", "RENAME", "FLASHBACK", "RECOVER")


def _if_not_exists(cursor: Cursor) -> bool:
    if cursor.accept("IF"):
        cursor.expect("NOT", "EXISTS")
        return True
    return False


def _if_exists(cursor: Cursor) -> bool:
    if cursor.accept("IF"):
        cursor.expect("EXISTS")
        return True
    return False


def _create_database(cursor: Cursor, context: DDLContext) -> None:
    lenient = _if_not_exists(cursor)
    name = cursor.identifier("a database name")
    charset, collation = _database_options(cursor)
    if name.lower() in context.cluster.databases:
        if lenient:
            return
        raise ScenarioError(f"Can't create database {name!r}; database exists", value=name)
    context.cluster.ids.take()
    charset, collation = table_charset_of(charset, collation, ("utf8mb4", "utf8mb4_bin"))
    context.cluster.databases[name.lower()] = Database(name, charset, collation)
    context.job(cursor, CREATE_SCHEMA, schema=name)


def _database_options(cursor: Cursor) -> tuple[str, str]:
    charset = collation = ""
    while not cursor.at_end:
        cursor.accept("DEFAULT")
        if cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET"):
            cursor.accept("=")
            charset = read_charset(cursor)
        elif cursor.accept("COLLATE"):
            cursor.accept("=")
            collation = read_collation(cursor)
        else:
            raise cursor.unsupported(f"the database option {cursor.word() or 'here'}")
    return charset, collation


def _drop_database(cursor: Cursor, context: DDLContext) -> None:
    lenient = _if_exists(cursor)
    name = cursor.identifier("a database name")
    cursor.end()
    if lenient and name.lower() not in context.cluster.databases:
        return
    database = context.cluster.database(name)
    del context.cluster.databases[name.lower()]
    if context.database.lower() == name.lower():
        context.database = ""
    context.job(cursor, DROP_SCHEMA, schema=database.name)


def _create_table(cursor: Cursor, context: DDLContext) -> None:
    lenient = _if_not_exists(cursor)
    schema, name = cursor.qualified_name(context.database)
    draft = read_table(cursor)
    database = context.cluster.database(schema)
    if context.cluster.find(schema, name) is not None:
        if lenient:
            return
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    info = make_table(
        draft,
        database.name,
        name,
        (database.charset, database.collation),
        context.mode,
        cursor.statement.line,
    )
    info = context.cluster.new_version(replace(info, table_id=context.cluster.ids.take()))
    context.cluster.add(Table(info, RowIds(base=max(draft.auto_increment - 1, 0))))
    context.job(cursor, CREATE_TABLE, after=info)


def _drop_table(cursor: Cursor, context: DDLContext) -> None:
    """One job per table, with a query that TiDB rebuilds."""
    lenient = _if_exists(cursor)
    names = [cursor.qualified_name(context.database)]
    while cursor.accept(","):
        names.append(cursor.qualified_name(context.database))
    cursor.accept_any("RESTRICT", "CASCADE")
    cursor.end()
    if not lenient:
        for schema, name in names:
            context.cluster.table(schema, name)
    for schema, name in names:
        table = context.cluster.find(schema, name) if schema.lower() in context.cluster.databases else None
        if table is not None:
            context.cluster.drop(table)
            info = table.info
            context.job(cursor, DROP_TABLE, before=info, query=f"DROP TABLE `{info.schema}`.`{info.name}`")


def _truncate_table(cursor: Cursor, context: DDLContext) -> None:
    cursor.accept("TABLE")
    old = context.cluster.table(*cursor.qualified_name(context.database))
    cursor.end()
    info = context.cluster.new_version(replace(old.info, table_id=context.cluster.ids.take()))
    context.cluster.add(Table(info))
    context.job(cursor, TRUNCATE_TABLE, before=old.info, after=info)


_STATEMENTS: tuple[tuple[tuple[str, ...], Callable[[Cursor, DDLContext], None]], ...] = (
    (("CREATE", "DATABASE"), _create_database),
    (("CREATE", "SCHEMA"), _create_database),
    (("DROP", "DATABASE"), _drop_database),
    (("DROP", "SCHEMA"), _drop_database),
    (("CREATE", "TABLE"), _create_table),
    (("DROP", "TABLE"), _drop_table),
    (("DROP", "TABLES"), _drop_table),
    (("TRUNCATE",), _truncate_table),
)
