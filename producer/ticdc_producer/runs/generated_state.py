"""The expected rows of ``generate`` and ``data`` steps, as DataFrames; never on the driver."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.dataframes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.project_values import project_values, projects_values
from ticdc_producer.pipeline.select import selected_columns
from ticdc_producer.runs.change_log import StepRows
from ticdc_producer.runs.local_rows import local_dataframe
from ticdc_producer.runs.prepare import Job
from ticdc_producer.scenario.dataframe.data import data_rows
from ticdc_producer.scenario.generate.log import generated_rows
from ticdc_producer.scenario.history import RowImage


def generated_state(
    steps: StepRows, job: Job, commits: int | None = None
) -> Iterator[tuple[TableInfo, DataFrame]]:
    """``(table, rows)`` of the replicated tables that ``generate`` and ``data`` steps filled.

    :param commits: the number of commits after which the rows are taken; None: after the last one.
    """
    for table, rows in _generated_or_read(steps, commits):
        if table.version in job.stream.whole:
            selected = _select_columns(job, table, local_dataframe(table, rows, job.changefeed.time_zone))
            yield job.stream.selection.of(table), selected


def _generated_or_read(steps: StepRows, commits: int | None) -> Iterator[tuple[TableInfo, DataFrame]]:
    for plan, row_images in zip(steps.plans, steps.images, strict=True):
        if commits is None or commits > plan.first_commit:
            yield plan.table_after(commits), generated_rows(row_images, plan, commits)
    for source in steps.data:
        if commits is None or commits > source.first_commit:
            yield source.table, data_rows(steps.spark, source, commits)


def _select_columns(job: Job, table: TableInfo, rows: DataFrame) -> DataFrame:
    """Rows without the columns that the column selectors exclude."""
    columns = selected_columns(table, job.stream.selection)
    if columns is None:
        return rows
    return rows.withColumn("row", F.array(*(F.get("row", F.lit(index)) for index in columns)))


def images(rows: DataFrame) -> Iterator[RowImage]:
    """Rows in key order; fetched one Spark partition at a time."""
    for record in rows.orderBy("row_key").toLocalIterator():
        yield tuple(None if value is None else bytes(value) for value in record["row"])


def state_rows(job: Job, table: TableInfo, rows: DataFrame) -> DataFrame:
    """Rows as a reader decodes them: ``schema``, ``table``, ``row``; plus one record with a NULL row.

    Replaced bytes of invalid text need no handling: generated text is valid UTF-8.
    """
    no_image = F.lit(None).cast(IMAGE)
    staged = rows.select(
        F.lit(table.version).alias("table_version"), no_image.alias("before"), F.col("row").alias("after")
    )
    fidelity = job.encoder.fidelity
    projected = _projected(staged, job) if projects_values(job.catalog.tables, fidelity) else staged
    names = F.array(*(F.lit(fidelity.visible_name(column.name)) for column in table.sent_columns))
    schema, own_name = fidelity.visible_name(table.schema), fidelity.visible_name(table.name)
    name = [F.lit(schema).alias("schema"), F.lit(own_name).alias("table")]
    state_frame = projected.select(*name, F.map_from_arrays(names, "after").alias("row"))
    marker = rows.sparkSession.range(1).select(*name, F.lit(None).cast("map<string,binary>").alias("row"))
    return state_frame.unionByName(marker)


def _projected(rows: DataFrame, job: Job) -> DataFrame:
    tables, fidelity = job.catalog.tables, job.encoder.fidelity

    def project(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (project_values(batch, tables, fidelity) for batch in batches)

    return rows.mapInArrow(project, rows.schema)
