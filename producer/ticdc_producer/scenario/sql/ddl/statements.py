"""Runs a DDL statement by the kind of its syntax tree."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.ddl.alter import alter_table, create_index, drop_index
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.database import run_database
from ticdc_producer.scenario.sql.ddl.other import drop_sequences, run_unsent
from ticdc_producer.scenario.sql.ddl.table import create_table, drop_tables, rename_tables, truncate_table
from ticdc_producer.scenario.sql.ddl.temporary import check_temporary
from ticdc_producer.scenario.sql.ddl.view import create_view, drop_views
from ticdc_producer.scenario.sql.syntax.alter import Setting
from ticdc_producer.scenario.sql.syntax.statement import (
    DDL,
    AlterTable,
    CreateIndex,
    CreateTable,
    DatabaseStatement,
    DropIndex,
    DropObjects,
    RenameTables,
    RestoreTable,
    TruncateTable,
)
from ticdc_producer.scenario.sql.syntax.unsent import Unsent
from ticdc_producer.scenario.sql.syntax.view import CreateView

VERBS = ("CREATE", "DROP", "TRUNCATE", "ALTER", "RENAME", "FLASHBACK", "RECOVER")
_DROPS = {"TABLE": drop_tables, "VIEW": drop_views, "SEQUENCE": drop_sequences}


def run_ddl(node: DDL, context: DDLContext) -> None:
    """Run one DDL statement.

    :raises ScenarioError: if it does not fit the existing tables.
    :raises UnsupportedSQL: if this tool does not run statements of this kind.
    """
    check_temporary(node, context)
    _check_cached(node, context)
    match node:
        case DatabaseStatement():
            run_database(node, context)
        case CreateTable():
            create_table(node, context)
        case DropObjects():
            _DROPS[node.kind](node, context)
        case TruncateTable():
            truncate_table(node, context)
        case RenameTables():
            rename_tables(node, context)
        case CreateIndex():
            create_index(node, context)
        case DropIndex():
            drop_index(node, context)
        case AlterTable():
            alter_table(node, context)
        case CreateView():
            create_view(node, context)
        case Unsent():
            run_unsent(node, context)
        case RestoreTable():
            raise node.source.unsupported(f"{node.verb} TABLE")


def _check_cached(node: DDL, context: DDLContext) -> None:
    """Check that a DDL of a cached table does nothing but ALTER TABLE … [NO]CACHE.

    Source: tidb ``pkg/ddl/executor.go`` (uses of ``TableCacheStatusType``).

    :raises ScenarioError: if it does.
    """
    match node:
        case AlterTable(parts=(Setting(kind="CACHE" | "NOCACHE"),)):
            return
        case AlterTable() | CreateIndex() | DropIndex() | TruncateTable():
            tables = [node.table]
        case RenameTables():
            tables = [old for old, _ in node.pairs]
        case DropObjects(kind="TABLE"):
            tables = [*node.names]
        case _:
            return
    for name in tables:
        schema, table = name.within(context.database)
        changed = context.cluster.find(schema, table) if context.cluster.has_database(schema) else None
        if changed is not None and changed.cached:
            what = f"{context.statement.text.split()[0].upper()} is unsupported on cache tables"
            raise ScenarioError(what, line=context.line, value=table, hint="ALTER TABLE … NOCACHE first")


def is_ddl(first_word: str) -> bool:
    """Return whether a statement is DDL, by its first word: DDL commits the open transaction."""
    return first_word in VERBS
