"""EXCHANGE PARTITION: a partition and a table swap their rows.

Rules: tidb ``pkg/ddl/partition.go`` (``onExchangeTablePartition``), ``executor.ExchangeTablePartition``.
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext, quoted
from ticdc_producer.scenario.sql.definition.generated import expression_of
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.text.spelling import quoted_name

_OF_LENGTH = STRINGS | LOBS | {MySQLType.JSON, MySQLType.VECTOR_FLOAT32}
"""Types whose length must be equal. Source: tidb ``FieldType.StorageLength``."""


def exchange_partition(
    node: ChangePartitions, context: DDLContext, table: Table, partitioning: Partitioning, offset: int
) -> None:
    """Run ``EXCHANGE PARTITION``: a partition and a table swap their physical ids, and with them their rows.

    TiCDC rebuilds the text, whose last words it compares with those of the user. Source: tiflow
    ``DDLEvent.FromJob``.
    """
    line, other = context.line, _other_table(node, context)
    _check_same_definition(table, other, line)
    partition, before = table.info.partitions[offset], other.info
    if node.validation != "WITHOUT":
        _check_rows(table, other, partitioning, offset, line)
    _swap(context, table, other, offset)
    query = (
        f"ALTER TABLE {quoted(table.info.schema, table.info.name)}"
        f" EXCHANGE PARTITION {quoted_name(partition.name)} WITH TABLE {quoted(before.schema, before.name)}"
    )
    if context.statement.text.upper().endswith("WITHOUT VALIDATION"):
        query += " WITHOUT VALIDATION"
    context.job(Action.EXCHANGE_TABLE_PARTITION, before=before, after=table.info, query=query)


def _other_table(node: ChangePartitions, context: DDLContext) -> Table:
    if node.table is None:
        raise node.source.error("expected WITH TABLE")
    return context.cluster.table(*node.table.within(context.database))


def _swap(context: DDLContext, table: Table, other: Table, offset: int) -> None:
    partitions, other_id = list(table.info.partitions), other.info.table_id
    partition_id = partitions[offset].id
    partitions[offset] = replace(partitions[offset], id=other_id)
    to_other = [row for row in table.rows.values() if row.table_id == partition_id]
    to_table = list(other.rows.values())
    for source, rows in ((table, to_other), (other, to_table)):
        for row in rows:
            source.remove(row)
    # Each table gets rows with ids of the other one's counter, so both continue after the larger one. Source:
    # tidb ``pkg/ddl/partition.go`` (``onExchangeTablePartition``).
    used = max(table.ids.base, table.ids.end, other.ids.base, other.ids.end)
    last_row_id = max(used, table.ids.last_row_id, other.ids.last_row_id)
    for ids in (table.ids, other.ids):
        ids.rebase(used + 1)
        ids.last_row_id, ids.row_id_end = last_row_id, 0
    table.info = context.cluster.new_version(replace(table.info, partitions=tuple(partitions)))
    other.info = context.cluster.new_version(replace(other.info, table_id=partition_id))
    for target, rows in ((table, to_table), (other, to_other)):
        for row in rows:
            target.put(row)


def _check_same_definition(table: Table, other: Table, line: int) -> None:
    """Check that two tables have the same columns and indexes, also the same ids of them.

    Source: tidb ``checkExchangePartition``, ``checkTableDefCompatible``.

    :raises ScenarioError: if they differ.
    """
    info, other_info = table.info, other.info
    what = ""
    if other.foreign_keys:
        what = "Table to exchange with partition has foreign key references"
    elif other.partitioning is not None:
        what = "Tables have different definitions, or both have partitions"
    elif any(index.is_global for index in info.indexes):
        what = "Non matching attribute 'global index' between partition and table"
    elif _attributes(table) != _attributes(other) or _columns(info) != _columns(other_info):
        what = "Tables have different definitions, or both have partitions"
    elif [column.id for column in info.columns] != [column.id for column in other_info.columns]:
        what = "Non matching attribute 'column' between partition and table: a column has another id"
    elif _indexes(info) != _indexes(other_info):
        what = "Tables have different definitions: their indexes, or the ids of these, differ"
    if what:
        raise ScenarioError(what, line=line)


def _attributes(table: Table) -> tuple[object, ...]:
    info = table.info
    return info.charset, info.collation, table.ids.shard_bits, info.clustered_key is not None


def _columns(info: TableInfo) -> list[tuple[object, ...]]:
    """Return what must be equal of columns: DEFAULT, comment and the width of numbers may differ.

    Source: tidb ``checkFieldTypeCompatible``.
    """
    key = info.primary_key
    return [
        (
            column.name.lower(),
            replace(
                column,
                name="",
                length=column.length if column.type in _OF_LENGTH else -1,
                default=None,
                has_default=False,
                default_text=None,
                default_expression="",
                default_dropped=False,
                on_update_now=False,
                origin_default=None,
                comment="",
                id=0,
                expression="",
            ),
            expression_of(column.expression) if column.expression else None,
            key is not None and offset in key.offsets,
        )
        for offset, column in enumerate(info.columns)
    ]


def _indexes(info: TableInfo) -> dict[str, IndexInfo]:
    return {index.name.lower(): replace(index, name="", implicit=False) for index in info.indexes}


def _check_rows(table: Table, other: Table, partitioning: Partitioning, offset: int, line: int) -> None:
    """Check that rows match their new partition. Source: tidb ``checkExchangePartitionRecordValidation``.

    :raises ScenarioError: if one does not, and for KEY partitions, whose rows TiDB cannot check.
    """
    if partitioning.kind == "KEY":
        what = f"Unsupported partition type of table {table.info.name} when exchanging partition"
        raise ScenarioError(what, line=line, hint="WITHOUT VALIDATION checks no rows")
    if any(partitioning.locate(table.info, row.values) != offset for row in other.rows.values()):
        raise ScenarioError("Found a row that does not match the partition", line=line)
