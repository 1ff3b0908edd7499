"""The row changes of a step's transactions, and the row that each of them picks.

``pick`` is the index of a pick in the step, ``table_pick`` its index among the picks of its table.

Rows are numbered in the order of their first insert. Arithmetic on the number of a pick decides whether it
inserts a new row, so the number of rows at each pick is known; every other pick takes one of these rows by a
hash. The effect of a change on its row follows from the row's earlier changes (``row_history``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.draw import draw, happens, uniform_of, zipf
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_schedule import ALWAYS
from ticdc_producer.scenario.generate.table_spec import ROWS_PER_LOAD


def pick_of(plan: GeneratePlan, table_pick: Longs) -> Longs:
    """Return the index in the step of the table's picks with indexes ``table_pick``."""
    table_schedule = plan.table_schedule
    if table_schedule == ALWAYS or not table_schedule.positions:
        return table_pick
    cycles, index = np.divmod(table_pick, len(table_schedule.positions))
    return cycles * table_schedule.cycle + np.array(table_schedule.positions, np.int64)[index]


def table_picks_before(plan: GeneratePlan, pick: Longs) -> Longs:
    """Return the number of the table's picks before picks of the step.

    >>> from types import SimpleNamespace
    >>> plan = SimpleNamespace(table_schedule=SimpleNamespace(positions=(1, 2), cycle=4))
    >>> table_picks_before(plan, np.arange(7)).tolist()
    [0, 0, 1, 2, 2, 2, 3]
    """
    table_schedule = plan.table_schedule
    if table_schedule == ALWAYS:
        return pick
    before = np.searchsorted(table_schedule.positions, np.arange(table_schedule.cycle))
    cycles, index = np.divmod(pick, table_schedule.cycle)
    return cycles * len(table_schedule.positions) + before[index]


def new_rows_before(plan: GeneratePlan, table_pick: Longs, pick: Longs) -> Longs:
    """Return the number of new rows of the table before picks, given by both of their indexes."""
    if not plan.each:
        # Evenly distributed over all picks of the table, beginning with the first.
        table_picks = max(plan.table_picks, 1)
        return (table_pick * plan.new_rows + (table_picks - 1)) // table_picks
    inserts = {step.statement for step in plan.each if step.inserts}
    counts = [*accumulate((number in inserts for number in range(plan.picks_per_transaction)), initial=0)]
    transaction, statement = np.divmod(pick, plan.picks_per_transaction)
    return transaction * len(inserts) + np.array(counts[:-1], np.int64)[statement]


def row_count_at(parent: GeneratePlan, plan: GeneratePlan, event: Longs) -> Longs:
    """Return the number of rows of another table of the same step at events of the plan.

    Each transaction inserts a row into the other table, which has three before, and changes one of the plan.

    >>> from types import SimpleNamespace
    >>> from ticdc_producer.scenario.generate.table_schedule import TableSchedule
    >>> step = {"each": (), "picks_per_transaction": 2, "rows_per_transaction": 2, "changes_per_row": 1}
    >>> sizes = {"rows": 3, "new_rows": 4, "table_picks": 4, "table_schedule": TableSchedule(2, (0,))}
    >>> parent, plan = SimpleNamespace(**step, **sizes), SimpleNamespace(**step, rows=1)
    >>> row_count_at(parent, plan, np.array([0, 2, 4])).tolist()  # of the first row, and two transactions
    [3, 4, 5]
    """
    transaction, position = np.divmod(np.maximum(event - plan.rows, 0), plan.rows_per_transaction)
    pick = transaction * plan.picks_per_transaction + statement_at(plan, position)
    born = new_rows_before(parent, table_picks_before(parent, pick), pick)
    return np.where(event < plan.rows, parent.rows, born + parent.rows)


def statement_at(plan: GeneratePlan, position: Longs) -> Longs:
    """Return the index of a change's pick within its transaction."""
    if plan.each:
        return np.array([step.statement for step in plan.each], np.int64)[position]
    return position // plan.changes_per_row


