"""Adds the table version of generated changes, and reduces images to the columns of that version."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.plan import GeneratePlan


def in_version(log: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Changes with ``table_version`` and ``table_id``, and images with that version's columns.

    TiCDC also decodes the old row with the table version at the commit of the change.

    :param log: changes with ``before`` and ``after``, images of the columns of all table versions; and with
        ``version``, if there are several versions.
    """
    if not plan.versions:
        return log.withColumns(
            {"table_version": F.lit(plan.table.version), "table_id": F.lit(plan.table.table_id)}
        )
    known = [
        (number, table.version, table.table_id, _column_indexes(plan, table))
        for number, table in enumerate(plan.versions)
    ]
    table_schema = "version long, table_version int, table_id long, indexes array<int>"
    joined = log.join(F.broadcast(log.sparkSession.createDataFrame(known, table_schema)), "version")
    return joined.withColumns({image: _at(F.col("indexes"), image) for image in ("before", "after")})


def image_in_version(plan: GeneratePlan, table: TableInfo, image: str) -> Column:
    """An image of the columns of all table versions, reduced to the columns of one version."""
    if not plan.versions:
        return F.col(image)
    return _at(F.array(*map(F.lit, _column_indexes(plan, table))), image)


def _at(indexes: Column, image: str) -> Column:
    versioned = F.transform(indexes, lambda index: F.get(image, index))
    return F.when(F.col(image).isNotNull(), versioned)


def _column_indexes(plan: GeneratePlan, table: TableInfo) -> list[int]:
    """Indexes of a table version's columns in the plan's columns."""
    names = [column.column.name for column in plan.columns]
    return [names.index(column.name) for column in table.sent_columns]
