"""Foreign keys in DDL: checks of changed and dropped columns and of parents, and renames.

Rules: tidb ``pkg/ddl/foreign_key.go``. Without ``foreign_key_checks`` parents may be dropped and truncated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo
from ticdc_producer.scenario.sql.store.cluster import TiDBCluster
from ticdc_producer.scenario.sql.store.storage import Table


def check_changed_column(context: DDLContext, table: Table, old: ColumnInfo, new: ColumnInfo) -> None:
    """Check that a column of a foreign key, or one that it refers to, may have another type.

    TiDB checks it without ``foreign_key_checks``, too.
    Source: tidb ``checkModifyColumnWithForeignKeyConstraint``, ``isAcceptableForeignKeyColumnChange``.

    :raises ScenarioError: for another type, a shorter text and other digits of a DECIMAL.
    """
    if (old.type, old.length, old.decimal) == (new.type, new.length, new.decimal):
        return
    for key, other in _paired_columns(context.cluster, table, old.name):
        if new.type != other.type:
            what = f"Referencing and referenced column {old.name!r}"
            raise ScenarioError(f"{what} in foreign key constraint {key.name!r} are incompatible.")
        is_wider = new.length >= max(old.length, other.length) and new.type != MySQLType.NEW_DECIMAL
        if new.type not in INTEGERS and not is_wider:
            what = f"Cannot change column {old.name!r}: used in a foreign key constraint {key.name!r}"
            raise ScenarioError(what, line=context.line, column=old.name)


def check_dropped_column(context: DDLContext, table: Table, name: str) -> None:
    """Check that no foreign key of this or another table refers to a column that is dropped.

    :raises ScenarioError: if one does.
    """
    for key, _ in _paired_columns(context.cluster, table, name):
        what = f"Cannot drop column {name!r}: needed in a foreign key constraint {key.name!r}"
        raise ScenarioError(what, line=context.line, column=name)


def _paired_columns(
    cluster: TiDBCluster, table: Table, name: str
) -> Iterator[tuple[ForeignKeyInfo, ColumnInfo]]:
    """Yield the foreign keys with a column of a table, and the column at their other end."""
    for child in cluster.tables():
        for key in child.foreign_keys:
            parent = cluster.find(*key.parent) if key.parent[0].lower() in cluster.databases else None
            if parent is None:
                continue
            for column, referenced in zip(key.columns, key.parent_columns, strict=False):
                ends = ((child, column, parent, referenced), (parent, referenced, child, column))
                for own, own_name, far, far_name in ends:
                    other = far.info.visible_offsets.get(far_name.lower())
                    if own is table and own_name.lower() == name.lower() and other is not None:
                        yield key, far.info.columns[other]


def check_dropped(context: DDLContext, dropped: Collection[Table]) -> None:
    """Check that no remaining table refers to one of the dropped tables.

    :raises ScenarioError: if a table that is not dropped refers to one of these.
    """
    for parent in dropped if context.mode.foreign_key_checks else ():
        reference = _reference_to(context.cluster, parent, dropped)
        if reference is not None:
            child, key = reference
            what = (
                f"Cannot drop table {parent.info.name!r} referenced by a foreign key constraint {key.name!r}"
            )
            raise ScenarioError(f"{what} on table {child.info.name!r}", hint="DROP the referring table first")


def check_truncated(context: DDLContext, table: Table) -> None:
    """Check that no other table refers to a table that is truncated.

    :raises ScenarioError: if another table refers to this one.
    """
    reference = _reference_to(context.cluster, table, [table]) if context.mode.foreign_key_checks else None
    if reference is not None:
        child, key = reference
        what = "Cannot truncate a table referenced in a foreign key constraint"
        raise ScenarioError(f"{what} ({key.constraint_text(child.info)})")


def _reference_to(
    cluster: TiDBCluster, parent: Table, ignored: Collection[Table]
) -> tuple[Table, ForeignKeyInfo] | None:
    """Return a foreign key that refers to a table, and its child table.

    :param ignored: child tables that do not count.
    """
    for child in cluster.tables():
        if not any(child is table for table in ignored):
            for key in child.foreign_keys:
                if is_named(parent.info, key.parent):
                    return child, key
    return None


def check_columns_exist(info: TableInfo, keys: Iterable[ForeignKeyInfo]) -> None:
    """Check that a table still has the columns of its foreign keys.

    :raises ScenarioError: if the table no longer has a column of one of its foreign keys.
    """
    names = {column.name.lower() for column in info.columns}
    for key in keys:
        for name in key.columns:
            if name.lower() not in names:
                what = f"Cannot drop column {name!r}: needed in a foreign key constraint {key.name!r}"
                raise ScenarioError(what, column=name)


def update_parent_name(cluster: TiDBCluster, before: TableInfo, after: TableInfo) -> None:
    """Update foreign keys that refer to a table after it was renamed."""
    for child in cluster.tables():
        child.foreign_keys = [
            replace(key, parent=(after.schema, after.name)) if is_named(before, key.parent) else key
            for key in child.foreign_keys
        ]


def update_parent_columns(cluster: TiDBCluster, parent: TableInfo, renamed: Mapping[str, str]) -> None:
    """Update foreign keys that refer to columns of a table after these were renamed.

    :param renamed: new names by the old ones in lower case.
    """
    for child in cluster.tables():
        child.foreign_keys = [
            replace(key, parent_columns=renamed_columns(key.parent_columns, renamed))
            if is_named(parent, key.parent)
            else key
            for key in child.foreign_keys
        ]


def renamed_columns(names: Iterable[str], renamed: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(renamed.get(name.lower(), name) for name in names)


def is_named(info: TableInfo, name: tuple[str, str]) -> bool:
    return (info.schema.lower(), info.name.lower()) == (name[0].lower(), name[1].lower())
