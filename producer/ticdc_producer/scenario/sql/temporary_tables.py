"""Local temporary tables: they belong to the session, and a changefeed sees neither them nor their rows.

Rules: tidb ``pkg/executor/ddl.go`` (``DDLExec.Next``), ``pkg/table/temptable/ddl.go``,
``pkg/planner/core/preprocess.go`` (``checkReferInfoForTemporaryTable``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.allocator import row_ids
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl.context import DDLContext, if_exists, if_not_exists, quoted
from ticdc_producer.scenario.sql.ddl.table import read_new_table, with_new_ids
from ticdc_producer.scenario.sql.statements import Statement, split_statements
from ticdc_producer.scenario.sql.storage import Table

_Name: TypeAlias = tuple[str, str]
_LIKE_BEFORE = 10
"""``CREATE TABLE IF NOT EXISTS a.b (LIKE`` has this many words."""


class TemporaryTables:
    """The local temporary tables of a session. Each one hides a table of the same name."""

    def __init__(self) -> None:
        self._tables: dict[_Name, Table] = {}

    def find(self, schema: str, name: str) -> Table | None:
        """The temporary table of a name; None if there is none."""
        return self._tables.get((schema.lower(), name.lower()))

    def run(self, statement: Statement, context: DDLContext) -> Statement | None:
        """Run the part of a DDL statement that concerns temporary tables.

        :return: the rest, which is DDL of other tables and commits; None if nothing is left, or TRUNCATE is
            the only part that commits.
        :raises ScenarioError: for DDL that TiDB does not run on temporary tables.
        """
        cursor = Cursor(statement)
        if cursor.accept("CREATE", "TEMPORARY", "TABLE"):
            self._create(cursor, context)
            return None
        if cursor.accept("DROP", "TEMPORARY", "TABLE") or cursor.accept("DROP", "TEMPORARY", "TABLES"):
            self._drop_temporary(cursor, context)
            return None
        if not self._tables:
            return statement
        if cursor.accept("DROP", "TABLE") or cursor.accept("DROP", "TABLES"):
            return self._drop(cursor, context)
        if cursor.accept("TRUNCATE"):
            return None if self._truncate(cursor, context) else statement
        self._check_altered(statement, context)
        return statement

    def _create(self, cursor: Cursor, context: DDLContext) -> None:
        lenient = if_not_exists(cursor)
        schema, name = cursor.qualified_name(context.database)
        database = context.cluster.database(schema)
        if self.find(schema, name) is not None:
            if lenient:
                return
            raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
        self._check_source(cursor, context)
        table = read_new_table(cursor, context, database.name, name)
        _check_supported(table)
        table.info = with_new_ids(replace(table.info, schema=database.name, name=name), context)
        table.temporary = True
        self._tables[database.name.lower(), name.lower()] = table

    def _check_source(self, cursor: Cursor, context: DDLContext) -> None:
        """:raises ScenarioError: if the next words are LIKE and the name of a temporary table."""
        after = Cursor(cursor.statement, cursor.position)
        after.accept("(")
        if after.accept("LIKE") and self.find(*after.qualified_name(context.database)) is not None:
            raise _unsupported_option("create table like")

    def _drop_temporary(self, cursor: Cursor, context: DDLContext) -> None:
        """``DROP TEMPORARY TABLE`` drops all tables or, if one does not exist, none."""
        lenient, names = _read_dropped(cursor, context)
        unknown = [".".join(name) for name in names if self.find(*name) is None]
        if not unknown:
            self._remove(names)
        elif not lenient:
            raise ScenarioError(f"Unknown table '{','.join(unknown)}'", value=unknown[0])

    def _drop(self, cursor: Cursor, context: DDLContext) -> Statement | None:
        """``DROP TABLE`` drops the temporary tables of the names; returns the statement for the others."""
        lenient, names = _read_dropped(cursor, context)
        others = [name for name in names if self.find(*name) is None]
        for name in others if not lenient else ():
            context.cluster.table(*name)
        self._remove([name for name in names if name not in others])
        if not others:
            return None
        sql = f"DROP TABLE {'IF EXISTS ' if lenient else ''}{', '.join(quoted(*name) for name in others)}"
        return next(split_statements(sql, cursor.statement.line))

    def _remove(self, names: list[_Name]) -> None:
        for schema, name in names:
            self._tables.pop((schema.lower(), name.lower()), None)

    def _truncate(self, cursor: Cursor, context: DDLContext) -> bool:
        cursor.accept("TABLE")
        schema, name = cursor.qualified_name(context.database)
        old = self.find(schema, name)
        if old is None:
            return False
        cursor.end()
        info = with_new_ids(old.info, context)
        ids = row_ids(info, cache=old.ids.cache)
        self._tables[schema.lower(), name.lower()] = Table(
            info, ids, next_index_id=old.next_index_id, temporary=True
        )
        return True

    def _check_altered(self, statement: Statement, context: DDLContext) -> None:
        """:raises ScenarioError: if a DDL changes a temporary table, or takes it as a pattern."""
        what, cursor = _alteration(statement)
        while what:
            if self.find(*cursor.qualified_name(context.database)) is not None:
                if what == "LIKE":
                    raise _unsupported_option("create table like")
                raise ScenarioError(f"TiDB doesn't support {what} for local temporary table")
            if what != "RENAME TABLE" or not cursor.accept("TO"):
                return
            cursor.qualified_name(context.database)
            if not cursor.accept(","):
                return


def _alteration(statement: Statement) -> tuple[str, Cursor]:
    """What a DDL does to an existing table, and the cursor before its name; empty for anything else."""
    words = [statement.word(index) for index in range(len(statement.tokens))]
    if words[:2] == ["ALTER", "TABLE"]:
        return "ALTER TABLE", Cursor(statement, 2)
    if words[0] == "RENAME" and words[1:2] in (["TABLE"], ["TABLES"]):
        return "RENAME TABLE", Cursor(statement, 2)
    if words[:2] == ["CREATE", "TABLE"] and "LIKE" in words[:_LIKE_BEFORE]:
        return "LIKE", Cursor(statement, words.index("LIKE") + 1)
    if words[0] in ("CREATE", "DROP") and "INDEX" in words[1:3] and "ON" in words:
        return f"{words[0]} INDEX", Cursor(statement, words.index("ON") + 1)
    return "", Cursor(statement)


def _read_dropped(cursor: Cursor, context: DDLContext) -> tuple[bool, list[_Name]]:
    """``[IF EXISTS] name, …`` to the end of the statement."""
    lenient = if_exists(cursor)
    names = [cursor.qualified_name(context.database)]
    while cursor.accept(","):
        names.append(cursor.qualified_name(context.database))
    cursor.accept_any("RESTRICT", "CASCADE")
    cursor.end()
    return lenient, names


def _check_supported(table: Table) -> None:
    if table.partitioning is not None:
        raise ScenarioError("Cannot create temporary table with partitions")
    if table.foreign_keys:
        raise ScenarioError("Cannot add foreign key constraint", hint="a temporary table has none in TiDB")
    if any(column.auto_random for column in table.info.columns):
        raise _unsupported_option("auto_random")


def _unsupported_option(what: str) -> ScenarioError:
    return ScenarioError(f"`{what}` is unsupported on temporary tables")
