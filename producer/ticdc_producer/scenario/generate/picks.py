"""Picks of rows as arithmetic: a transaction picks rows one after the other, each pick is of one table.

``pick`` numbers those of the step, ``visit`` those of one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.scenario.generate.draw import quotient
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.turns import ALWAYS


def lookup(values: Sequence[int], place: Column) -> Column:
    """One of several longs; a text that Spark splits once is planned much faster than so many literals."""
    if len(set(values)) == 1:
        return F.lit(values[0]).cast("long")
    listed = F.split(F.lit(",".join(map(str, values))), ",").cast("array<bigint>")
    return F.get(listed, place.cast("int"))


def in_transaction(plan: GeneratePlan, pick: Column) -> tuple[Column, Column]:
    """The transaction of a pick, from 0, and its number in it."""
    return quotient(pick, plan.picks_per_transaction), F.pmod(pick, F.lit(plan.picks_per_transaction))


def pick_of(plan: GeneratePlan, visit: Column) -> Column:
    """The pick that is so many visits of the table behind its first."""
    turns = plan.turns
    if turns == ALWAYS or not turns.places:
        return visit
    place = F.pmod(visit, F.lit(len(turns.places)))
    return quotient(visit, len(turns.places)) * turns.cycle + lookup(turns.places, place)


def visits_before(plan: GeneratePlan, pick: Column) -> Column:
    """How many picks before that one are of the table."""
    turns = plan.turns
    if turns == ALWAYS:
        return pick
    before = [turns.count(place) for place in range(turns.cycle)]
    place = F.pmod(pick, F.lit(turns.cycle))
    return quotient(pick, turns.cycle) * len(turns.places) + lookup(before, place)


def births_before(plan: GeneratePlan, visit: Column, pick: Column) -> Column:
    """How many rows of the table were born before a visit, or before the pick that it is."""
    if plan.each:
        return _inserted(plan, pick)
    # Evenly over all visits, the first first.
    visits = max(plan.visits, 1)
    return quotient(visit * plan.births + (visits - 1), visits)


def _inserted(plan: GeneratePlan, pick: Column) -> Column:
    inserts = {one.statement for one in plan.each if one.inserts}
    counts = accumulate((number in inserts for number in range(plan.picks_per_transaction)), initial=0)
    transaction, statement = in_transaction(plan, pick)
    return transaction * len(inserts) + lookup([*counts][:-1], statement)


def rows_there(parent: GeneratePlan, plan: GeneratePlan, event: Column) -> Column:
    """How many rows of another table there are at an event of the plan, both of one step."""
    later = event - F.lit(plan.rows)
    place = F.pmod(later, F.lit(plan.rows_per_transaction))
    transaction = quotient(later, plan.rows_per_transaction)
    pick = transaction * plan.picks_per_transaction + statement_at(plan, place)
    born = births_before(parent, visits_before(parent, pick), pick)
    return F.when(event < plan.rows, F.lit(parent.rows)).otherwise(born + parent.rows).cast("long")


def statement_at(plan: GeneratePlan, place: Column) -> Column:
    """The number of the pick, within its transaction, that a change belongs to."""
    if plan.each:
        return lookup([one.statement for one in plan.each], place)
    return quotient(place, plan.changes_per_row)
