"""Runs a DDL statement by the kind of its syntax tree."""

from __future__ import annotations

from ticdc_producer.scenario.sql.ddl.alter import alter_table, create_index, drop_index
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.database import run_database
from ticdc_producer.scenario.sql.ddl.other import drop_sequences, run_unsent
from ticdc_producer.scenario.sql.ddl.table import create_table, drop_tables, rename_tables, truncate_table
from ticdc_producer.scenario.sql.ddl.temporary import check_temporary
from ticdc_producer.scenario.sql.ddl.view import create_view, drop_views
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


def is_ddl(first_word: str) -> bool:
    """Return whether a statement is DDL, by its first word: DDL commits the open transaction."""
    return first_word in VERBS
