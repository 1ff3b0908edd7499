"""What the faults must know of each table version and DDL, as small DataFrames."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.table import TableInfo

_TABLES = (
    "table_version int, table_name string, handle_places array<int>, loose_places array<int>, drifted int"
)
_DDLS = "ddl int, ddl_table string"
_DRIFT = "_drifted"


@dataclass(frozen=True, slots=True)
class TableFacts:
    """:param tables: one row per version: name, image places of the handle key and of the columns in no
        index, and the version that schema-drift makes of it, if there is one.
    :param ddls: one row per DDL of one table, which keeps its name.
    """

    tables: DataFrame
    ddls: DataFrame


def with_drifted(catalog: Catalog) -> Catalog:
    """The catalog with a further version of each table in which a column has drifted to another name."""
    drifted = [_drifted(table) for table in catalog.tables if loose_places(table)]
    count = len(catalog.tables)
    numbered = tuple(replace(table, version=count + place) for place, table in enumerate(drifted))
    return replace(catalog, tables=(*catalog.tables, *numbered))


def _drifted(table: TableInfo) -> TableInfo:
    offset = table.sent[loose_places(table)[-1]]
    columns = list(table.columns)
    columns[offset] = replace(columns[offset], name=columns[offset].name + _DRIFT)
    return replace(table, columns=tuple(columns))


def loose_places(table: TableInfo) -> list[int]:
    """Image places of the columns that are in no index and not generated."""
    keys = {offset for index in table.indexes for offset in index.offsets}
    return [
        place
        for place, offset in enumerate(table.sent)
        if offset not in keys and not table.columns[offset].generated
    ]


def handle_places(table: TableInfo) -> list[int]:
    """Image places of the handle key's columns; none for a table without."""
    offsets = () if table.handle_index is None else table.handle_index.offsets
    places = (table.image_place(offset) for offset in offsets)
    return [place for place in places if place is not None]


def table_facts(spark: SparkSession, catalog: Catalog) -> TableFacts:
    """The facts of a catalog.

    :param catalog: without drifted tables.
    """
    with_loose = [table.version for table in catalog.tables if loose_places(table)]
    drifted = {version: len(catalog.tables) + place for place, version in enumerate(with_loose)}
    tables = [
        (
            table.version,
            table.qualified_name,
            handle_places(table),
            loose_places(table),
            drifted.get(table.version),
        )
        for table in catalog.tables
    ]
    ddls = [
        (place, f"{job.schema}.{job.table}")
        for place, job in enumerate(catalog.ddls)
        if job.table and (job.old_schema, job.old_table) == (job.schema, job.table)
    ]
    return TableFacts(spark.createDataFrame(tables, _TABLES), spark.createDataFrame(ddls, _DDLS))
