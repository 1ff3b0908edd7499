"""ADD PARTITION and COALESCE PARTITION of HASH and KEY partitions, which have a number instead of bounds.

Rules: tidb ``executor.hashPartitionManagement``, ``buildHashPartitionDefinitions``. TiDB reorganises the
whole table: all partitions get new ids, and the job's type is that of REORGANIZE PARTITION.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.table import PartitionInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.definition.partition_definition import (
    MOST_PARTITIONS,
    checked_count,
    draft_partitions,
)
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions


def add_hash_partitions(
    node: ChangePartitions, context: DDLContext, table: Table, partitioning: Partitioning
) -> None:
    """Run ``ADD PARTITION PARTITIONS n`` or ``ADD PARTITION (PARTITION name, …)``.

    :raises ScenarioError: for VALUES, a name twice, or too many partitions.
    """
    names = [part.name for part in table.info.partitions]
    if added := checked_count(node.count, node.source.line):
        names += [f"p{number}" for number in range(len(names), len(names) + added)]
    else:
        drafts = draft_partitions(node.parts)
        with_values = next((draft for draft in drafts if draft.values), None)
        if with_values is not None:
            what = f"{partitioning.kind} PARTITIONING cannot use VALUES in partition definition"
            raise ScenarioError(what, line=with_values.line)
        names += [draft.name for draft in drafts]
    _resize(context, table, names, partitioning)


def coalesce_partitions(
    node: ChangePartitions, context: DDLContext, table: Table, partitioning: Partitioning
) -> None:
    """Run ``COALESCE PARTITION n``: remove the last n partitions, not their rows.

    :raises ScenarioError: if no partition is removed, or none is left.
    """
    removed, line = node.count, context.line
    names = [part.name for part in table.info.partitions]
    if partitioning.kind not in ("HASH", "KEY"):
        what = "COALESCE PARTITION can only be used on HASH/KEY partitions"
        raise ScenarioError(what, line=line)
    if removed < 1:
        raise ScenarioError("At least one partition must be coalesced", line=line)
    if removed >= len(names):
        what = "Cannot remove all partitions, use DROP TABLE instead"
        raise ScenarioError(what, line=line)
    _resize(context, table, names[: len(names) - removed], partitioning)


def _resize(context: DDLContext, table: Table, names: Sequence[str], partitioning: Partitioning) -> None:
    line = context.line
    if len(names) > MOST_PARTITIONS:
        what = f"Too many partitions (including subpartitions) were defined: at most {MOST_PARTITIONS}"
        raise ScenarioError(what, line=line, value=str(len(names)))
    if len({name.lower() for name in names}) < len(names):
        raise ScenarioError("Duplicate partition name", line=line)
    before, rows = table.info, table.scan()
    for row in rows:
        table.remove(row)
    partitions = tuple(PartitionInfo(id=context.cluster.ids.take(), name=name) for name in names)
    table.partitioning = replace(partitioning, count=len(names))
    table.info = context.cluster.new_version(replace(before, partitions=partitions))
    for row in rows:
        table.put_moved(row)
    context.job(Action.REORGANIZE_PARTITION, before=before, after=table.info)
