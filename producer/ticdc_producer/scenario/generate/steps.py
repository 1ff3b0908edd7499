"""The row and the operation of each event.

Rows are numbered in the order of their first insert. Arithmetic on the number of an event decides whether it
inserts a new row, so the number of rows at each event is known; every other event picks one of these rows by
a hash. One shuffle collects the events of a row in order; the rest follows from the row's earlier events.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.draw import draw, happens, quotient, uniform_of, zipf
from ticdc_producer.scenario.generate.picks import in_transaction, lookup, new_rows_before, pick_of
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_spec import ROWS_PER_LOAD


def steps(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """One row per row change: ``event, slot, commit_seq, row_seq, op, first``.

    ``slot`` is the number of the row, ``first`` whether the event inserts it for the first time. With DDLs
    there is also ``version``, the number of the table version, and with TRUNCATE ``truncate_generation``, the
    number of truncations before; each row is inserted anew after a truncation.
    """
    picked = _picked(spark, plan)
    return _ops_by_number(picked, plan) if _ops_follow_from_number(plan) else _ops_by_history(picked, plan)


def _ops_follow_from_number(plan: GeneratePlan) -> bool:
    """Whether the operation of an event follows from its number alone, without the row's earlier events."""
    return not plan.truncate_generation and bool(plan.each or not plan.delete_chance)


