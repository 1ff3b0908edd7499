"""The parts of ALTER TABLE that change partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.replica.versions import LENIENT, Definition
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.partition_bounds import bounds_of, make_partitioning, validate_bounds
from ticdc_producer.scenario.sql.partition_definition import (
    PartitionDraft,
    PartitioningDraft,
    read_partition_by,
    read_partitions,
)
from ticdc_producer.scenario.sql.partitioning import Partitioning


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


def read_partition_change(cursor: Cursor, definition: Definition) -> PartitionChange | None:
    """Read and apply a change of partitions; None if something else comes next."""
    for words, change in _CHANGES:
        if cursor.accept(*words):
            return change(cursor, definition)
    return None


def exchanged(cursor: Cursor, definition: Definition, database: str) -> tuple[int, tuple[str, str]]:
    """Read ``name WITH TABLE other``: the index of the partition, and schema and name of the other table."""
    name = cursor.identifier("a partition name")
    cursor.expect("WITH", "TABLE")
    return _index(definition, name), cursor.qualified_name(database)


def _add(cursor: Cursor, definition: Definition) -> PartitionChange:
    drafts, partitioning = read_partitions(cursor), _partitioning(definition)
    bounds = (*partitioning.bounds, *_bounds(drafts, definition))
    names = [*_names(definition), *(draft.name for draft in drafts)]
    return PartitionChange(_with_partitions(definition, names, bounds, drafts))


def _drop(cursor: Cursor, definition: Definition) -> PartitionChange:
    gone = _read_indexes(cursor, definition)
    left = [number for number in range(len(_names(definition))) if number not in gone]
    bounds = [_partitioning(definition).bounds[number] for number in left]
    names = [_names(definition)[number] for number in left]
    return PartitionChange(_with_partitions(definition, names, bounds, ()), gone)


def _truncate(cursor: Cursor, definition: Definition) -> PartitionChange:
    if cursor.accept("ALL"):
        return PartitionChange(definition, frozenset(range(len(_names(definition)))))
    return PartitionChange(definition, _read_indexes(cursor, definition))


def _reorganize(cursor: Cursor, definition: Definition) -> PartitionChange:
    replaced = sorted(_read_indexes(cursor, definition))
    cursor.expect("INTO")
    drafts = read_partitions(cursor)
    first, last = replaced[0], replaced[-1]
    names, bounds = list(_names(definition)), list(_partitioning(definition).bounds)
    names[first : last + 1] = [draft.name for draft in drafts]
    bounds[first : last + 1] = _bounds(drafts, definition)
    return PartitionChange(_with_partitions(definition, names, bounds, drafts))


def _remove(_: Cursor, definition: Definition) -> PartitionChange:
    return PartitionChange(replace(definition, info=_with_names(definition.info, ()), partitioning=None))


def _partition_by(cursor: Cursor, definition: Definition) -> PartitionChange:
    return PartitionChange(partitioned(definition, read_partition_by(cursor)))


_CHANGES: tuple[tuple[tuple[str, ...], Callable[[Cursor, Definition], PartitionChange]], ...] = (
    (("ADD", "PARTITION"), _add),
    (("DROP", "PARTITION"), _drop),
    (("TRUNCATE", "PARTITION"), _truncate),
    (("REORGANIZE", "PARTITION"), _reorganize),
    (("REMOVE", "PARTITIONING"), _remove),
    (("PARTITION", "BY"), _partition_by),
)


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


def _read_indexes(cursor: Cursor, definition: Definition) -> frozenset[int]:
    found = {_index(definition, cursor.identifier("a partition name"))}
    while cursor.accept(","):
        found.add(_index(definition, cursor.identifier("a partition name")))
    return frozenset(found)


def _index(definition: Definition, name: str) -> int:
    names = [one.lower() for one in _names(definition)]
    if name.lower() not in names:
        raise LookupError(f"{definition.info.qualified_name} has no partition {name}")
    return names.index(name.lower())
