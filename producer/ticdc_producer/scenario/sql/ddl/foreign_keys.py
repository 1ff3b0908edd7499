"""Foreign keys in DDL: checks of new keys, of dropped or truncated parents, and renames.

Rules: tidb ``pkg/ddl/foreign_key.go``. Without ``foreign_key_checks`` only names are updated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.temporary import no_foreign_keys
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo
from ticdc_producer.scenario.sql.dml.references import ResolvedForeignKey, resolve_reference
from ticdc_producer.scenario.sql.store.cluster import TiDBCluster
from ticdc_producer.scenario.sql.store.storage import Table

_SET_NULL = "SET NULL"


def check_new(context: DDLContext, table: Table, keys: Iterable[ForeignKeyInfo]) -> None:
    """Check that the parents of new foreign keys exist and have the rows that the child refers to.

    :param table: the child as it will be.
    :raises ScenarioError: if a parent, a column or an index is missing, or a child row has no parent row.
    """
    if not context.mode.foreign_key_checks:
        return
    for key in keys:
        _check_set_null(table.info, key)
        parent = table if _is_named(table.info, key.parent) else _parent(context.cluster, key)
        if parent.temporary:
            raise no_foreign_keys()
        if parent.ttl:
            raise _ttl_error()
        reference = resolve_reference(table, key, parent)
        _check_types(reference, parent.info)
        if not reference.parent_columns or not _has_index(parent.info, reference.parent_columns):
            what = "Failed to add the foreign key constraint. Missing index for constraint"
            raise ScenarioError(
                f"{what} {key.name!r} in the referenced table {key.parent[1]!r}",
                line=key.line,
                hint="the referenced columns must be the first ones of an index",
            )
        reference.check_rows()


def check_no_children(context: DDLContext, table: Table) -> None:
    """Check that a table with a TTL has no foreign key to it.

    :raises ScenarioError: if it has one.
    """
    if any(
        _is_named(table.info, key.parent) for child in context.cluster.tables() for key in child.foreign_keys
    ):
        raise _ttl_error()


def _ttl_error() -> ScenarioError:
    return ScenarioError("Set TTL for a table referenced by foreign key is not allowed")


def _check_types(reference: ResolvedForeignKey, parent: TableInfo) -> None:
    """Check that pairs of referencing and referenced columns have one type; missing columns have no pair."""
    for offset, source in zip(reference.columns, reference.parent_columns, strict=False):
        column, referenced = reference.child.info.columns[offset], parent.columns[source]
        if _full_type(column) != _full_type(referenced):
            what = f"Referencing column {column.name!r} and referenced column {referenced.name!r}"
            raise ScenarioError(
                f"{what} in foreign key constraint {reference.key.name!r} are incompatible.",
                line=reference.key.line,
                column=column.name,
            )


def _full_type(column: ColumnInfo) -> tuple[MySQLType, bool, str, str]:
    return column.type, column.unsigned, column.charset, column.collation


def check_changed_column(context: DDLContext, table: Table, old: ColumnInfo, new: ColumnInfo) -> None:
    """Check that a column of a foreign key, or one that it refers to, may have another type.

    Source: tidb ``checkModifyColumnWithForeignKeyConstraint``, ``isAcceptableForeignKeyColumnChange``.

    :raises ScenarioError: for another type, a shorter text and other digits of a DECIMAL.
    """
    same_size = (old.type, old.length, old.decimal) == (new.type, new.length, new.decimal)
    if same_size or not context.mode.foreign_key_checks:
        return
    for key, other in _paired_columns(context.cluster, table, old.name):
        if new.type != other.type:
            what = f"Referencing and referenced column {old.name!r}"
            raise ScenarioError(f"{what} in foreign key constraint {key.name!r} are incompatible.")
        is_wider = new.length >= old.length and old.type != MySQLType.NEW_DECIMAL
        if old.type not in INTEGERS and not is_wider:
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


def _check_set_null(child: TableInfo, key: ForeignKeyInfo) -> None:
    if _SET_NULL not in (key.on_delete, key.on_update):
        return
    names = {name.lower() for name in key.columns}
    for column in child.columns:
        if column.name.lower() in names and not column.nullable:
            what = f"Column {column.name!r} cannot be NOT NULL: needed in a foreign key constraint"
            raise ScenarioError(f"{what} {key.name!r} SET NULL", line=key.line, column=column.name)


def _parent(cluster: TiDBCluster, key: ForeignKeyInfo) -> Table:
    schema, name = key.parent
    parent = cluster.find(schema, name) if schema.lower() in cluster.databases else None
    if parent is None:
        what = f"Failed to open the referenced table {name!r}"
        hint = "create it first, or SET foreign_key_checks = 0, as a dump without --compact does"
        raise ScenarioError(what, line=key.line, value=name, hint=hint)
    return parent


def _has_index(parent: TableInfo, offsets: tuple[int, ...]) -> bool:
    return any(index.offsets[: len(offsets)] == offsets for index in parent.indexes)


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
                if _is_named(parent.info, key.parent):
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
            replace(key, parent=(after.schema, after.name)) if _is_named(before, key.parent) else key
            for key in child.foreign_keys
        ]


def update_parent_columns(cluster: TiDBCluster, parent: TableInfo, renamed: Mapping[str, str]) -> None:
    """Update foreign keys that refer to columns of a table after these were renamed.

    :param renamed: new names by the old ones in lower case.
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
