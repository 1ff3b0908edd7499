"""UPDATE and DELETE of one table.

All rows are selected, and all new values computed, before the first row is changed. They are changed in the
order of ORDER BY, otherwise of their keys.
"""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.scenario.sql.assign import assign_at_once, check_assignments
from ticdc_producer.scenario.sql.insert import update_row
from ticdc_producer.scenario.sql.row_selection import select_rows
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Table
from ticdc_producer.scenario.sql.transaction import Transaction


def run_update(tree: exp.Update, table: Table, scope: Scope, transaction: Transaction) -> None:
    """Run an UPDATE.

    :param scope: of the table.
    """
    check_assignments(tree.expressions, scope)
    changes, mode = [], scope.mode
    for row in select_rows(tree, table, scope):
        changed = Scope(mode, table.info, table.read(row), None, not mode.strict, scope.context, scope.alias)
        changes.append((row, changed, assign_at_once(tree.expressions, changed)))
    for row, changed, assigned in changes:
        update_row(table, row, changed, assigned, transaction)


def run_delete(tree: exp.Delete, table: Table, scope: Scope, transaction: Transaction) -> None:
    """Run a DELETE.

    :param scope: of the table.
    """
    for row in select_rows(tree, table, scope):
        transaction.delete(table, row)
