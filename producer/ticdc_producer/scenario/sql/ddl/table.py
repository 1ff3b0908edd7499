"""CREATE, DROP, TRUNCATE and RENAME TABLE."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext, quoted
from ticdc_producer.scenario.sql.ddl.foreign_keys import (
    check_dropped,
    check_truncated,
    update_parent_name,
)
from ticdc_producer.scenario.sql.ddl.new_foreign_keys import check_children, check_new
from ticdc_producer.scenario.sql.ddl.temporary import check_table
from ticdc_producer.scenario.sql.ddl.view import rename_view
from ticdc_producer.scenario.sql.definition.column_default import in_database
from ticdc_producer.scenario.sql.definition.create_text import partitions_text
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo, check_new_name, free_name
from ticdc_producer.scenario.sql.definition.interval_partitions import with_interval_partitions
from ticdc_producer.scenario.sql.definition.partition_bounds import check_keys, make_partitioning
from ticdc_producer.scenario.sql.definition.partition_definition import PartitioningDraft
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.definition.row_deletion import ttl_column
from ticdc_producer.scenario.sql.definition.table_definition import (
    TableDraft,
    check_shard_bits,
    draft_table,
    make_table,
)
from ticdc_producer.scenario.sql.store.allocator import row_ids
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.statement import (
    CreateTable,
    DropObjects,
    RenameTables,
    TruncateTable,
)


def create_table(node: CreateTable, context: DDLContext) -> None:
    schema, name = node.table.within(context.database)
    database = context.cluster.database(schema)
    table = new_table(node, context, database.name)
    if node.temporary:
        check_table(table)
        table.temporary = node.temporary
        table.ids = row_ids(table.info)  # tidb ``TempTableFromMeta``: without AUTO_INCREMENT of the table
    if database.holds(name):
        if node.if_not_exists:
            return
        raise ScenarioError(f"Table '{schema}.{name}' already exists", value=f"{schema}.{name}")
    info = replace(table.info, schema=database.name, name=name)
    table.info = context.cluster.new_version(with_new_ids(info, context))
    check_new(context, table, table.foreign_keys)
    if not node.temporary:
        check_children(context, table)
    context.cluster.add(table)
    query = interval_query(node.partition_by, table, context)
    context.job(Action.CREATE_TABLE, after=table.info, query=query)


def interval_query(node: PartitionBy | None, table: Table, context: DDLContext) -> str:
    """Return the text of a statement with the partitions in place of their INTERVAL; empty without one.

    Source: tidb ``rewritePartitionQueryString``.
    """
    partitioning = table.partitioning
    if node is None or node.method.intervals is None or partitioning is None:
        return ""
    parts = partitions_text([part.name for part in table.info.partitions], partitioning.texts)
    return context.query_with(node.method.intervals.source, f"({parts})")


def with_new_ids(info: TableInfo, context: DDLContext) -> TableInfo:
    """Give the table a new id, and its partitions the ids after it."""
    table_id = context.cluster.ids.take()
    partitions = tuple(replace(part, id=context.cluster.ids.take()) for part in info.partitions)
    return replace(info, table_id=table_id, partitions=partitions)


def new_table(node: CreateTable, context: DDLContext, schema: str) -> Table:
    """Return the table that a statement defines in a database; its ids are still 0."""
    if node.like is not None:
        return _like(context.cluster.table(*node.like.within(context.database)))
    draft = draft_table(node, schema)
    draft.foreign_keys = _with_names(draft)  # before the indexes, which get these names
    database = context.cluster.database(schema)
    charset = database.charset, database.collation
    info, next_index_id = make_table(draft, schema, node.table.name, charset, context.mode, context.line)
    info = replace(info, columns=tuple(in_database(column, context.database) for column in info.columns))
    check_shard_bits(draft.shard_bits, info)
    partitioning = None
    if draft.partitioning is None:
        check_keys(None, info, context.line)
    elif node.partition_by is not None and node.partition_by.indexes:
        raise node.partition_by.source.unsupported("UPDATE INDEXES in CREATE TABLE")
    else:
        info, partitioning = partitioned(draft.partitioning, info, context)
    return Table(
        info,
        row_ids(info, next_id=draft.auto_increment, cache=draft.cache, shard_bits=draft.shard_bits),
        partitioning,
        next_index_id,
        foreign_keys=draft.foreign_keys,
        ttl=ttl_column(node.options, info),
    )


def partitioned(
    draft: PartitioningDraft, info: TableInfo, context: DDLContext
) -> tuple[TableInfo, Partitioning]:
    """Return the table with partitions, whose ids are still 0."""
    draft = with_interval_partitions(draft, info, context.mode)
    partitioning = make_partitioning(draft, info, context.mode)
    return replace(
        info, partitions=tuple(PartitionInfo(id=0, name=name) for name in draft.names)
    ), partitioning


def _with_names(draft: TableDraft) -> list[ForeignKeyInfo]:
    named: list[ForeignKeyInfo] = []
    for key in draft.foreign_keys:
        key = replace(key, name=key.name or free_name(named))
        check_new_name(key, named)
        named.append(key)
    return named


def _like(source: Table) -> Table:
    """Return a table like another one, without foreign keys and id counters."""
    columns = tuple(replace(column, origin_default=None) for column in source.info.columns)
    info = replace(source.info, columns=columns)
    return Table(
        info,
        row_ids(info, cache=source.ids.cache, shard_bits=source.ids.shard_bits),
        source.partitioning,
        source.next_index_id,
        ttl=source.ttl,
    )


def drop_tables(node: DropObjects, context: DDLContext) -> None:
    """Run DROP TABLE, which has one job per table; TiDB rebuilds its query."""
    names = [name.within(context.database) for name in node.names]
    if not node.if_exists:
        for schema, name in names:
            context.cluster.table(schema, name)
    known = [name for name in names if context.cluster.has_database(name[0])]
    tables = [table for name in known if (table := context.cluster.find(*name)) is not None]
    check_dropped(context, tables)
    for table in tables:
        context.cluster.drop(table)
        info = table.info
        context.job(Action.DROP_TABLE, before=info, query=f"DROP TABLE {quoted(info.schema, info.name)}")


def truncate_table(node: TruncateTable, context: DDLContext) -> None:
    old = context.cluster.table(*node.table.within(context.database))
    check_truncated(context, old)
    info = context.cluster.new_version(with_new_ids(old.info, context))
    ids = row_ids(info, cache=old.ids.cache, shard_bits=old.ids.shard_bits)
    table = Table(
        info,
        ids,
        old.partitioning,
        old.next_index_id,
        foreign_keys=old.foreign_keys,
        temporary=old.temporary,
        ttl=old.ttl,
    )
    context.cluster.add(table)
    context.job(Action.TRUNCATE_TABLE, before=old.info, after=info)


def rename_tables(node: RenameTables, context: DDLContext) -> None:
    """Run RENAME TABLE, which is one job.

    For several tables the job has one event each, whose query TiCDC rebuilds.
    """
    pairs = [(old.within(context.database), new.within(context.database)) for old, new in node.pairs]
    if len(pairs) == 1:
        before, after = rename(context, *pairs[0])
        context.job(Action.RENAME_TABLE, before=before, after=after)
        return
    events = []
    kinds = Action.RENAME_TABLES, Action.RENAME_TABLE
    for sequence, (source, target) in enumerate(pairs):
        before, after = rename(context, source, target)
        query = f"RENAME TABLE {quoted(before.schema, before.name)} TO {quoted(after.schema, after.name)}"
        events.append(context.event(*kinds, before, after, query=query, sequence=sequence))
    context.cluster.ids.take()
    context.record(events)


def rename(
    context: DDLContext, source: tuple[str, str], target: tuple[str, str]
) -> tuple[TableInfo, TableInfo]:
    """Give a table or a view another name.

    :param source: schema and table.
    :param target: the new schema and table.
    :return: the table's version before and after.
    :raises ScenarioError: if a table has the new name already, or a view would get another schema.
    """
    cluster = context.cluster
    view = cluster.database(source[0]).views.get(source[1].lower())
    if view is not None:
        return view, rename_view(cluster, view, target)
    table = cluster.table(*source)
    before = table.info
    after = cluster.renamed(before, target)
    cluster.drop(table)
    table.info = after
    cluster.add(table)
    update_parent_name(cluster, before, after)
    return before, after
