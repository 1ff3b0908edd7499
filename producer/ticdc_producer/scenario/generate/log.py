"""The change log of a ``generate`` step, and its rows at the end."""

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
from ticdc_producer.scenario.generate.in_version import image_in_version, in_version
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.steps import by_row, steps
from ticdc_producer.scenario.generate.versions import with_versions


def generated_images(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """The image that each event of the step leaves; changes and rows are computed from these images.

    :return: ``event, slot, commit_seq, row_seq, following, op, row_key, row_id, after``; with DDLs also
        ``version`` and ``truncate_generation`` of ``steps``, and ``after`` has the columns of all versions.
    :raises ScenarioError: with file and line of the step, for an unsupported key or expression.
    """
    try:
        return _with_images(with_versions(steps(spark, plan), plan), plan)
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None


def generated_changes(images: DataFrame, plan: GeneratePlan) -> DataFrame:
    """The changes of the step.

    :return: shape ``CHANGE_LOG``.
    """
    with_previous = _with_previous(images, plan)
    is_update = F.col("op") == Op.UPDATE
    moved = is_update & (F.col("left_key") != F.col("row_key"))
    whole = with_previous.withColumns({
        "before": F.when(F.col("op") != Op.INSERT, F.col("left")),
        "old_row_key": F.when(moved, F.col("left_key")),
        "old_row_id": F.when(moved, F.col("left_id")),
    })  # fmt: skip
    return _of_table(whole, plan)


def net_changes(images: DataFrame, plan: GeneratePlan) -> DataFrame:
    """The net change of each row in each transaction of the step.

    All events of a row have one ``slot``, whatever its keys, and no two rows ever have the same key. The net
    change therefore leads from the row's last event before the transaction to its last event in it.

    :return: shape ``CHANGE_LOG``, at most one change per row and transaction.
    """
    last_of_transaction = ~F.col("following").eqNullSafe(F.col("commit_seq"))
    with_previous = _with_previous(images.where(last_of_transaction), plan)
    exists, stays = F.col("left").isNotNull(), F.col("after").isNotNull()
    moved = exists & stays & (F.col("left_key") != F.col("row_key"))
    whole = with_previous.where(exists | stays).withColumns({
        "op": F.when(~exists, Op.INSERT).when(stays, Op.UPDATE).otherwise(Op.DELETE),
        "before": F.col("left"),
        "old_row_key": F.when(moved, F.col("left_key")),
        "old_row_id": F.when(moved, F.col("left_id")),
        # The key or the hidden id of a row may have changed before the transaction deleted it.
        "row_key": F.when(stays, F.col("row_key")).otherwise(F.col("left_key")),
        "row_id": F.when(stays, F.col("row_id")).otherwise(F.col("left_id")),
    })  # fmt: skip
    return _of_table(whole, plan)


def _with_previous(images: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add image, key and id of the row after its previous event."""
    in_row = by_row(plan)
    moving = {"left_key": F.col("row_key"), "left_id": F.col("row_id")}
    if plan.rows_move:
        moving = {name: F.lag(of).over(in_row) for name, of in moving.items()}
    return images.withColumns({"left": F.lag("after").over(in_row), **moving})


def _of_table(log: DataFrame, plan: GeneratePlan) -> DataFrame:
    moved = F.col("old_row_key").isNotNull()
    versioned_log = in_version(log, plan).withColumn("old_table_id", F.when(moved, F.col("table_id")))
    return in_shape(versioned_log, CHANGE_LOG)


def generated_rows(images: DataFrame, plan: GeneratePlan, commits: int | None = None) -> DataFrame:
    """The rows after the step: ``row_key`` and ``row``, an image of ``plan.table_after``.

    :param commits: number of commits of the whole history; None: at the end.
    """
    table = plan.table_after(commits)
    if commits is not None:
        images = images.where(F.col("commit_seq") < commits)
    if plan.truncate_generation:
        images = images.where(
            F.col("truncate_generation") == plan.truncate_generation[plan.versions.index(table)]
        )
    images = images.withColumn("after", image_in_version(plan, table, "after"))
    # A struct, because max_by ignores the NULL that a delete leaves.
    last = images.groupBy("slot").agg(F.max_by(F.struct("row_key", "after"), "event").alias("last"))
    return last.where("last.after IS NOT NULL").select("last.row_key", F.col("last.after").alias("row"))


def _with_images(versions: DataFrame, plan: GeneratePlan) -> DataFrame:
    head = ["event", "slot", "commit_seq", "row_seq", "following", "op"]
    head += [name for name in ("version", "truncate_generation") if name in versions.columns]
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
    """Row key and integer handle; without a clustered key a hidden row id, new with each insert."""
    if plan.table.clustered_key is None:
        hidden = F.col("made") + 1
        return F.unhex(int_key(hidden)), hidden
    key = stored_key(plan.table)
    return key.row_key(values), key.row_id(values)
