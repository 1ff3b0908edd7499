"""Removes the columns that no column selector selects."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.dispatch.column_selection import ColumnSelection
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.select import reduced_tables


def select(changes: DataFrame, tables: Iterable[TableInfo], selection: ColumnSelection) -> DataFrame:
    """Reduce ``before`` and ``after`` to the selected columns.

    :param tables: the versions that are replicated, with all their columns.
    """
    selected = reduced_tables(tables, selection)
    if not selected:
        return changes
    return changes.withColumns({name: _reduced(name, selected) for name in ("before", "after")})


def _reduced(image: str, selected: dict[int, list[int]]) -> Column:
    reduced = F.col(image)
    for version, columns in selected.items():
        values = F.array(*(F.get(F.col(image), F.lit(index)) for index in columns))
        applies = (F.col("table_version") == version) & F.col(image).isNotNull()
        reduced = F.when(applies, values).otherwise(reduced)
    return reduced
