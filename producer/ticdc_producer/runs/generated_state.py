"""The expected rows of tables that were generated or read: DataFrames, as the driver never holds them."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.dataframes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.project_values import told_values
from ticdc_producer.pipeline.select import kept_places
from ticdc_producer.runs.change_log import Upstream
from ticdc_producer.runs.local_rows import local_frame
from ticdc_producer.runs.prepare import Job
from ticdc_producer.scenario.dataframe.data import data_rows
from ticdc_producer.scenario.generate.log import generated_rows
from ticdc_producer.scenario.history import RowImage


def generated_state(
    committed: Upstream, job: Job, commits: int | None = None
) -> Iterator[tuple[TableInfo, DataFrame]]:
    """``(table, rows)`` of the replicated tables that ``generate`` and ``data`` steps filled.

    :param commits: the rows there were after so many commits; None: those at the end.
    """
    for table, rows in _made(committed, job, commits):
        if table.version in job.stream.whole:
            shown = _shown(job, table, local_frame(table, rows, job.changefeed.time_zone))
            yield job.stream.selection.of(table), shown


def _made(committed: Upstream, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, DataFrame]]:
    for plan, made in zip(committed.plans, committed.images, strict=True):
        if commits is None or commits > plan.first_commit:
            yield plan.table_after(commits), generated_rows(made, plan, commits)
    for source in job.history.data:
        if commits is None or commits > source.first_commit:
            yield source.table, data_rows(committed.spark, source, commits)


def _shown(job: Job, table: TableInfo, rows: DataFrame) -> DataFrame:
    """Rows without the columns that no column selector asks for."""
    places = kept_places(table, job.stream.selection)
    if places is None:
        return rows
    return rows.withColumn("row", F.array(*(F.get("row", F.lit(place)) for place in places)))


def images(rows: DataFrame) -> Iterator[RowImage]:
    """Rows in the order of their keys, one partition of them at a time."""
    for line in rows.orderBy("row_key").toLocalIterator():
        yield tuple(None if value is None else bytes(value) for value in line["row"])


def state_lines(job: Job, table: TableInfo, rows: DataFrame) -> DataFrame:
    """Rows as a reader gets them: ``schema``, ``table``, ``row``, and a line without row.

    Damage to text is no matter: generated text is UTF-8.
    """
    no_image = F.lit(None).cast(IMAGE)
    staged = rows.select(
        F.lit(table.version).alias("table_version"), no_image.alias("before"), F.col("row").alias("after")
    )
    losses = job.encoder.losses
    told = told_values(staged, job.catalog, losses)
    names = F.array(*(F.lit(losses.told_name(column.name)) for column in table.sent_columns))
    schema, own_name = losses.told_name(table.schema), losses.told_name(table.name)
    name = [F.lit(schema).alias("schema"), F.lit(own_name).alias("table")]
    lines = told.select(*name, F.map_from_arrays(names, "after").alias("row"))
    nothing = rows.sparkSession.range(1).select(*name, F.lit(None).cast("map<string,binary>").alias("row"))
    return lines.unionByName(nothing)
