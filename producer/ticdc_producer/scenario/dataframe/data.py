"""The change log of a ``data`` step, and the rows that exist after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.data_step import DataPlan
from ticdc_producer.scenario.dataframe.changes import changes
from ticdc_producer.scenario.dataframe.dump import dump_changes
from ticdc_producer.scenario.dataframe.refusal import stop_job
from ticdc_producer.scenario.dump_step import DumpPlan
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence


def data_changes(spark: SparkSession, plan: DataPlan | DumpPlan) -> DataFrame:
    """The step's changes (shape ``CHANGE_LOG``).

    :raises ScenarioError: with the step's file and line, for a source that Spark cannot read, and for columns
        that do not fit the table.
    """
    if isinstance(plan, DumpPlan):
        return dump_changes(spark, plan)
    spec = plan.spec
    with _located(plan):
        log = changes(_loaded(spark, plan), plan.table, op=spec.op, order=spec.order, before=spec.before)
    number = F.col("commit_seq")
    beyond = stop_job(
        f"{spec.order[0]!r} is not below {spec.transactions}, the step's transactions: ", number
    )
    shifted = F.when(number < spec.transactions, number + plan.first_commit).otherwise(beyond.cast("long"))
    return log.withColumn("commit_seq", shifted)


def data_rows(spark: SparkSession, plan: DataPlan | DumpPlan, commits: int | None = None) -> DataFrame:
    """The rows that exist after the step: columns ``row_key`` and ``row`` (an image).

    :param commits: number of commits of the whole history after which the rows are taken; None: all.
    """
    log = data_changes(spark, plan)
    if commits is not None:
        log = log.where(F.col("commit_seq") < commits)
    position = F.struct("commit_seq", "row_seq")
    arrived = log.select(
        "row_key", position.alias("place"), F.struct(F.col("after").alias("row")).alias("left")
    )
    no_row = F.struct(F.lit(None).cast(log.schema["after"].dataType).alias("row"))
    moved = log.where("old_row_key IS NOT NULL")
    gone = moved.select(F.col("old_row_key").alias("row_key"), position.alias("place"), no_row.alias("left"))
    last = arrived.unionByName(gone).groupBy("row_key").agg(F.max_by("left", "place").alias("last"))
    return last.where("last.row IS NOT NULL").select("row_key", F.col("last.row").alias("row"))


def _loaded(spark: SparkSession, plan: DataPlan) -> DataFrame:
    reader = spark.read.format(plan.spec.format).options(**plan.spec.options)
    if plan.spec.schema_ is not None:
        reader = reader.schema(plan.spec.schema_)
    return reader.load(plan.location) if plan.location else reader.load()


@contextmanager
def _located(plan: DataPlan) -> Iterator[None]:
    """Context that adds the step's file and line to errors; Spark's errors become ``ScenarioError``."""
    try:
        yield
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None
    except READ_ERRORS as error:
        what = f"Spark cannot read the data of {plan.table.qualified_name}: {first_sentence(error)}"
        raise ScenarioError(what, file=plan.file, line=plan.line) from None
