"""When each cell of a row last changed: a cell's version is the number of that event."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.draw import draw, happens, uniform
from ticdc_producer.scenario.generate.expressions import with_added
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.steps import by_row, so_far

_ALSO = 0.25
"""Chance of each further column to change in an update that changes another one."""


def with_versions(steps: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``version_N`` for the column at offset N, and ``number_N``, which a sequence counts by.

    A row that is inserted again keeps its keys and gets all else anew. ``added_N`` is what updates added
    to the column since, ``born`` the event of the row's birth, ``made`` the one that last inserted it, and
    ``following`` the commit of its next event.
    """
    changes = {column.offset: _changes(plan, column) for column in plan.columns}
    told = _with_history(steps, plan, {at: change for at, change in changes.items() if change is not None})
    versions = {
        f"version_{column.offset}": F.col(_version(column, changes[column.offset])) for column in plan.columns
    }
    numbers = {f"number_{column.offset}": _number(plan, column) for column in plan.columns}
    return told.withColumns(versions).withColumns(numbers)


def _with_history(steps: DataFrame, plan: GeneratePlan, changes: Mapping[int, Column]) -> DataFrame:
    """With what the events of the row up to now say, all in one window: Spark goes through all rows again for
    each window that waits for another.

    :param changes: whether an event gives the column at an offset a new value.
    """
    until_now, inserted = so_far(plan), F.col("op") == Op.INSERT
    adding = [column for column in plan.columns if column.adds]
    for column in adding:
        steps = with_added(steps, plan, column, f"added_{column.offset}")
    sums = {f"added_{column.offset}": F.sum(_added(plan, column)).over(until_now) for column in adding}
    told = steps.withColumns({
        "born": F.min("event").over(until_now),
        "made": F.max(F.when(inserted, F.col("event"))).over(until_now),
        "following": F.lead("commit_seq").over(by_row(plan)),
        **{
            f"changed_{offset}": F.max(F.when(change, F.col("event"))).over(until_now)
            for offset, change in changes.items()
        },
        **sums,
    })  # fmt: skip
    # A window over ``slot`` and ``made`` would sum since then, and have Spark sort all by it, and back again.
    at_insert = {
        name: F.last(F.when(inserted, F.col(name)), ignorenulls=True).over(until_now) for name in sums
    }
    # Never NULL, as the first event of a row inserts it; without saying so Spark checks it per cell.
    return told.withColumns(
        {name: F.coalesce(F.col(name) - last, F.lit(0)) for name, last in at_insert.items()}
    )


def _added(plan: GeneratePlan, column: ColumnPlan) -> Column:
    counts = (F.col("op") == Op.UPDATE) & _updates(plan, column.offset)
    return F.when(counts, F.col(f"added_{column.offset}")).otherwise(F.lit(0))


def _version(column: ColumnPlan, change: Column | None) -> str:
    """Which event of its row last changed a cell."""
    if change is not None:
        return f"changed_{column.offset}"
    return "born" if column.keyed else "made"


def _changes(plan: GeneratePlan, column: ColumnPlan) -> Column | None:
    """Whether an event gives the column a new value; None if births or inserts alone do."""
    event, is_update = F.col("event"), F.col("op") == Op.UPDATE
    if column.keyed and plan.key_changes:
        return F.col("first") | (is_update & happens(plan.key_changes, draw(plan.salt("key"), event)))
    if column.keyed or column.adds or not _may_update(plan, column.offset):
        return None
    return (F.col("op") == Op.INSERT) | (is_update & _updates(plan, column.offset))


def _may_update(plan: GeneratePlan, offset: int) -> bool:
    if plan.each:
        return any(offset in one.updates for one in plan.each)
    return not plan.updates or offset in plan.updates


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


def _number(plan: GeneratePlan, column: ColumnPlan) -> Column:
    """Rows are numbered first, then changes: all numbers are different."""
    if column.keyed and not plan.key_changes:
        return F.col("slot")
    version = F.col(f"version_{column.offset}")
    return F.when(version == F.col("born"), F.col("slot")).otherwise(version + plan.all_rows)
