"""A ``generate`` step as a change log, and the rows it leaves."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.dataframes import CHANGE_LOG, IMAGE, in_shape
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.dataframe.key_part import int_key
from ticdc_producer.scenario.dataframe.row_key import stored_key
from ticdc_producer.scenario.generate.cells import cell
from ticdc_producer.scenario.generate.expressions import with_expressions
from ticdc_producer.scenario.generate.in_version import in_version, shown_by
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.steps import by_row, steps
from ticdc_producer.scenario.generate.versions import with_versions


def generated_images(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """What each event of the step leaves of the row that it hits; changes and rows are made of it.

    :return: ``event, slot, commit_seq, row_seq, following, op, row_key, row_id, after``; with DDLs
        ``version`` and ``era``, as ``steps`` gives them, and ``after`` has all columns that the table ever
        has.
    :raises ScenarioError: with the step's place, for a key or an expression that Spark has no way for.
    """
    try:
        return _filled(with_versions(steps(spark, plan), plan), plan)
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None


def generated_changes(images: DataFrame, plan: GeneratePlan) -> DataFrame:
    """The step's changes.

    :return: shape ``CHANGE_LOG``.
    """
    looked_back = _looked_back(images, plan)
    is_update = F.col("op") == Op.UPDATE
    moved = is_update & (F.col("left_key") != F.col("row_key"))
    whole = looked_back.withColumns({
        "before": F.when(F.col("op") != Op.INSERT, F.col("left")),
        "old_row_key": F.when(moved, F.col("left_key")),
        "old_row_id": F.when(moved, F.col("left_id")),
    })  # fmt: skip
    return _of_table(whole, plan)


def net_changes(images: DataFrame, plan: GeneratePlan) -> DataFrame:
    """What each transaction of the step changes in the end, a row at a time.

    All that happens to a row, whatever its keys, are events of one slot, and no two rows ever have the same
    key. So a transaction takes a row from where its last event before left it to where its own last one does.

    :return: shape ``CHANGE_LOG``, at most one change of a row in a transaction.
    """
    last_of_transaction = ~F.col("following").eqNullSafe(F.col("commit_seq"))
    looked_back = _looked_back(images.where(last_of_transaction), plan)
    there, stays = F.col("left").isNotNull(), F.col("after").isNotNull()
    moved = there & stays & (F.col("left_key") != F.col("row_key"))
    whole = looked_back.where(there | stays).withColumns({
        "op": F.when(~there, Op.INSERT).when(stays, Op.UPDATE).otherwise(Op.DELETE),
        "before": F.col("left"),
        "old_row_key": F.when(moved, F.col("left_key")),
        "old_row_id": F.when(moved, F.col("left_id")),
        # A row may have got another key, or another hidden id, before the transaction deleted it.
        "row_key": F.when(stays, F.col("row_key")).otherwise(F.col("left_key")),
        "row_id": F.when(stays, F.col("row_id")).otherwise(F.col("left_id")),
    })  # fmt: skip
    return _of_table(whole, plan)


def _looked_back(images: DataFrame, plan: GeneratePlan) -> DataFrame:
    """With what the event before left of the row: its image, key and id."""
    in_row = by_row(plan)
    moving = {"left_key": F.col("row_key"), "left_id": F.col("row_id")}
    if plan.rows_move:
        moving = {name: F.lag(of).over(in_row) for name, of in moving.items()}
    return images.withColumns({"left": F.lag("after").over(in_row), **moving})


def _of_table(log: DataFrame, plan: GeneratePlan) -> DataFrame:
    moved = F.col("old_row_key").isNotNull()
    placed = in_version(log, plan).withColumn("old_table_id", F.when(moved, F.col("table_id")))
    return in_shape(placed, CHANGE_LOG)


def generated_rows(images: DataFrame, plan: GeneratePlan, commits: int | None = None) -> DataFrame:
    """The rows that the step leaves: ``row_key`` and ``row``, an image of ``plan.table_after``.

    :param commits: those there are after so many commits of the whole history; None: at the end.
    """
    table = plan.table_after(commits)
    if commits is not None:
        images = images.where(F.col("commit_seq") < commits)
    if plan.eras:
        images = images.where(F.col("era") == plan.eras[plan.versions.index(table)])
    images = images.withColumn("after", shown_by(plan, table, "after"))
    # A struct, since max_by would pass over the NULL that a delete leaves.
    last = images.groupBy("slot").agg(F.max_by(F.struct("row_key", "after"), "event").alias("last"))
    return last.where("last.after IS NOT NULL").select("last.row_key", F.col("last.after").alias("row"))


def _filled(versions: DataFrame, plan: GeneratePlan) -> DataFrame:
    head = ["event", "slot", "commit_seq", "row_seq", "following", "op"]
    head += [name for name in ("version", "era") if name in versions.columns]
    computed = with_expressions(versions, plan)
    cells = [cell(plan, column, computed).alias(f"cell_{column.offset}") for column in plan.columns]
    filled = computed.select(*head, "made", *cells)
    values = {column.offset: F.col(f"cell_{column.offset}") for column in plan.columns}
    row_key, row_id = _stored_under(plan, values)
    image = F.array(*values.values()).cast(IMAGE)
    return filled.select(
        *head,
        row_key.alias("row_key"),
        row_id.cast("long").alias("row_id"),
        F.when(F.col("op") != Op.DELETE, image).alias("after"),
    )


def _stored_under(plan: GeneratePlan, values: dict[int, Column]) -> tuple[Column, Column]:
    """Row key and integer handle; without a clustered key the hidden row id, a new one with each insert."""
    if plan.table.clustered_key is None:
        hidden = F.col("made") + 1
        return F.unhex(int_key(hidden)), hidden
    key = stored_key(plan.table)
    return key.row_key(values), key.row_id(values)
