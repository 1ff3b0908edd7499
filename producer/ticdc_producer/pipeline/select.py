"""Stage: row images lose the columns that no column selector asks for, as TiCDC does it before dispatch."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.dispatch.column_selection import ColumnSelection
from ticdc_producer.model.table import TableInfo


def select(changes: DataFrame, tables: Iterable[TableInfo], selection: ColumnSelection) -> DataFrame:
    """The changes with ``before`` and ``after`` as row events show them.

    :param tables: the versions that are replicated, with all their columns.
    """
    places = {table.version: kept for table in tables if (kept := kept_places(table, selection)) is not None}
    if not places:
        return changes
    return changes.withColumns({name: _shown(name, places) for name in ("before", "after")})


def kept_places(table: TableInfo, selection: ColumnSelection) -> list[int] | None:
    """Places that stay of a whole row image; None if all do."""
    sent = selection.of(table).sent
    return None if sent == table.sent else [table.sent.index(offset) for offset in sent]


def _shown(image: str, places: dict[int, list[int]]) -> Column:
    shown = F.col(image)
    for version, kept in places.items():
        some = F.array(*(F.get(F.col(image), F.lit(place)) for place in kept))
        chosen = (F.col("table_version") == version) & F.col(image).isNotNull()
        shown = F.when(chosen, some).otherwise(shown)
    return shown
