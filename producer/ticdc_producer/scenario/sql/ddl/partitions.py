"""The parts of ALTER TABLE that change partitions; none of them can be combined with other parts.

Rules: tidb ``pkg/ddl/partition.go``. Rows have the physical id of their partition. Reorganised partitions and
their rows get new ids, without any row change that TiCDC would see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.exchange import exchange_partition
from ticdc_producer.scenario.sql.ddl.hash_partitions import add_hash_partitions, coalesce_partitions
from ticdc_producer.scenario.sql.ddl.table import interval_query, partitioned
from ticdc_producer.scenario.sql.definition.create_text import partitions_text
from ticdc_producer.scenario.sql.definition.interval_partitions import added_partitions, dropped_partitions
from ticdc_producer.scenario.sql.definition.partition_bounds import bounds_of, validate_bounds
from ticdc_producer.scenario.sql.definition.partition_definition import (
    PartitionDraft,
    draft_partitioning,
    draft_partitions,
)
from ticdc_producer.scenario.sql.definition.partitioning import Bound, Partitioning
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions
from ticdc_producer.scenario.sql.text.spelling import quoted_name


def change_partitions(node: ChangePartitions | PartitionBy, context: DDLContext, table: Table) -> None:
    """Run a change of partitions.

    :raises UnsupportedSQL: for one that this tool does not run.
    """
    if isinstance(node, PartitionBy):
        _partition_by(node, context, table)
        return
    run = CHANGES.get(node.kind)
    if run is None:
        raise node.source.unsupported(f"ALTER TABLE … {node.kind}")
    run(node, context, table)


def _add(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    partitioning = _partitioning(table)
    if partitioning.kind in ("HASH", "KEY"):
        add_hash_partitions(node, context, table, partitioning)
    elif not node.parts:
        what = f"For {partitioning.kind} partitions each partition must be defined"
        raise ScenarioError(what, line=context.line)
    elif partitioning.default >= 0:
        what = "Unsupported ADD List partition, already contains DEFAULT partition"
        raise ScenarioError(what, line=context.line, hint="use REORGANIZE PARTITION instead")
    else:
        _add_drafts(draft_partitions(node.parts), context, table)


def _add_drafts(drafts: Sequence[PartitionDraft], context: DDLContext, table: Table, query: str = "") -> None:
    partitioning = _partitioning(table)
    added = [PartitionInfo(id=context.cluster.ids.take(), name=draft.name) for draft in drafts]
    bounds = (*partitioning.bounds, *_bounds(drafts, table, context))
    before = _set_partitions(table, (*table.info.partitions, *added), bounds, drafts, context)
    context.job(Action.ADD_TABLE_PARTITION, before=before, after=table.info, query=query)


def _add_last(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    """Run ``LAST PARTITION LESS THAN (…)``. Source of its text: tidb ``executor.AddTablePartitions``."""
    partitioning, bound = _interval_bound(node, table)
    drafts = added_partitions(table.info, partitioning, bound, context.mode, context.line)
    parts = partitions_text([draft.name for draft in drafts], [draft.values_text for draft in drafts])
    _add_drafts(drafts, context, table, context.query_with(node.source, f"ADD PARTITION ({parts})"))


def _drop_first(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    """Run ``FIRST PARTITION LESS THAN (…)``. Source of its text: tidb ``executor.DropTablePartition``."""
    partitioning, bound = _interval_bound(node, table)
    names = dropped_partitions(table.info, partitioning, bound, context.mode, context.line)
    listed = ", ".join(map(quoted_name, names))
    _drop_named(names, context, table, context.query_with(node.source, f"DROP PARTITION {listed}"))


def _interval_bound(node: ChangePartitions, table: Table) -> tuple[Partitioning, str]:
    if node.bound is None:
        raise node.source.error("expected PARTITION LESS THAN")
    return _partitioning(table), node.bound.text


def _coalesce(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    coalesce_partitions(node, context, table, _partitioning(table))


def _drop(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    _drop_named(node.names, context, table)


def _drop_named(names: Sequence[str], context: DDLContext, table: Table, query: str = "") -> None:
    offsets = _offsets(table, names)
    _check_has_bounds(table, "DROP", context)
    if len(offsets) >= len(table.info.partitions):
        raise ScenarioError("Cannot remove all partitions, use DROP TABLE instead", line=context.line)
    if len(set(offsets)) < len(offsets):
        raise ScenarioError("Error in list of partitions to DROP: a name is repeated", line=context.line)
    _remove_rows(table, {table.info.partitions[offset].id for offset in offsets})
    remaining = [offset for offset in range(len(table.info.partitions)) if offset not in offsets]
    bounds = [_partitioning(table).bounds[offset] for offset in remaining]
    before = _set_partitions(
        table, [table.info.partitions[offset] for offset in remaining], bounds, (), context
    )
    context.job(Action.DROP_TABLE_PARTITION, before=before, after=table.info, query=query)


def _truncate(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    names = [part.name for part in table.info.partitions] if node.all else node.names
    partitions = list(table.info.partitions)
    for offset in _offsets(table, names):
        _remove_rows(table, {partitions[offset].id})
        partitions[offset] = replace(partitions[offset], id=context.cluster.ids.take())
    before = _set_partitions(table, partitions, _partitioning(table).bounds, (), context)
    context.job(Action.TRUNCATE_TABLE_PARTITION, before=before, after=table.info)


def _reorganize(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    if not node.names:
        raise node.source.unsupported("REORGANIZE PARTITION without names")
    drafts = draft_partitions(node.parts)
    offsets = _offsets(table, node.names)
    _check_has_bounds(table, "REORGANIZE", context)
    first, last = offsets[0], offsets[-1]
    if len(set(offsets)) < len(offsets):
        raise ScenarioError("Duplicate partition name", line=context.line)
    is_range = _partitioning(table).kind == "RANGE"
    if is_range and offsets != list(range(first, last + 1)):
        raise ScenarioError("partitions to reorganize must be adjacent", line=context.line)
    new = [PartitionInfo(id=context.cluster.ids.take(), name=draft.name) for draft in drafts]
    old = table.info.partitions
    moved = {old[offset].id for offset in offsets}
    bounds = list(_partitioning(table).bounds)
    new_bounds = _bounds(drafts, table, context)
    if is_range and last < len(old) - 1:
        _check_upper_bound(bounds[last], new_bounds[-1], context)
    remaining = [offset for offset in range(first + 1, len(old)) if offset not in offsets]
    bounds = [*bounds[:first], *new_bounds, *(bounds[offset] for offset in remaining)]
    partitions = [*old[:first], *new, *(old[offset] for offset in remaining)]
    unchanged = table.info, table.partitioning
    before = _set_partitions(table, partitions, bounds, drafts, context)
    try:
        _move_rows(table, moved, into={part.id for part in new})
    except ScenarioError:
        table.info, table.partitioning = unchanged
        raise
    context.job(Action.REORGANIZE_PARTITION, before=before, after=table.info)


def _check_upper_bound(old: tuple[Bound, ...], new: tuple[Bound, ...], context: DDLContext) -> None:
    """Check that reorganised partitions end at the old bound; those at the end of the table need not.

    Source: tidb ``checkReorgPartitionDefs``.
    """
    if new != old:
        what = "Reorganize of range partitions cannot change total ranges except for last partition"
        raise ScenarioError(f"{what} where it can extend the range", line=context.line)


def _exchange(node: ChangePartitions, context: DDLContext, table: Table) -> None:
    partitioning = _partitioning(table)
    exchange_partition(node, context, table, partitioning, _offsets(table, node.names)[0])


def _remove(_: ChangePartitions, context: DDLContext, table: Table) -> None:
    """Run ``REMOVE PARTITIONING``: the table gets a new id, and no index is GLOBAL any more."""
    _partitioning(table)
    before = table.info
    indexes = tuple(replace(index, is_global=False) for index in before.indexes)
    info = replace(before, table_id=context.cluster.ids.take(), partitions=(), indexes=indexes)
    _rebuild(context, table, info, None)
    context.job(Action.REMOVE_PARTITIONING, before=before, after=table.info)


def _partition_by(node: PartitionBy, context: DDLContext, table: Table) -> None:
    """Run ``PARTITION BY``: first the partitions get new ids, then the table.

    UPDATE INDEXES makes indexes GLOBAL or LOCAL.
    """
    draft = draft_partitioning(node)
    before = table.info
    scopes = {name.lower(): scope for name, scope in node.indexes}
    if unknown := scopes.keys() - {index.name.lower() for index in before.indexes}:
        raise ScenarioError(f"Key {min(unknown)!r} doesn't exist in table {before.name!r}", line=context.line)
    indexes = tuple(
        replace(index, is_global=scopes.get(index.name.lower(), "GLOBAL" * index.is_global) == "GLOBAL")
        for index in before.indexes
    )
    info, partitioning = partitioned(draft, replace(before, partitions=(), indexes=indexes), context)
    partitions = tuple(replace(part, id=context.cluster.ids.take()) for part in info.partitions)
    info = replace(info, partitions=partitions, table_id=context.cluster.ids.take())
    _rebuild(context, table, info, partitioning)
    query = interval_query(node, table, context)
    context.job(Action.ALTER_TABLE_PARTITIONING, before=before, after=table.info, query=query)


def _rebuild(context: DDLContext, table: Table, info: TableInfo, partitioning: Partitioning | None) -> None:
    rows = table.scan()
    for row in rows:
        table.remove(row)
    table.info, table.partitioning = context.cluster.new_version(info), partitioning
    for row in rows:
        table.put_moved(row)


def _set_partitions(
    table: Table,
    partitions: Iterable[PartitionInfo],
    bounds: Iterable[tuple[Bound, ...]],
    drafts: Sequence[PartitionDraft],
    context: DDLContext,
) -> TableInfo:
    """Replace the table's partitions.

    :return: the table's version before.
    """
    parts, before = tuple(partitions), table.info
    if len({part.name.lower() for part in parts}) < len(parts):
        raise ScenarioError("Duplicate partition name", line=drafts[0].line if drafts else 0)
    texts = _texts(table) | {draft.name: draft.values_text for draft in drafts}
    partitioning = replace(
        _partitioning(table),
        bounds=tuple(bounds),
        count=len(parts),
        texts=tuple(texts.get(part.name, "") for part in parts),
    )
    table.partitioning = validate_bounds(partitioning, drafts)
    table.info = context.cluster.new_version(replace(before, partitions=parts))
    return before


def _texts(table: Table) -> dict[str, str]:
    """Return the VALUES clause of each partition, by its name."""
    names = (part.name for part in table.info.partitions)
    return dict(zip(names, _partitioning(table).texts, strict=False))


def _partitioning(table: Table) -> Partitioning:
    if table.partitioning is None:
        raise ScenarioError(f"Partition management on a not partitioned table: {table.info.qualified_name}")
    return table.partitioning


def _check_has_bounds(table: Table, verb: str, context: DDLContext) -> None:
    """Check that the partitions have bounds, unlike those of HASH and KEY.

    :raises ScenarioError: if the table has HASH or KEY partitions.
    """
    if _partitioning(table).kind not in ("RANGE", "LIST"):
        what = f"{verb} PARTITION can only be used on RANGE/LIST partitions"
        raise ScenarioError(what, line=context.line)


def _bounds(drafts: Sequence[PartitionDraft], table: Table, context: DDLContext) -> list[tuple[Bound, ...]]:
    partitioning = _partitioning(table)
    return [bounds_of(draft, partitioning, table.info, context.mode) for draft in drafts]


def _offsets(table: Table, names: Sequence[str]) -> list[int]:
    """Return the sorted offsets of the named partitions.

    :raises ScenarioError: if the table has no partition of that name.
    """
    _partitioning(table)
    known = {part.name.lower(): offset for offset, part in enumerate(table.info.partitions)}
    for name in names:
        if name.lower() not in known:
            raise ScenarioError(f"Unknown partition {name!r} in table {table.info.name!r}", value=name)
    return sorted(known[name.lower()] for name in names)


def _remove_rows(table: Table, ids: set[int]) -> None:
    for row in [row for row in table.rows.values() if row.table_id in ids]:
        table.remove(row)


def _move_rows(table: Table, ids: set[int], into: set[int]) -> None:
    """Move the rows of removed partitions into new ones.

    :param ids: physical ids of the removed partitions.
    :param into: those of the new ones; a DEFAULT partition that remains accepts no row.
    :raises ScenarioError: for a row that fits no new partition.
    """
    old = [row for row in table.rows.values() if row.table_id in ids]
    if any(table.home(row.values) not in into for row in old):
        raise ScenarioError("Table has no partition for a row of the reorganized partitions")
    for row in old:
        table.remove(row)
        table.put_moved(row)


CHANGES: dict[str, Callable[[ChangePartitions, DDLContext, Table], None]] = {
    "ADD PARTITION": _add,
    "LAST": _add_last,
    "FIRST": _drop_first,
    "COALESCE PARTITION": _coalesce,
    "DROP PARTITION": _drop,
    "TRUNCATE PARTITION": _truncate,
    "REORGANIZE PARTITION": _reorganize,
    "EXCHANGE PARTITION": _exchange,
    "REMOVE PARTITIONING": _remove,
}
