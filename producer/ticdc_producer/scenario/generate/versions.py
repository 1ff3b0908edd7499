"""The version of each value of a row: the number of the event that last changed it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.draw import draw, happens, uniform
from ticdc_producer.scenario.generate.expressions import with_added
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.steps import by_row, up_to_event

_ALSO = 0.25
"""Probability of each further column to change in an update."""


def with_versions(steps: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``version_N`` for the column at offset N, and ``number_N``, the number for a sequence.

    A row that is inserted again retains its keys; all other values are new. ``added_N`` is the sum that
    updates added to the column since the insert, ``born`` the row's first event, ``made`` the event that last
    inserted it, and ``following`` the commit of its next event.
    """
    changes = {column.offset: _changes(plan, column) for column in plan.columns}
    with_history = _with_history(
        steps, plan, {at: change for at, change in changes.items() if change is not None}
    )
    versions = {
        f"version_{column.offset}": F.col(_version(column, changes[column.offset])) for column in plan.columns
    }
    numbers = {f"number_{column.offset}": _number(plan, column) for column in plan.columns}
    return with_history.withColumns(versions).withColumns(numbers)


def _with_history(steps: DataFrame, plan: GeneratePlan, changes: Mapping[int, Column]) -> DataFrame:
    """Add data of the row's events so far, in one window.

    Spark makes a pass over all rows for each window that depends on another.

    :param changes: by offset, whether an event gives the column a new value.
    """
    until_now, inserted = up_to_event(plan), F.col("op") == Op.INSERT
    adding = [column for column in plan.columns if column.adds]
    for column in adding:
        steps = with_added(steps, plan, column, f"added_{column.offset}")
    sums = {f"added_{column.offset}": F.sum(_added(plan, column)).over(until_now) for column in adding}
    with_history = steps.withColumns({
        "born": F.min("event").over(until_now),
        "made": F.max(F.when(inserted, F.col("event"))).over(until_now),
        "following": F.lead("commit_seq").over(by_row(plan)),
        **{
            f"changed_{offset}": F.max(F.when(change, F.col("event"))).over(until_now)
            for offset, change in changes.items()
        },
        **sums,
    })  # fmt: skip
    # A window over ``slot`` and ``made`` would give the sum directly, but needs two more sorts.
    at_insert = {
        name: F.last(F.when(inserted, F.col(name)), ignorenulls=True).over(until_now) for name in sums
    }
    # Never NULL: the first event of a row inserts it. Without coalesce Spark checks each value.
    return with_history.withColumns(
        {name: F.coalesce(F.col(name) - last, F.lit(0)) for name, last in at_insert.items()}
    )


def _added(plan: GeneratePlan, column: ColumnPlan) -> Column:
    counts = (F.col("op") == Op.UPDATE) & _updates(plan, column.offset)
    return F.when(counts, F.col(f"added_{column.offset}")).otherwise(F.lit(0))


def _version(column: ColumnPlan, change: Column | None) -> str:
    """Name of the column with the event that last changed the value."""
    if change is not None:
        return f"changed_{column.offset}"
    return "born" if column.keyed else "made"


def _changes(plan: GeneratePlan, column: ColumnPlan) -> Column | None:
    """Whether an event gives the column a new value; None if only inserts do."""
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
    if offset not in plan.updatable:  # not in all versions; an update must change a column that is
        return also
    first = uniform(draw(plan.salt("updated"), event), len(plan.updatable))
    return (first == plan.updatable.index(offset)) | also


def _number(plan: GeneratePlan, column: ColumnPlan) -> Column:
    """The number for a sequence: rows are numbered first, then changes, so all numbers are different."""
    if column.keyed and not plan.key_changes:
        return F.col("slot")
    version = F.col(f"version_{column.offset}")
    return F.when(version == F.col("born"), F.col("slot")).otherwise(version + plan.all_rows)
