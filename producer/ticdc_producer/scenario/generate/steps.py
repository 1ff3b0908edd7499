"""Which row each event touches, and what it does to it.

Rows are numbered as they are born: which event is a birth is arithmetic on its number, so that everybody
knows how many rows there are by then, and an event that is none picks one of them by a hash. One shuffle
brings the events of a row together, in order; everything else about a row follows from the events before.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.draw import draw, happens, quotient, uniform_of, zipf
from ticdc_producer.scenario.generate.picks import births_before, in_transaction, lookup, pick_of
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_form import ROWS_PER_LOAD


def steps(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """One line per row change: ``event, slot, commit_seq, row_seq, op, first``.

    ``slot`` is the number of the row, ``first`` whether the event is its birth. With DDLs there is
    ``version``, the number of the table's version, too, and ``era`` where rows are truncated: how often the
    table was; a row is born in each era anew.
    """
    picked = _picked(spark, plan)
    return _without_looking_back(picked, plan) if _is_known(plan) else _looking_back(picked, plan)


def _is_known(plan: GeneratePlan) -> bool:
    """Whether the number of an event tells what it does to its row, whatever was done to it before."""
    return not plan.eras and bool(plan.each or not plan.delete_chance)


def _without_looking_back(picked: DataFrame, plan: GeneratePlan) -> DataFrame:
    """With ``op`` where a row that is deleted is inserted again by the next change."""
    deleting = [number for number, one in enumerate(plan.each) if one.deletes]
    again = F.col("row_seq").isin([number + 1 for number in deleting])
    inserts = ~F.col("visits") | again
    op = F.when(F.col("deletes"), Op.DELETE).when(inserts, Op.INSERT).otherwise(Op.UPDATE)
    done = picked.withColumns({"op": op.cast("byte"), "first": ~F.col("visits")})
    return done.drop("visits", "deletes")


def _looking_back(picked: DataFrame, plan: GeneratePlan) -> DataFrame:
    """With ``op`` where a hash says what deletes: that meets a row, or one that is gone, and inserts it.

    So in a run of events that would delete, every other one inserts; all others find the row there.
    """
    in_row = by_row(plan)
    counted = picked.withColumn("step", F.row_number().over(in_row))
    first = F.col("step") == 1
    if plan.eras:
        counted = counted.withColumn("deletes", F.col("deletes") & ~first)
    calm = F.max(F.when(~F.col("deletes"), F.col("step")))
    before = in_row.rowsBetween(Window.unboundedPreceding, -1)
    found = counted.withColumns({"calm": calm.over(so_far(plan)), "calm_before": calm.over(before)})
    there = (F.col("step") - F.col("calm")) % 2 == 0
    was_there = (F.col("step") - 1 - F.col("calm_before")) % 2 == 0  # NULL at the first event
    op = F.when(~there, Op.DELETE).when(was_there, Op.UPDATE).otherwise(Op.INSERT)
    done = found.withColumns({"op": op.cast("byte"), "first": first})
    return done.drop("visits", "deletes", "step", "calm", "calm_before")


def by_row(plan: GeneratePlan) -> WindowSpec:
    """The events of a row, in order; of an era, where a truncation ends the rows there are."""
    row = ("slot", "era") if plan.eras else ("slot",)
    return Window.partitionBy(*row).orderBy("event")


def so_far(plan: GeneratePlan) -> WindowSpec:
    """Those up to an event, with it."""
    return by_row(plan).rowsBetween(Window.unboundedPreceding, Window.currentRow)


def _picked(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """Event by event: its place in the history, its row, whether that was born before (``visits``), and
    whether it would be deleted."""
    counted = _counted(spark, plan)
    loads, number, nth = F.col("loads"), F.col("id"), F.col("nth")
    is_last = F.col("born_then") > F.col("born_before")
    is_birth = ~loads & is_last & (nth == 0)
    fresh = F.col("born_before") + plan.rows
    # The second change of a row that was just born goes to that row.
    old = F.when(is_last, fresh).otherwise(_old_row(plan, F.col("visit"), fresh))
    place, there = _placed(plan, F.col("statement"), nth)
    later = F.col("transaction") * plan.rows_per_transaction + place + plan.rows
    chosen = counted.where(loads | there).select(
        F.when(loads, number).otherwise(later).alias("event"),
        F.when(loads, number).when(is_birth, fresh).otherwise(old).alias("slot"),
        F.when(loads, quotient(number, ROWS_PER_LOAD) + plan.first_commit)
        .otherwise(_commit_of(plan, F.col("transaction")))
        .alias("commit_seq"),
        F.when(loads, number % ROWS_PER_LOAD).otherwise(place).alias("row_seq"),
        (~loads & ~is_birth).alias("visits"),
        *_version(plan, F.when(loads, 0).otherwise(F.col("transaction"))),
    )  # fmt: skip
    deletes = F.col("visits") & _deletes(plan, F.col("event"), F.col("row_seq"))
    return chosen.withColumn("deletes", deletes)


def _commit_of(plan: GeneratePlan, transaction: Column) -> Column:
    """Number of a transaction's commit: DDLs between the step's transactions are commits, too."""
    commit = transaction + plan.first_transaction
    return commit + quotient(transaction, plan.ddl_every) if plan.ddl_every else commit


def _version(plan: GeneratePlan, transaction: Column) -> Iterator[Column]:
    if plan.ddl_every:
        version = quotient(transaction, plan.ddl_every)
        yield version.alias("version")
        if plan.eras:
            yield lookup(plan.eras, version).alias("era")


def _counted(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """One line per change there might be, with its pick and the births so far.

    In steps, as each is named several times by the next: written out, Spark would plan for seconds.
    """
    number, most = F.col("id") - F.lit(plan.rows), _most_changes(plan)
    visits = spark.range(0, plan.rows + plan.visits * most).select(
        "id",
        (F.col("id") < plan.rows).alias("loads"),
        quotient(number, most).alias("visit"),
        F.pmod(number, F.lit(most)).alias("nth"),
    )
    visit, pick = F.col("visit"), F.col("pick")
    transaction, statement = in_transaction(plan, pick)
    return visits.withColumn("pick", pick_of(plan, visit)).withColumns({
        "transaction": transaction,
        "statement": statement,
        "born_before": births_before(plan, visit, pick),
        "born_then": births_before(plan, visit + 1, pick + 1),
    })  # fmt: skip


def _most_changes(plan: GeneratePlan) -> int:
    """Row changes of the pick that has most of them."""
    if plan.each:
        return 2 if any(one.deletes for one in plan.each) else 1
    return min(plan.changes_per_row, plan.rows_per_transaction)


def _placed(plan: GeneratePlan, statement: Column, nth: Column) -> tuple[Column, Column]:
    """The place of a pick's nth change in its transaction, and whether it has that many."""
    if plan.each:
        starts = [number for number, one in enumerate(plan.each) if _begins(plan, number)]
        sizes = [2 if plan.each[start].deletes else 1 for start in starts]
        return lookup(starts, statement) + nth, nth < lookup(sizes, statement)
    place = statement * plan.changes_per_row + nth
    return place, place < plan.rows_per_transaction


def _begins(plan: GeneratePlan, place: int) -> bool:
    return place == 0 or plan.each[place - 1].statement != plan.each[place].statement


def _deletes(plan: GeneratePlan, event: Column, place: Column) -> Column:
    if not plan.each:
        return happens(plan.delete_chance, draw(plan.salt("delete"), event))
    return place.isin([number for number, one in enumerate(plan.each) if one.deletes])


def _old_row(plan: GeneratePlan, visit: Column, rows: Column) -> Column:
    drawn = draw(plan.salt("row"), visit)
    return zipf(drawn, rows, plan.hot_keys) if plan.hot_keys else uniform_of(drawn, rows)
