"""UPDATE and DELETE of one table.

All rows are selected before the first is changed. They are changed in the order of ORDER BY, otherwise of
their keys.
"""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.scenario.sql.assign import assign_at_once, check_assignments
from ticdc_producer.scenario.sql.insert import update_row
from ticdc_producer.scenario.sql.row_selection import select_rows
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Table
from ticdc_producer.scenario.sql.transaction import Transaction


def run_update(tree: exp.Update, table: Table, transaction: Transaction, mode: SQLMode) -> None:
    """Run an UPDATE."""
    check_assignments(tree.expressions, Scope(mode, table.info))
    for row in select_rows(tree, table, mode):
        scope = Scope(mode, table.info, table.read(row), lenient_nulls=not mode.strict)
        assigned = assign_at_once(tree.expressions, scope)
        update_row(table, row, scope, assigned, transaction)


def run_delete(tree: exp.Delete, table: Table, transaction: Transaction, mode: SQLMode) -> None:
    """Run a DELETE."""
    for row in select_rows(tree, table, mode):
        transaction.delete(table, row)
