"""Picks of rows as arithmetic: a transaction picks rows in sequence, each from one table.

``pick`` is the index of a pick in the step, ``table_pick`` its index among the picks of its table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.scenario.generate.draw import quotient
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_schedule import ALWAYS


def lookup(values: Sequence[int], index: Column) -> Column:
    """The long at an index; Spark plans one text that it splits much faster than many literals."""
    if len(set(values)) == 1:
        return F.lit(values[0]).cast("long")
    listed = F.split(F.lit(",".join(map(str, values))), ",").cast("array<bigint>")
    return F.get(listed, index.cast("int"))


def in_transaction(plan: GeneratePlan, pick: Column) -> tuple[Column, Column]:
    """The transaction of a pick, and the index of the pick in it, both from 0."""
    return quotient(pick, plan.picks_per_transaction), F.pmod(pick, F.lit(plan.picks_per_transaction))


def pick_of(plan: GeneratePlan, table_pick: Column) -> Column:
    """Index in the step of the table's pick with index ``table_pick``."""
    table_schedule = plan.table_schedule
    if table_schedule == ALWAYS or not table_schedule.positions:
        return table_pick
    index = F.pmod(table_pick, F.lit(len(table_schedule.positions)))
    return quotient(table_pick, len(table_schedule.positions)) * table_schedule.cycle + lookup(
        table_schedule.positions, index
    )


def table_picks_before(plan: GeneratePlan, pick: Column) -> Column:
    """Number of the table's picks before a pick of the step."""
    table_schedule = plan.table_schedule
    if table_schedule == ALWAYS:
        return pick
    before = [table_schedule.count(index) for index in range(table_schedule.cycle)]
    index = F.pmod(pick, F.lit(table_schedule.cycle))
    return quotient(pick, table_schedule.cycle) * len(table_schedule.positions) + lookup(before, index)


def new_rows_before(plan: GeneratePlan, table_pick: Column, pick: Column) -> Column:
    """Number of new rows of the table before a pick, given by both of its indexes."""
    if plan.each:
        return _inserted(plan, pick)
    # Evenly distributed over all picks of the table, beginning with the first.
    table_picks = max(plan.table_picks, 1)
    return quotient(table_pick * plan.new_rows + (table_picks - 1), table_picks)


def _inserted(plan: GeneratePlan, pick: Column) -> Column:
    inserts = {one.statement for one in plan.each if one.inserts}
    counts = accumulate((number in inserts for number in range(plan.picks_per_transaction)), initial=0)
    transaction, statement = in_transaction(plan, pick)
    return transaction * len(inserts) + lookup([*counts][:-1], statement)


def row_count_at(parent: GeneratePlan, plan: GeneratePlan, event: Column) -> Column:
    """Number of rows of another table of the same step at an event of the plan."""
    later = event - F.lit(plan.rows)
    index = F.pmod(later, F.lit(plan.rows_per_transaction))
    transaction = quotient(later, plan.rows_per_transaction)
    pick = transaction * plan.picks_per_transaction + statement_at(plan, index)
    born = new_rows_before(parent, table_picks_before(parent, pick), pick)
    return F.when(event < plan.rows, F.lit(parent.rows)).otherwise(born + parent.rows).cast("long")


def statement_at(plan: GeneratePlan, index: Column) -> Column:
    """Index of a change's pick within its transaction."""
    if plan.each:
        return lookup([one.statement for one in plan.each], index)
    return quotient(index, plan.changes_per_row)
