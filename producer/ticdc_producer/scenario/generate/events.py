"""The row changes of a step's transactions, and the row that each of them picks.

Rows are numbered in the order of their first insert. Arithmetic on the number of a pick decides whether it
inserts a new row, so the number of rows at each pick is known; every other pick takes one of these rows by a
hash. What a change does to its row follows from the row's earlier changes (``row_history``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from ticdc_producer.scenario.generate.arrays import Flags, Longs
from ticdc_producer.scenario.generate.draw import draw, happens, uniform_of, zipf
from ticdc_producer.scenario.generate.picks import new_rows_before, pick_of
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_spec import ROWS_PER_LOAD

RowFilter: TypeAlias = Callable[[Longs], Flags]
"""Says of rows whether their changes are wanted."""


@dataclass(frozen=True, slots=True)
class Events:
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

    def take(self, indexes: Longs) -> Events:
        """Some of the changes."""
        return Events(*(getattr(self, field.name)[indexes] for field in fields(self)))


def first_inserts(plan: GeneratePlan, start: int, stop: int, wanted: RowFilter | None = None) -> Events:
    """The inserts of some of the rows that a step inserts first.

    :param wanted: whose changes are returned; None: all.
    """
    rows = np.arange(start, stop, dtype=np.int64)
    if wanted is not None:
        rows = rows[wanted(rows)]
    commit = rows // ROWS_PER_LOAD + plan.first_commit
    return Events(rows, rows, commit, rows % ROWS_PER_LOAD, np.zeros(len(rows), bool))


def transaction_events(plan: GeneratePlan, start: int, stop: int, wanted: RowFilter | None = None) -> Events:
    """The row changes of some of a step's transactions, which are numbered from 0.

    :param wanted: whose changes are returned; None: all.
    """
    picks = plan.picks_per_transaction
    bounds = (plan.table_schedule.count(transaction * picks) for transaction in (start, stop))
    table_pick = np.arange(*bounds, dtype=np.int64)
    pick = pick_of(plan, table_pick)
    before = new_rows_before(plan, table_pick, pick)
    is_new = new_rows_before(plan, table_pick + 1, pick + 1) > before
    existing = before + plan.rows
    row = np.where(is_new, existing, _picked(plan, table_pick, existing))
    if wanted is not None:
        remaining = wanted(row)
        pick, row, is_new = pick[remaining], row[remaining], is_new[remaining]
    return _changes_of_picks(plan, pick, row, is_new)


def _picked(plan: GeneratePlan, table_pick: Longs, rows: Longs) -> Longs:
    """One of the existing rows."""
    drawn = draw(plan.salt("row"), table_pick)
    return zipf(drawn, rows, plan.hot_keys) if plan.hot_keys else uniform_of(drawn, rows)


def _changes_of_picks(plan: GeneratePlan, pick: Longs, row: Longs, is_new: Flags) -> Events:
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
    if plan.ddl_every:  # DDLs are commits as well
        commit += transaction // plan.ddl_every
    return Events(event, row, commit, position, _deletes(plan, event, position) & ~is_new)


def _statements(plan: GeneratePlan) -> tuple[Longs, Longs]:
    """Position of the first change of each pick of a transaction, and its number of changes."""
    if plan.each:
        steps = np.array([one.statement for one in plan.each], np.int64)
        _, starts, sizes = np.unique(steps, return_index=True, return_counts=True)
        return starts.astype(np.int64), sizes.astype(np.int64)
    starts = np.arange(0, plan.rows_per_transaction, plan.changes_per_row, dtype=np.int64)
    return starts, np.minimum(plan.rows_per_transaction - starts, plan.changes_per_row)


def _deletes(plan: GeneratePlan, event: Longs, position: Longs) -> Flags:
    if plan.each:
        return np.array([one.deletes for one in plan.each])[position]
    if not plan.delete_chance:
        return np.zeros(len(event), bool)
    return happens(plan.delete_chance, draw(plan.salt("delete"), event))
