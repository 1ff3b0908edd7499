"""Foreign keys and DDL: what a new one needs, what keeps a parent, and how names follow.

Rules: tidb ``pkg/ddl/foreign_key.go``. Without ``foreign_key_checks`` only the names are kept up to date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.cluster import Cluster
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.foreign_key import ForeignKey
from ticdc_producer.scenario.sql.references import Reference, resolved
from ticdc_producer.scenario.sql.storage import Table

_EMPTIES = "SET NULL"


def check_new(context: DDLContext, table: Table, keys: Iterable[ForeignKey]) -> None:
    """The parents of new foreign keys are there, and have their rows.

    :param table: the child as it will be.
    :raises ScenarioError: for a parent, a column or an index that is missing, or rows without a parent.
    """
    if not context.mode.foreign_key_checks:
        return
    for key in keys:
        _check_null_rule(table.info, key)
        parent = table if _is_named(table.info, key.parent) else _parent(context.cluster, key)
        reference = resolved(table, key, parent)
        _check_types(reference, parent.info)
        if not reference.parent_columns or not _has_index(parent.info, reference.parent_columns):
            what = "Failed to add the foreign key constraint. Missing index for constraint"
            raise ScenarioError(
                f"{what} {key.name!r} in the referenced table {key.parent[1]!r}",
                line=key.line,
                hint="the referenced columns must be the first ones of an index",
            )
        reference.check_rows()


def _check_types(reference: Reference, parent: TableInfo) -> None:
    """Pairs of columns have one type; there are no pairs where a parent's column is missing."""
    for offset, source in zip(reference.columns, reference.parent_columns, strict=False):
        column, referenced = reference.child.info.columns[offset], parent.columns[source]
        if _kind(column) != _kind(referenced):
            what = f"Referencing column {column.name!r} and referenced column {referenced.name!r}"
            raise ScenarioError(
                f"{what} in foreign key constraint {reference.key.name!r} are incompatible.",
                line=reference.key.line,
                column=column.name,
            )


def _kind(column: ColumnInfo) -> tuple[MySQLType, bool, str, str]:
    return column.type, column.unsigned, column.charset, column.collation


def _check_null_rule(child: TableInfo, key: ForeignKey) -> None:
    if _EMPTIES not in (key.on_delete, key.on_update):
        return
    names = {name.lower() for name in key.columns}
    for column in child.columns:
        if column.name.lower() in names and not column.nullable:
            what = f"Column {column.name!r} cannot be NOT NULL: needed in a foreign key constraint"
            raise ScenarioError(f"{what} {key.name!r} SET NULL", line=key.line, column=column.name)


def _parent(cluster: Cluster, key: ForeignKey) -> Table:
    schema, name = key.parent
    found = cluster.find(schema, name) if schema.lower() in cluster.databases else None
    if found is None:
        raise ScenarioError(f"Failed to open the referenced table {name!r}", line=key.line, value=name)
    return found


def _has_index(parent: TableInfo, offsets: tuple[int, ...]) -> bool:
    return any(index.offsets[: len(offsets)] == offsets for index in parent.indexes)


def check_dropped(context: DDLContext, dropped: Collection[Table]) -> None:
    """:raises ScenarioError: if a table that stays refers to one of these."""
    for parent in dropped if context.mode.foreign_key_checks else ():
        user = _user(context.cluster, parent, dropped)
        if user is not None:
            child, key = user
            what = (
                f"Cannot drop table {parent.info.name!r} referenced by a foreign key constraint {key.name!r}"
            )
            raise ScenarioError(f"{what} on table {child.info.name!r}", hint="DROP the referring table first")


def check_truncated(context: DDLContext, table: Table) -> None:
    """:raises ScenarioError: if another table refers to this one."""
    user = _user(context.cluster, table, [table]) if context.mode.foreign_key_checks else None
    if user is not None:
        child, key = user
        what = "Cannot truncate a table referenced in a foreign key constraint"
        raise ScenarioError(f"{what} ({key.shown(child.info)})")


def _user(cluster: Cluster, parent: Table, besides: Collection[Table]) -> tuple[Table, ForeignKey] | None:
    for child in cluster.tables():
        if not any(child is table for table in besides):
            for key in child.foreign_keys:
                if _is_named(parent.info, key.parent):
                    return child, key
    return None


def check_columns_stay(info: TableInfo, keys: Iterable[ForeignKey]) -> None:
    """:raises ScenarioError: if a column that a foreign key refers from is gone."""
    names = {column.name.lower() for column in info.columns}
    for key in keys:
        for name in key.columns:
            if name.lower() not in names:
                what = f"Cannot drop column {name!r}: needed in a foreign key constraint {key.name!r}"
                raise ScenarioError(what, column=name)


def follow_table(cluster: Cluster, before: TableInfo, after: TableInfo) -> None:
    """Whoever referred to a table refers to it by its new name."""
    for child in cluster.tables():
        child.foreign_keys = [
            replace(key, parent=(after.schema, after.name)) if _is_named(before, key.parent) else key
            for key in child.foreign_keys
        ]


def follow_columns(cluster: Cluster, parent: TableInfo, renamed: Mapping[str, str]) -> None:
    """Whoever referred to columns of a table refers to them by their new names.

    :param renamed: new names by old ones in lower case.
    """
    for child in cluster.tables():
        child.foreign_keys = [
            replace(key, parent_columns=renamed_columns(key.parent_columns, renamed))
            if _is_named(parent, key.parent)
            else key
            for key in child.foreign_keys
        ]


def renamed_columns(names: Iterable[str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(name.lower(), name) for name in names)


def _is_named(info: TableInfo, name: tuple[str, str]) -> bool:
    return (info.schema.lower(), info.name.lower()) == (name[0].lower(), name[1].lower())
