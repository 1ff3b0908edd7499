"""Checks of DDL about temporary tables.

Rules: tidb ``pkg/planner/core/preprocess.go`` (``checkReferInfoForTemporaryTable``),
``pkg/ddl/create_table.go`` (``setTemporaryType``), ``pkg/ddl/executor.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.syntax.alter import AlterPart, SetOptions, Setting
from ticdc_producer.scenario.sql.syntax.names import TableName
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.syntax.statement import DDL, AlterTable, CreateTable, DropObjects
from ticdc_producer.scenario.sql.syntax.table_option import TableOption

_REFUSED_OPTIONS = {
    "SHARD_ROW_ID_BITS": "`shard_row_id_bits` is unsupported on temporary tables",
    "PRE_SPLIT_REGIONS": "`pre split regions` is unsupported on temporary tables",
    "PLACEMENT POLICY": "`placement` is unsupported on temporary tables",
    "TTL": "Set TTL for temporary table is not allowed",
    "CACHE": "`alter temporary table cache` is unsupported on temporary tables",
    "SET TIFLASH REPLICA": "`set TiFlash replica` is unsupported on temporary tables",
}
"""What a temporary table may not have, with TiDB's errors."""


def check_temporary(node: DDL, context: DDLContext) -> None:
    """Check that a DDL gives a global temporary table nothing that it may not have.

    :raises ScenarioError: if it does, or if it drops or copies one in a way that TiDB does not.
    """
    match node:
        case CreateTable():
            check_pattern(node, context)
            if node.temporary:
                check_options(node.options)
        case DropObjects(temporary="GLOBAL", names=names):
            tables = [table for name in names if (table := _find(name, context)) is not None]
            if not all(table.temporary == "GLOBAL" for table in tables):
                raise ScenarioError("`drop global temporary table` can only drop global temporary table")
        case AlterTable(table=table, parts=parts):
            if _is_global(table, context):
                for part in parts:
                    _check_part(part)
            for part in parts:
                exchanged = part.table if isinstance(part, ChangePartitions) else None
                if exchanged is not None and _is_global(exchanged, context):
                    raise ScenarioError(f"Table to exchange with partition is temporary: '{exchanged.name}'")


def check_pattern(node: CreateTable, context: DDLContext) -> None:
    """Check that the table after LIKE is not a global temporary one.

    Source: tidb ``pkg/planner/core/preprocess.go`` (``checkCreateTableGrammar``).

    :raises ScenarioError: if it is one.
    """
    if node.like is not None and _is_global(node.like, context):
        raise unsupported_option("create table like")


def check_options(options: Iterable[TableOption]) -> None:
    """Check the table options of a temporary table.

    :raises ScenarioError: for one that it may not have.
    """
    for option in options:
        _check_option(option.kind)


def check_table(table: Table) -> None:
    """Check a new temporary table, which may be made like another one.

    :raises ScenarioError: if it has partitions, foreign keys, AUTO_RANDOM or sharded row ids.
    """
    if table.partitioning is not None:
        raise _no_partitions()
    if table.foreign_keys:
        raise no_foreign_keys()
    if any(column.auto_random for column in table.info.columns):
        raise unsupported_option("auto_random")
    if table.ids.shard_bits:
        raise unsupported_option("shard_row_id_bits")


def unsupported_option(what: str) -> ScenarioError:
    """Return TiDB's error for a feature that temporary tables do not have."""
    return ScenarioError(f"`{what}` is unsupported on temporary tables")


def _is_global(name: TableName, context: DDLContext) -> bool:
    table = _find(name, context)
    return table is not None and bool(table.temporary)


def _find(name: TableName, context: DDLContext) -> Table | None:
    schema, table = name.within(context.database)
    return context.cluster.find(schema, table) if context.cluster.has_database(schema) else None


def _check_part(part: AlterPart) -> None:
    match part:
        case ChangePartitions() | PartitionBy():
            raise _no_partitions()
        case SetOptions(options=options):
            check_options(options)
        case Setting(kind=kind):
            _check_option(kind)


def _check_option(kind: str) -> None:
    if kind in _REFUSED_OPTIONS:
        raise ScenarioError(_REFUSED_OPTIONS[kind])


def _no_partitions() -> ScenarioError:
    return ScenarioError("Cannot create temporary table with partitions")


def no_foreign_keys() -> ScenarioError:
    """Return TiDB's error for a foreign key of a temporary table, or one to it."""
    return ScenarioError("Cannot add foreign key constraint", hint="a temporary table has none in TiDB")
