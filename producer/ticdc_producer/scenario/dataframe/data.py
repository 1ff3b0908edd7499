"""A ``data`` step as a change log, and the rows it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.data_step import DataPlan
from ticdc_producer.scenario.dataframe.changes import changes
from ticdc_producer.scenario.dataframe.refusal import stop
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence


def data_changes(spark: SparkSession, plan: DataPlan) -> DataFrame:
    """The step's changes (shape ``CHANGE_LOG``).

    :raises ScenarioError: with the step's place, for a source that Spark cannot read, and unfit columns.
    """
    form = plan.form
    with _placed(plan):
        log = changes(_loaded(spark, plan), plan.table, op=form.op, order=form.order, before=form.before)
    number = F.col("commit_seq")
    beyond = stop(f"{form.order[0]!r} is not below {form.transactions}, the step's transactions: ", number)
    placed = F.when(number < form.transactions, number + plan.first_commit).otherwise(beyond.cast("long"))
    return log.withColumn("commit_seq", placed)


def data_rows(spark: SparkSession, plan: DataPlan, commits: int | None = None) -> DataFrame:
    """The rows that the step leaves: ``row_key`` and ``row``, an image.

    :param commits: those there are after so many commits of the whole history; None: at the end.
    """
    log = data_changes(spark, plan)
    if commits is not None:
        log = log.where(F.col("commit_seq") < commits)
    place = F.struct("commit_seq", "row_seq")
    arrived = log.select("row_key", place.alias("place"), F.struct(F.col("after").alias("row")).alias("left"))
    no_row = F.struct(F.lit(None).cast(log.schema["after"].dataType).alias("row"))
    moved = log.where("old_row_key IS NOT NULL")
    gone = moved.select(F.col("old_row_key").alias("row_key"), place.alias("place"), no_row.alias("left"))
    last = arrived.unionByName(gone).groupBy("row_key").agg(F.max_by("left", "place").alias("last"))
    return last.where("last.row IS NOT NULL").select("row_key", F.col("last.row").alias("row"))


def _loaded(spark: SparkSession, plan: DataPlan) -> DataFrame:
    reader = spark.read.format(plan.form.format).options(**plan.form.options)
    if plan.form.schema_ is not None:
        reader = reader.schema(plan.form.schema_)
    return reader.load(plan.location) if plan.location else reader.load()


@contextmanager
def _placed(plan: DataPlan) -> Iterator[None]:
    """Errors get the step's place; Spark's become ours, with their first line."""
    try:
        yield
    except ScenarioError as error:
        raise error.at(plan.file, plan.line) from None
    except READ_ERRORS as error:
        what = f"Spark does not read the data of {plan.table.qualified_name}: {first_sentence(error)}"
        raise ScenarioError(what, file=plan.file, line=plan.line) from None
