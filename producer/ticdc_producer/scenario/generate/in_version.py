"""Which version of its table a generated change is of, and what that shows of a row."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.plan import GeneratePlan


def in_version(log: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Changes with ``table_version`` and ``table_id``, and images of that version's columns.

    TiCDC reads the old row, too, by the table as it is when the change commits.

    :param log: with ``before`` and ``after``, images of all columns that the table ever has; and with
        ``version``, if there are several.
    """
    if not plan.versions:
        return log.withColumns(
            {"table_version": F.lit(plan.table.version), "table_id": F.lit(plan.table.table_id)}
        )
    known = [
        (number, table.version, table.table_id, _places(plan, table))
        for number, table in enumerate(plan.versions)
    ]
    form = "version long, table_version int, table_id long, places array<int>"
    joined = log.join(F.broadcast(log.sparkSession.createDataFrame(known, form)), "version")
    return joined.withColumns({image: _at(F.col("places"), image) for image in ("before", "after")})


def shown_by(plan: GeneratePlan, table: TableInfo, image: str) -> Column:
    """An image of all columns that the table ever has, as one version of it shows the row."""
    if not plan.versions:
        return F.col(image)
    return _at(F.array(*map(F.lit, _places(plan, table))), image)


def _at(places: Column, image: str) -> Column:
    shown = F.transform(places, lambda place: F.get(image, place))
    return F.when(F.col(image).isNotNull(), shown)


def _places(plan: GeneratePlan, table: TableInfo) -> list[int]:
    """Where among the plan's columns those are that a version of its table has."""
    names = [column.column.name for column in plan.columns]
    return [names.index(column.name) for column in table.sent_columns]
