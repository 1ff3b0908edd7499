"""When each cell of a row last changed: a cell's version is the number of that event."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from producer.model.event import Op
from producer.scenario.generate.draw import draw, happens, uniform
from producer.scenario.generate.expressions import with_added
from producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from producer.scenario.generate.steps import so_far

_ALSO = 0.25
"""Chance of each further column to change in an update that changes another one."""


def with_versions(steps: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``version_N`` for the column at offset N, and ``number_N``, which a sequence counts by.

    A row that is inserted again keeps its keys and gets all else anew. ``added_N`` is what updates added
    to the column since.
    """
    versions = {
        f"version_{column.offset}": F.max(F.when(_changes(plan, column), F.col("event"))).over(so_far(plan))
        for column in plan.columns
    }
    numbers = {
        f"number_{column.offset}": _number(plan, F.col(f"version_{column.offset}")) for column in plan.columns
    }
    return _with_sums(steps, plan).withColumns(versions).withColumns(numbers)


def _with_sums(steps: DataFrame, plan: GeneratePlan) -> DataFrame:
    """What was added to the row in all, less what was when it was last inserted.

    A window over ``slot`` and ``made`` would say the same, and have Spark sort all events by it, and back.
    """
    until_now, inserted = so_far(plan), F.col("op") == Op.INSERT
    summed = steps
    for column in plan.columns:
        if column.adds:
            name = f"added_{column.offset}"
            counts = (F.col("op") == Op.UPDATE) & _updates(plan, column.offset)
            each = F.when(counts, F.col(name)).otherwise(F.lit(0))
            summed = with_added(summed, plan, column, name).withColumn(name, F.sum(each).over(until_now))
            at_insert = F.last(F.when(inserted, F.col(name)), ignorenulls=True).over(until_now)
            # Never NULL, as the first event of a row inserts it; without saying so Spark checks it per cell.
            summed = summed.withColumn(name, F.coalesce(F.col(name) - at_insert, F.lit(0)))
    return summed


def _changes(plan: GeneratePlan, column: ColumnPlan) -> Column:
    """Whether an event gives the column a new value."""
    event, op = F.col("event"), F.col("op")
    is_update = op == Op.UPDATE
    if column.adds:
        return op == Op.INSERT
    if column.keyed:
        return (event == F.col("born")) | (
            is_update & happens(plan.key_changes, draw(plan.salt("key"), event))
        )
    return (op == Op.INSERT) | (is_update & _updates(plan, column.offset))


def _updates(plan: GeneratePlan, offset: int) -> Column:
    if plan.each:
        return F.col("row_seq").isin(
            [number for number, one in enumerate(plan.each) if offset in one.updates]
        )
    if plan.updates:
        return F.lit(offset in plan.updates)
    event = F.col("event")
    also = happens(_ALSO, draw(plan.salt(f"{offset}/updated"), event))
    if offset not in plan.updatable:  # it is not there in all versions, and an update changes something
        return also
    first = uniform(draw(plan.salt("updated"), event), len(plan.updatable))
    return (first == plan.updatable.index(offset)) | also


def _number(plan: GeneratePlan, version: Column) -> Column:
    """Rows are numbered first, then changes: all numbers are different."""
    return F.when(version == F.col("born"), F.col("slot")).otherwise(version + plan.all_rows)
