"""What the faults need to know of each table version and DDL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.table import TableInfo

_DRIFT_SUFFIX = "_drifted"


@dataclass(frozen=True, slots=True)
class TableFacts:
    """Facts of all table versions and DDLs.

    :param names: ``schema.table`` of each table version.
    :param handle_indexes: image indexes of the handle key columns of each version.
    :param unindexed: image indexes of the columns in no index of each version.
    :param drifted: the version that schema-drift replaces a version with.
    :param ddl_tables: ``schema.table`` of the DDLs of a single table that keeps its name, by DDL.
    """

    names: Sequence[str]
    handle_indexes: Sequence[Sequence[int]]
    unindexed: Sequence[Sequence[int]]
    drifted: Mapping[int, int]
    ddl_tables: Mapping[int, str]


def with_drifted(catalog: Catalog) -> Catalog:
    """The catalog with a further version of each table in which one column is renamed (schema-drift)."""
    drifted = [_drifted(table) for table in catalog.tables if unindexed_columns(table)]
    count = len(catalog.tables)
    numbered = tuple(replace(table, version=count + number) for number, table in enumerate(drifted))
    return replace(catalog, tables=(*catalog.tables, *numbered))


def _drifted(table: TableInfo) -> TableInfo:
    offset = table.sent[unindexed_columns(table)[-1]]
    columns = list(table.columns)
    columns[offset] = replace(columns[offset], name=columns[offset].name + _DRIFT_SUFFIX)
    return replace(table, columns=tuple(columns))


def unindexed_columns(table: TableInfo) -> list[int]:
    """Image indexes of the columns that are in no index and not generated."""
    indexed = {offset for index in table.indexes for offset in index.offsets}
    return [
        number
        for number, offset in enumerate(table.sent)
        if offset not in indexed and not table.columns[offset].generated
    ]


def handle_indexes(table: TableInfo) -> list[int]:
    """Image indexes of the handle key columns; empty for a table without a handle key."""
    offsets = () if table.handle_index is None else table.handle_index.offsets
    found = (table.image_index(offset) for offset in offsets)
    return [number for number in found if number is not None]


def table_facts(catalog: Catalog) -> TableFacts:
    """The facts of a catalog.

    :param catalog: without the tables that ``with_drifted`` adds.
    """
    with_unindexed = [table.version for table in catalog.tables if unindexed_columns(table)]
    return TableFacts(
        names=[table.qualified_name for table in catalog.tables],
        handle_indexes=[handle_indexes(table) for table in catalog.tables],
        unindexed=[unindexed_columns(table) for table in catalog.tables],
        drifted={version: len(catalog.tables) + number for number, version in enumerate(with_unindexed)},
        ddl_tables={
            number: f"{job.schema}.{job.table}"
            for number, job in enumerate(catalog.ddls)
            if job.table and (job.old_schema, job.old_table) == (job.schema, job.table)
        },
    )
