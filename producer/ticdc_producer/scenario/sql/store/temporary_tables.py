"""Local temporary tables: they belong to the session, and a changefeed sees neither them nor their rows.

Rules: tidb ``pkg/executor/ddl.go`` (``DDLExec.Next``), ``pkg/table/temptable/ddl.go``,
``pkg/planner/core/preprocess.go`` (``checkReferInfoForTemporaryTable``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.table import new_table, with_new_ids
from ticdc_producer.scenario.sql.ddl.temporary import (
    check_options,
    check_pattern,
    check_table,
    unsupported_option,
)
from ticdc_producer.scenario.sql.store.allocator import row_ids
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.syntax.names import TableName
from ticdc_producer.scenario.sql.syntax.statement import (
    DDL,
    AlterTable,
    CreateIndex,
    CreateTable,
    DropIndex,
    DropObjects,
    RenameTables,
    TruncateTable,
)

_Name: TypeAlias = tuple[str, str]


class TemporaryTables:
    """The local temporary tables of a session. Each one hides a table of the same name."""

    def __init__(self) -> None:
        self._tables: dict[_Name, Table] = {}

    def find(self, schema: str, name: str) -> Table | None:
        """Return the temporary table of a name; None if there is none."""
        return self._tables.get((schema.lower(), name.lower())) if self._tables else None

    def run(self, node: DDL, context: DDLContext) -> DDL | None:
        """Run the part of a DDL statement that concerns temporary tables.

        :return: the rest, which is DDL of other tables and commits; None if nothing is left, or TRUNCATE is
            the only part that commits.
        :raises ScenarioError: for DDL that TiDB does not run on temporary tables.
        """
        match node:
            case CreateTable(temporary="LOCAL"):
                self._create(node, context)
            case DropObjects(temporary="LOCAL"):
                self._drop_temporary(node, context)
            case DropObjects(temporary="GLOBAL", names=names) if any(self._find(n, context) for n in names):
                raise ScenarioError("`drop global temporary table` can only drop global temporary table")
            case DropObjects(kind="TABLE", temporary=""):
                return self._drop(node, context)
            case TruncateTable() if self._find(node.table, context) is not None:
                self._truncate(node, context)
            case _:
                self._check_altered(node, context)
                return node
        return None

    def _find(self, table: TableName, context: DDLContext) -> Table | None:
        return self.find(*table.within(context.database))

    def _create(self, node: CreateTable, context: DDLContext) -> None:
        schema, name = node.table.within(context.database)
        database = context.cluster.database(schema)
        if self.find(schema, name) is not None:
            if node.if_not_exists:
                return
            raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
        self._check_altered(node, context)
        check_pattern(node, context)
        table = new_table(node, context, database.name)
        check_options(node.options)
        check_table(table)
        table.info = with_new_ids(replace(table.info, schema=database.name, name=name), context)
        table.temporary = "LOCAL"
        self._tables[database.name.lower(), name.lower()] = table

    def _drop_temporary(self, node: DropObjects, context: DDLContext) -> None:
        """Run ``DROP TEMPORARY TABLE``: drop all tables or, if one does not exist, none."""
        names = [name.within(context.database) for name in node.names]
        unknown = [".".join(name) for name in names if self.find(*name) is None]
        if not unknown:
            self._remove(names)
        elif not node.if_exists:
            raise ScenarioError(f"Unknown table '{','.join(unknown)}'", value=unknown[0])

    def _drop(self, node: DropObjects, context: DDLContext) -> DropObjects | None:
        """Run ``DROP TABLE`` for the names of temporary tables; return the statement for the others."""
        others = tuple(name for name in node.names if self._find(name, context) is None)
        if len(others) == len(node.names):
            return node
        for name in others if not node.if_exists else ():
            context.cluster.table(*name.within(context.database))
        self._remove([name.within(context.database) for name in node.names if name not in others])
        return replace(node, names=others) if others else None

    def _remove(self, names: Iterable[_Name]) -> None:
        for schema, name in names:
            self._tables.pop((schema.lower(), name.lower()), None)

    def _truncate(self, node: TruncateTable, context: DDLContext) -> None:
        schema, name = node.table.within(context.database)
        old = self._tables[schema.lower(), name.lower()]
        info = with_new_ids(old.info, context)
        ids = row_ids(info, cache=old.ids.cache)
        self._tables[schema.lower(), name.lower()] = Table(
            info, ids, next_index_id=old.next_index_id, temporary="LOCAL"
        )

    def _check_altered(self, node: DDL, context: DDLContext) -> None:
        """Check that a DDL neither changes a temporary table nor takes one as a pattern.

        :raises ScenarioError: if it does.
        """
        what, names = _altered(node)
        if any(self._find(name, context) is not None for name in names):
            if what == "LIKE":
                raise unsupported_option("create table like")
            raise ScenarioError(f"TiDB doesn't support {what} for local temporary table")


def _altered(node: DDL) -> tuple[str, Sequence[TableName]]:
    """Return the kind of change that a DDL makes to existing tables, and their names; empty for others."""
    match node:
        case AlterTable():
            return "ALTER TABLE", [node.table]
        case RenameTables():
            return "RENAME TABLE", [old for old, _ in node.pairs]
        case CreateTable(like=TableName() as pattern):
            return "LIKE", [pattern]
        case CreateIndex():
            return "CREATE INDEX", [node.table]
        case DropIndex():
            return "DROP INDEX", [node.table]
    return "", ()
