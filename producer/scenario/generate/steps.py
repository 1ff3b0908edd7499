"""Which row each event touches, and what it does to it.

Rows are numbered as they are born: which event is a birth is arithmetic on its number, so that everybody
knows how many rows there are by then, and an event that is none picks one of them by a hash. One shuffle
brings the events of a row together, in order; everything else about a row follows from the events before.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from producer.model.event import Op
from producer.scenario.generate.draw import draw, happens, quotient, uniform_of, zipf
from producer.scenario.generate.plan import ROWS_PER_LOAD, GeneratePlan


def steps(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """One line per row change: ``event, slot, commit_seq, row_seq, op, born, made``.

    ``slot`` is the number of the row, ``born`` the event of its birth, ``made`` the one that last
    inserted it.
    """
    in_row = by_row()
    so_far = in_row.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    picked = _picked(spark, plan).withColumn("step", F.row_number().over(in_row))
    # In a run of events that would delete, every other one meets a row that is gone, and inserts it.
    calm = F.max(F.when(~F.col("deletes"), F.col("step"))).over(so_far)
    there = picked.withColumn("there", (F.col("step") - calm) % 2 == 0)
    before = F.coalesce(F.lag("there").over(in_row), F.lit(False))
    op = F.when(~F.col("there"), Op.DELETE).when(before, Op.UPDATE).otherwise(Op.INSERT)
    done = there.withColumn("op", op.cast("byte")).drop("deletes", "step", "there")
    inserted = F.when(F.col("op") == Op.INSERT, F.col("event"))
    return done.withColumns({
        "born": F.min("event").over(so_far),
        "made": F.max(inserted).over(so_far),
    })  # fmt: skip


def by_row() -> WindowSpec:
    """The events of a row, in order."""
    return Window.partitionBy("slot").orderBy("event")


def _picked(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """Event by event: its place in the history, its row, and whether it would delete."""
    event = F.col("event")
    later = event - F.lit(plan.rows)
    loads = event < plan.rows
    transaction = quotient(later, plan.rows_per_transaction)
    place = F.pmod(later, F.lit(plan.rows_per_transaction))
    visit = transaction * plan.visits_per_transaction + _statement(plan, place)
    births, births_then = _births(plan, visit), _births(plan, visit + 1)
    is_birth = ~loads & (births_then > births) & (place % plan.changes_per_row == 0)
    fresh = F.lit(plan.rows) + births
    # The second change of a row that was just born goes to that row.
    old = F.when(births_then > births, fresh).otherwise(_old_row(plan, visit, fresh))
    deletes = ~loads & ~is_birth & _deletes(plan, event, place)
    load_commit, load_place = quotient(event, ROWS_PER_LOAD), event % ROWS_PER_LOAD
    return spark.range(0, plan.events).select(
        F.col("id").alias("event")
    ).select(
        event,
        F.when(loads, event).when(is_birth, fresh).otherwise(old).alias("slot"),
        (
            F.lit(plan.first_commit)
            + F.when(loads, load_commit).otherwise(transaction + plan.load_commits)
        ).alias("commit_seq"),
        F.when(loads, load_place).otherwise(place).alias("row_seq"),
        deletes.alias("deletes"),
    )  # fmt: skip


def _statement(plan: GeneratePlan, place: Column) -> Column:
    """The number of the pick, within its transaction, that a change belongs to."""
    if not plan.each:
        return quotient(place, plan.changes_per_row)
    return F.get(F.lit([one.statement for one in plan.each]), place.cast("int")).cast("long")


def _deletes(plan: GeneratePlan, event: Column, place: Column) -> Column:
    if not plan.each:
        return happens(plan.delete_chance, draw(plan.salt("delete"), event))
    return place.isin([number for number, one in enumerate(plan.each) if one.deletes])


def _births(plan: GeneratePlan, visit: Column) -> Column:
    """How many rows were born before a visit: ``births`` of them, evenly over all visits, the first first."""
    visits = plan.transactions * plan.visits_per_transaction
    return quotient(visit * plan.births + (visits - 1), visits)


def _old_row(plan: GeneratePlan, visit: Column, rows: Column) -> Column:
    drawn = draw(plan.salt("row"), visit)
    return zipf(drawn, rows, plan.hot_keys) if plan.hot_keys else uniform_of(drawn, rows)