def first_event(plan: GeneratePlan, row: Longs) -> Longs:
    """Return the event that inserts a row for the first time.

    Two rows exist before the transactions; each transaction has three changes, and its first pick is new.

    >>> from types import SimpleNamespace
    >>> sizes = {"picks_per_transaction": 2, "rows_per_transaction": 3, "changes_per_row": 2}
    >>> of_table = {"rows": 2, "new_rows": 2, "table_picks": 4, "table_schedule": ALWAYS}
    >>> first_event(SimpleNamespace(each=(), **sizes, **of_table), np.arange(4)).tolist()
    [0, 1, 2, 5]
    """
    new = np.maximum(row - plan.rows, 0)
    if plan.each:
        positions = [number for number, step in enumerate(plan.each) if step.inserts]
        transaction, index = np.divmod(new, max(len(positions), 1))
        position = np.array(positions or [0], np.int64)[index]
    else:
        # The inverse of ``new_rows_before``: the pick that adds the row.
        pick = pick_of(plan, new * plan.table_picks // max(plan.new_rows, 1))
        transaction, statement = np.divmod(pick, plan.picks_per_transaction)
        position = statement * plan.changes_per_row
    return np.where(row < plan.rows, row, plan.rows + transaction * plan.rows_per_transaction + position)


RowFilter: TypeAlias = Callable[[Longs], Flags]
"""Returns for each row whether its changes are drawn."""


@dataclass(frozen=True, slots=True)
class GeneratedEvents:
    """Row changes in the order of their execution, as columns.

    :param event: number of the change in the step.
    :param row: number of the row.
    :param commit: number of the commit in the history.
    :param position: position in the commit, from 0.
    :param deletes: whether the change deletes the row if it exists.
    """

    event: Longs
    row: Longs
    commit: Longs
    position: Longs
    deletes: Flags

    def __len__(self) -> int:
        return len(self.event)

    def take(self, indexes: Longs) -> GeneratedEvents:
        """Return some of the changes."""
        return GeneratedEvents(*(getattr(self, field.name)[indexes] for field in fields(self)))


def first_inserts(
    plan: GeneratePlan, start: int, stop: int, row_filter: RowFilter | None = None
) -> GeneratedEvents:
    """Return the inserts of some of the rows that a step inserts first.

    :param row_filter: the rows whose changes are returned; None: all.
    """
    rows = np.arange(start, stop, dtype=np.int64)
    if row_filter is not None:
        rows = rows[row_filter(rows)]
    commit = rows // ROWS_PER_LOAD + plan.first_commit
    return GeneratedEvents(rows, rows, commit, rows % ROWS_PER_LOAD, np.zeros(len(rows), bool))


def transaction_events(
    plan: GeneratePlan, start: int, stop: int, row_filter: RowFilter | None = None
) -> GeneratedEvents:
    """Return the row changes of some of a step's transactions, which are numbered from 0.

    :param row_filter: the rows whose changes are returned; None: all.
    """
    picks = plan.picks_per_transaction
    bounds = (plan.table_schedule.count(transaction * picks) for transaction in (start, stop))
    table_pick = np.arange(*bounds, dtype=np.int64)
    pick = pick_of(plan, table_pick)
    before = new_rows_before(plan, table_pick, pick)
    is_new = new_rows_before(plan, table_pick + 1, pick + 1) > before
    existing = before + plan.rows
    row = np.where(is_new, existing, _picked(plan, table_pick, existing))
    if row_filter is not None:
        remaining = row_filter(row)
        pick, row, is_new = pick[remaining], row[remaining], is_new[remaining]
    return _changes_of_picks(plan, pick, row, is_new)


def _picked(plan: GeneratePlan, table_pick: Longs, rows: Longs) -> Longs:
    """Pick one of the existing rows."""
    hashes = draw(plan.salt("row"), table_pick)
    return zipf(hashes, rows, plan.hot_keys) if plan.hot_keys else uniform_of(hashes, rows)


def _changes_of_picks(plan: GeneratePlan, pick: Longs, row: Longs, is_new: Flags) -> GeneratedEvents:
    """Return the changes of picks: as many per pick as its statement has, the first of them an insert if new.

    A transaction of three changes, with two per row, has one change of its second row.

    >>> from types import SimpleNamespace
    >>> sizes = {"picks_per_transaction": 2, "rows_per_transaction": 3, "changes_per_row": 2}
    >>> numbers = {"rows": 10, "first_transaction": 7, "ddl_every": 1, "delete_chance": 0}
    >>> plan, is_new = SimpleNamespace(each=(), **sizes, **numbers), np.zeros(3, bool)
    >>> changes = _changes_of_picks(plan, np.array([0, 1, 2]), np.array([8, 9, 4]), is_new)
    >>> changes.row.tolist(), changes.position.tolist()
    ([8, 8, 9, 4, 4], [0, 1, 2, 0, 1])
    >>> changes.event.tolist(), changes.commit.tolist()  # a DDL is the commit 8
    ([10, 11, 12, 13, 14], [7, 7, 7, 9, 9])
    """
    transaction, statement = np.divmod(pick, plan.picks_per_transaction)
    starts, sizes = _statements(plan)
    position, size = starts[statement], sizes[statement]
    if size.max(initial=1) > 1:
        of_pick = np.repeat(np.arange(len(pick)), size)
        nth = np.arange(len(of_pick)) - np.repeat(np.cumsum(size) - size, size)
        transaction, row = transaction[of_pick], row[of_pick]
        position, is_new = position[of_pick] + nth, is_new[of_pick] & (nth == 0)
    event = transaction * plan.rows_per_transaction + position + plan.rows
    commit = transaction + plan.first_transaction
    if plan.ddl_every:  # DDLs are commits, too
        commit += transaction // plan.ddl_every
    return GeneratedEvents(event, row, commit, position, _deletes(plan, event, position) & ~is_new)


def _statements(plan: GeneratePlan) -> tuple[Longs, Longs]:
    """Return the position of the first change of each pick of a transaction, and its number of changes.

    >>> from types import SimpleNamespace
    >>> plan = SimpleNamespace(each=(), rows_per_transaction=5, changes_per_row=2)
    >>> [column.tolist() for column in _statements(plan)]
    [[0, 2, 4], [2, 2, 1]]
    """
    if plan.each:
        steps = np.array([step.statement for step in plan.each], np.int64)
        _, starts, sizes = np.unique(steps, return_index=True, return_counts=True)
        return starts.astype(np.int64), sizes.astype(np.int64)
    starts = np.arange(0, plan.rows_per_transaction, plan.changes_per_row, dtype=np.int64)
    return starts, np.minimum(plan.rows_per_transaction - starts, plan.changes_per_row)


def _deletes(plan: GeneratePlan, event: Longs, position: Longs) -> Flags:
    if plan.each:
        return np.array([step.deletes for step in plan.each])[position]
    if not plan.delete_chance:
        return np.zeros(len(event), bool)
    return happens(plan.delete_chance, draw(plan.salt("delete"), event))
