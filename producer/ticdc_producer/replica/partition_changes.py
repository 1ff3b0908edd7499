"""The parts of ALTER TABLE that change partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.replica.versions import LENIENT, Definition
from ticdc_producer.scenario.sql.partition_bounds import bounds_of, make_partitioning, validate_bounds
from ticdc_producer.scenario.sql.partition_definition import (
    PartitionDraft,
    PartitioningDraft,
    draft_partitioning,
    draft_partitions,
)
from ticdc_producer.scenario.sql.partitioning import Partitioning
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions


@dataclass(frozen=True)
class PartitionChange:
    """A table after a change of its partitions.

    :param gone: indexes, before the change, of the partitions whose rows are gone.
    """

    after: Definition
    gone: frozenset[int] = frozenset()


def partitioned(definition: Definition, draft: PartitioningDraft) -> Definition:
    """A table with the partitions of PARTITION BY."""
    partitioning = make_partitioning(draft, replace(definition.info, partitions=()), LENIENT)
    return replace(definition, info=_with_names(definition.info, draft.names), partitioning=partitioning)


def change_partitions(node: ChangePartitions | PartitionBy, definition: Definition) -> PartitionChange:
    """A table after a change of its partitions.

    :raises LookupError: for a partition that the table does not have, or a change of another kind.
    """
    if isinstance(node, PartitionBy):
        return PartitionChange(partitioned(definition, draft_partitioning(node)))
    return _CHANGES[node.kind](node, definition)


def partition_index(definition: Definition, name: str) -> int:
    """The index of a partition.

    :raises LookupError: if the table has no partition of that name.
    """
    names = [one.lower() for one in _names(definition)]
    if name.lower() not in names:
        raise LookupError(f"{definition.info.qualified_name} has no partition {name}")
    return names.index(name.lower())


def _add(node: ChangePartitions, definition: Definition) -> PartitionChange:
    drafts, partitioning = draft_partitions(node.parts), _partitioning(definition)
    bounds = (*partitioning.bounds, *_bounds(drafts, definition))
    names = [*_names(definition), *(draft.name for draft in drafts)]
    return PartitionChange(_with_partitions(definition, names, bounds, drafts))


def _drop(node: ChangePartitions, definition: Definition) -> PartitionChange:
    gone = _indexes(node, definition)
    left = [number for number in range(len(_names(definition))) if number not in gone]
    bounds = [_partitioning(definition).bounds[number] for number in left]
    names = [_names(definition)[number] for number in left]
    return PartitionChange(_with_partitions(definition, names, bounds, ()), gone)


def _truncate(node: ChangePartitions, definition: Definition) -> PartitionChange:
    if node.all:
        return PartitionChange(definition, frozenset(range(len(_names(definition)))))
    return PartitionChange(definition, _indexes(node, definition))


def _reorganize(node: ChangePartitions, definition: Definition) -> PartitionChange:
    replaced = sorted(_indexes(node, definition))
    drafts = draft_partitions(node.parts)
    first, last = replaced[0], replaced[-1]
    names, bounds = list(_names(definition)), list(_partitioning(definition).bounds)
    names[first : last + 1] = [draft.name for draft in drafts]
    bounds[first : last + 1] = _bounds(drafts, definition)
    return PartitionChange(_with_partitions(definition, names, bounds, drafts))


def _remove(_: ChangePartitions, definition: Definition) -> PartitionChange:
    return PartitionChange(replace(definition, info=_with_names(definition.info, ()), partitioning=None))


_CHANGES: dict[str, Callable[[ChangePartitions, Definition], PartitionChange]] = {
    "ADD PARTITION": _add,
    "DROP PARTITION": _drop,
    "TRUNCATE PARTITION": _truncate,
    "REORGANIZE PARTITION": _reorganize,
    "REMOVE PARTITIONING": _remove,
}


def _partitioning(definition: Definition) -> Partitioning:
    if definition.partitioning is None:
        raise LookupError(f"{definition.info.qualified_name} has no partitions")
    return definition.partitioning


def _names(definition: Definition) -> list[str]:
    return [part.name for part in definition.info.partitions]


def _with_names(info: TableInfo, names: Sequence[str]) -> TableInfo:
    return replace(info, partitions=tuple(PartitionInfo(id=0, name=name) for name in names))


def _with_partitions(
    definition: Definition,
    names: Sequence[str],
    bounds: Sequence[tuple[tuple[tuple[int, object], ...], ...]],
    drafts: Sequence[PartitionDraft],
) -> Definition:
    changed = replace(_partitioning(definition), bounds=tuple(bounds), count=len(names))
    info = _with_names(definition.info, names)
    return replace(definition, info=info, partitioning=validate_bounds(changed, drafts))


def _bounds(
    drafts: Sequence[PartitionDraft], definition: Definition
) -> list[tuple[tuple[tuple[int, object], ...], ...]]:
    return [bounds_of(draft, _partitioning(definition), definition.info, LENIENT) for draft in drafts]


def _indexes(node: ChangePartitions, definition: Definition) -> frozenset[int]:
    return frozenset(partition_index(definition, name) for name in node.names)