def _ops_by_number(picked: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``op`` if the next change inserts a deleted row again."""
    deleting = [number for number, one in enumerate(plan.each) if one.deletes]
    again = F.col("row_seq").isin([number + 1 for number in deleting])
    inserts = ~F.col("existing_row") | again
    op = F.when(F.col("deletes"), Op.DELETE).when(inserts, Op.INSERT).otherwise(Op.UPDATE)
    done = picked.withColumns({"op": op.cast("byte"), "first": ~F.col("existing_row")})
    return done.drop("existing_row", "deletes")


def _ops_by_history(picked: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``op`` if a hash decides whether an event deletes; a deleted row is inserted again instead.

    In a run of consecutive deleting events every other one therefore inserts; all other events find an
    existing row.
    """
    in_row = by_row(plan)
    counted = picked.withColumn("step", F.row_number().over(in_row))
    first = F.col("step") == 1
    if plan.truncate_generation:
        counted = counted.withColumn("deletes", F.col("deletes") & ~first)
    last_non_delete = F.max(F.when(~F.col("deletes"), F.col("step")))
    before = in_row.rowsBetween(Window.unboundedPreceding, -1)
    found = counted.withColumns(
        {
            "last_non_delete": last_non_delete.over(up_to_event(plan)),
            "previous_non_delete": last_non_delete.over(before),
        }
    )
    exists = (F.col("step") - F.col("last_non_delete")) % 2 == 0
    existed = (F.col("step") - 1 - F.col("previous_non_delete")) % 2 == 0  # NULL at the first event
    op = F.when(~exists, Op.DELETE).when(existed, Op.UPDATE).otherwise(Op.INSERT)
    done = found.withColumns({"op": op.cast("byte"), "first": first})
    return done.drop("existing_row", "deletes", "step", "last_non_delete", "previous_non_delete")


def by_row(plan: GeneratePlan) -> WindowSpec:
    """Window: the events of a row in order; of one truncate generation, if rows are truncated."""
    row = ("slot", "truncate_generation") if plan.truncate_generation else ("slot",)
    return Window.partitionBy(*row).orderBy("event")


def up_to_event(plan: GeneratePlan) -> WindowSpec:
    """Window: the events of a row up to and including the current one."""
    return by_row(plan).rowsBetween(Window.unboundedPreceding, Window.currentRow)


def _picked(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """Events with their commit and row, ``existing_row`` (not a first insert), and ``deletes``."""
    counted = _counted(spark, plan)
    loads, number, nth = F.col("loads"), F.col("id"), F.col("nth")
    is_last = F.col("new_rows_after") > F.col("new_rows_before")
    is_first_insert = ~loads & is_last & (nth == 0)
    fresh = F.col("new_rows_before") + plan.rows
    # The second change of a new row goes to the same row.
    old = F.when(is_last, fresh).otherwise(_old_row(plan, F.col("table_pick"), fresh))
    position, exists = _change_position(plan, F.col("statement"), nth)
    later = F.col("transaction") * plan.rows_per_transaction + position + plan.rows
    chosen = counted.where(loads | exists).select(
        F.when(loads, number).otherwise(later).alias("event"),
        F.when(loads, number).when(is_first_insert, fresh).otherwise(old).alias("slot"),
        F.when(loads, quotient(number, ROWS_PER_LOAD) + plan.first_commit)
        .otherwise(_commit_of(plan, F.col("transaction")))
        .alias("commit_seq"),
        F.when(loads, number % ROWS_PER_LOAD).otherwise(position).alias("row_seq"),
        (~loads & ~is_first_insert).alias("existing_row"),
        *_version(plan, F.when(loads, 0).otherwise(F.col("transaction"))),
    )  # fmt: skip
    deletes = F.col("existing_row") & _deletes(plan, F.col("event"), F.col("row_seq"))
    return chosen.withColumn("deletes", deletes)


def _commit_of(plan: GeneratePlan, transaction: Column) -> Column:
    """Commit number of a transaction; DDLs between the transactions are commits as well."""
    commit = transaction + plan.first_transaction
    return commit + quotient(transaction, plan.ddl_every) if plan.ddl_every else commit


def _version(plan: GeneratePlan, transaction: Column) -> Iterator[Column]:
    if plan.ddl_every:
        version = quotient(transaction, plan.ddl_every)
        yield version.alias("version")
        if plan.truncate_generation:
            yield lookup(plan.truncate_generation, version).alias("truncate_generation")


def _counted(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """One row per possible change, with its pick and the number of new rows before.

    Computed in several steps, because each expression occurs several times in the next; inlined, Spark would
    plan for seconds.
    """
    number, most = F.col("id") - F.lit(plan.rows), _most_changes(plan)
    table_picks = spark.range(0, plan.rows + plan.table_picks * most).select(
        "id",
        (F.col("id") < plan.rows).alias("loads"),
        quotient(number, most).alias("table_pick"),
        F.pmod(number, F.lit(most)).alias("nth"),
    )
    table_pick, pick = F.col("table_pick"), F.col("pick")
    transaction, statement = in_transaction(plan, pick)
    return table_picks.withColumn("pick", pick_of(plan, table_pick)).withColumns({
        "transaction": transaction,
        "statement": statement,
        "new_rows_before": new_rows_before(plan, table_pick, pick),
        "new_rows_after": new_rows_before(plan, table_pick + 1, pick + 1),
    })  # fmt: skip


def _most_changes(plan: GeneratePlan) -> int:
    """Maximum number of row changes of a pick."""
    if plan.each:
        return 2 if any(one.deletes for one in plan.each) else 1
    return min(plan.changes_per_row, plan.rows_per_transaction)


def _change_position(plan: GeneratePlan, statement: Column, nth: Column) -> tuple[Column, Column]:
    """Position of a pick's nth change in its transaction, and whether the pick has that many changes."""
    if plan.each:
        starts = [number for number, one in enumerate(plan.each) if _begins(plan, number)]
        sizes = [2 if plan.each[start].deletes else 1 for start in starts]
        return lookup(starts, statement) + nth, nth < lookup(sizes, statement)
    position = statement * plan.changes_per_row + nth
    return position, position < plan.rows_per_transaction


def _begins(plan: GeneratePlan, position: int) -> bool:
    return position == 0 or plan.each[position - 1].statement != plan.each[position].statement


def _deletes(plan: GeneratePlan, event: Column, position: Column) -> Column:
    if not plan.each:
        return happens(plan.delete_chance, draw(plan.salt("delete"), event))
    return position.isin([number for number, one in enumerate(plan.each) if one.deletes])


def _old_row(plan: GeneratePlan, table_pick: Column, rows: Column) -> Column:
    drawn = draw(plan.salt("row"), table_pick)
    return zipf(drawn, rows, plan.hot_keys) if plan.hot_keys else uniform_of(drawn, rows)
