"""Effects of column and partition changes on the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.replica.versions import LENIENT, ColumnMapping, Definition
from ticdc_producer.scenario.sql.definition.partition_bounds import (
    bounds_of,
    make_partitioning,
    validate_bounds,
)
from ticdc_producer.scenario.sql.definition.partition_definition import (
    PartitionDraft,
    PartitioningDraft,
    draft_partitioning,
    draft_partitions,
)
from ticdc_producer.scenario.sql.definition.partitioning import Partitioning
from ticdc_producer.scenario.sql.syntax.partition import PartitionBy
from ticdc_producer.scenario.sql.syntax.partition_change import ChangePartitions

T = MySQLType


@dataclass(frozen=True)
class ColumnChanges:
    """The mappings from the columns before a DDL to those after it, if the messages of a protocol allow them.

    :param fidelity: what the messages carry of a value.
    """

    fidelity: Fidelity

    def added(self, column: ColumnInfo) -> tuple[ColumnMapping, str]:
        """Return the mapping of a new column, and why its value in existing rows is unknown, or ``""``."""
        name = self.fidelity.visible_name(column.name)
        if column.default_expression:
            return ColumnMapping(name=name), f"the default of {column.name} depends on when the DDL ran"
        if column.type == T.TIMESTAMP and column.default is not None:
            return ColumnMapping(
                name=name
            ), f"the default of {column.name} depends on the session's time zone"
        value = column.default if column.has_default or column.nullable else zero(column)
        return ColumnMapping(name=name, constant=self.fidelity.full_projection(column)(value)), ""

    def changed(self, before: ColumnInfo, after: ColumnInfo) -> tuple[ColumnMapping, str]:
        """Return the mapping of a column with another definition, and why its values are unknown."""
        source, name = (self.fidelity.visible_name(column.name) for column in (before, after))
        if self._null(before) != self._null(after):
            return ColumnMapping(
                name=name, source=source
            ), f"the messages do not distinguish NULL in {before.name}"
        if keeps_values(before, after):
            return ColumnMapping(name=name, source=source), ""
        mapping = ColumnMapping(name=name, source=source, before=before, after=after)
        if self.fidelity.value_projection(before) is not None and not _is_wider_decimal(before, after):
            return (
                mapping,
                f"the messages do not have the exact values of {before.name}, which a DDL converts",
            )
        if T.TIMESTAMP in (before.type, after.type):
            return mapping, f"the conversion of {before.name} depends on the session's time zone"
        return mapping, ""

    def converter(self, before: ColumnInfo, after: ColumnInfo) -> Callable[[Value], Value]:
        """Return the conversion of the values of a column; a value that cannot be read stays as it is."""
        project = self.fidelity.full_projection(after)

        def convert(value: Value) -> Value:
            if value is None:
                return None
            try:
                return project(coerce(after, read(before, value, LENIENT), LENIENT))
            except (ProducerError, ValueError, ArithmeticError, LookupError):  # the topic may hold anything
                return value

        return convert

    def _null(self, column: ColumnInfo) -> Value:
        return self.fidelity.full_projection(column)(None) if column.nullable else None


def keeps_values(before: ColumnInfo, after: ColumnInfo) -> bool:
    """Return whether a change of a column leaves the values of its rows as they are."""
    if (before.unsigned, before.charset) != (after.unsigned, after.charset):
        return False
    if before.type in INTEGERS and after.type in INTEGERS:
        return True
    longer = after.length >= before.length or after.length < 0
    same_members = after.elements[: len(before.elements)] == before.elements
    same = (before.type, before.decimal) == (after.type, after.decimal)
    return same and longer and same_members


def _is_wider_decimal(before: ColumnInfo, after: ColumnInfo) -> bool:
    """Return whether a DECIMAL gets more digits, so that even a rounded value stays the same number."""
    both = before.type == after.type == T.NEW_DECIMAL
    digits = after.length - after.decimal >= before.length - before.decimal
    return both and digits and after.decimal >= before.decimal


def zero(column: ColumnInfo) -> Value:
    """Return the value of existing rows in a new NOT NULL column without DEFAULT; an ENUM's first member."""
    return b"1" if column.type == T.ENUM else column.zero


@dataclass(frozen=True)
class PartitionChange:
    """A table after a change of its partitions.

    :param gone: indexes, before the change, of the partitions whose rows are gone.
    """

    after: Definition
    gone: frozenset[int] = frozenset()


def partitioned(definition: Definition, draft: PartitioningDraft) -> Definition:
    """Return a table with the partitions of PARTITION BY."""
    partitioning = make_partitioning(draft, replace(definition.info, partitions=()), LENIENT)
    return replace(definition, info=_with_names(definition.info, draft.names), partitioning=partitioning)


def change_partitions(node: ChangePartitions | PartitionBy, definition: Definition) -> PartitionChange:
    """Return a table after a change of its partitions.

    :raises LookupError: for a partition that the table does not have, or a change of another kind.
    """
    if isinstance(node, PartitionBy):
        return PartitionChange(partitioned(definition, draft_partitioning(node)))
    return _CHANGES[node.kind](node, definition)


def partition_index(definition: Definition, name: str) -> int:
    """Return the index of a partition.

    :raises LookupError: if the table has no partition of that name.
    """
    names = [part.lower() for part in _names(definition)]
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
    remaining = [number for number in range(len(_names(definition))) if number not in gone]
    bounds = [_partitioning(definition).bounds[number] for number in remaining]
    names = [_names(definition)[number] for number in remaining]
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
    bounds: Sequence[tuple[tuple[tuple[int, int | bytes], ...], ...]],
    drafts: Sequence[PartitionDraft],
) -> Definition:
    changed = replace(_partitioning(definition), bounds=tuple(bounds), count=len(names))
    info = _with_names(definition.info, names)
    return replace(definition, info=info, partitioning=validate_bounds(changed, drafts))


def _bounds(
    drafts: Sequence[PartitionDraft], definition: Definition
) -> list[tuple[tuple[tuple[int, int | bytes], ...], ...]]:
    return [bounds_of(draft, _partitioning(definition), definition.info, LENIENT) for draft in drafts]


def _indexes(node: ChangePartitions, definition: Definition) -> frozenset[int]:
    return frozenset(partition_index(definition, name) for name in node.names)
