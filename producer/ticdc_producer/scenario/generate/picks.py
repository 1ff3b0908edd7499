"""Picks of rows as arithmetic: a transaction picks rows in sequence, each from one table.

``pick`` is the index of a pick in the step, ``table_pick`` its index among the picks of its table.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_schedule import ALWAYS


def pick_of(plan: GeneratePlan, table_pick: Longs) -> Longs:
    """Index in the step of the table's picks with indexes ``table_pick``."""
    table_schedule = plan.table_schedule
    if table_schedule == ALWAYS or not table_schedule.positions:
        return table_pick
    cycles, index = np.divmod(table_pick, len(table_schedule.positions))
    return cycles * table_schedule.cycle + np.array(table_schedule.positions, np.int64)[index]


def table_picks_before(plan: GeneratePlan, pick: Longs) -> Longs:
    """Number of the table's picks before picks of the step."""
    table_schedule = plan.table_schedule
    if table_schedule == ALWAYS:
        return pick
    before = np.searchsorted(table_schedule.positions, np.arange(table_schedule.cycle))
    cycles, index = np.divmod(pick, table_schedule.cycle)
    return cycles * len(table_schedule.positions) + before[index]


def new_rows_before(plan: GeneratePlan, table_pick: Longs, pick: Longs) -> Longs:
    """Number of new rows of the table before picks, given by both of their indexes."""
    if not plan.each:
        # Evenly distributed over all picks of the table, beginning with the first.
        table_picks = max(plan.table_picks, 1)
        return (table_pick * plan.new_rows + (table_picks - 1)) // table_picks
    inserts = {one.statement for one in plan.each if one.inserts}
    counts = [*accumulate((number in inserts for number in range(plan.picks_per_transaction)), initial=0)]
    transaction, statement = np.divmod(pick, plan.picks_per_transaction)
    return transaction * len(inserts) + np.array(counts[:-1], np.int64)[statement]


def row_count_at(parent: GeneratePlan, plan: GeneratePlan, event: Longs) -> Longs:
    """Number of rows of another table of the same step at events of the plan."""
    transaction, position = np.divmod(np.maximum(event - plan.rows, 0), plan.rows_per_transaction)
    pick = transaction * plan.picks_per_transaction + statement_at(plan, position)
    born = new_rows_before(parent, table_picks_before(parent, pick), pick)
    return np.where(event < plan.rows, parent.rows, born + parent.rows)


def statement_at(plan: GeneratePlan, position: Longs) -> Longs:
    """Index of a change's pick within its transaction."""
    if plan.each:
        return np.array([one.statement for one in plan.each], np.int64)[position]
    return position // plan.changes_per_row


def first_event(plan: GeneratePlan, row: Longs) -> Longs:
    """The event that inserts a row for the first time."""
    new = np.maximum(row - plan.rows, 0)
    if plan.each:
        positions = [number for number, one in enumerate(plan.each) if one.inserts]
        transaction, index = np.divmod(new, max(len(positions), 1))
        position = np.array(positions or [0], np.int64)[index]
    else:
        # The inverse of ``new_rows_before``: the pick that adds the row.
        pick = pick_of(plan, new * plan.table_picks // max(plan.new_rows, 1))
        transaction, statement = np.divmod(pick, plan.picks_per_transaction)
        position = statement * plan.changes_per_row
    return np.where(row < plan.rows, row, plan.rows + transaction * plan.rows_per_transaction + position)
