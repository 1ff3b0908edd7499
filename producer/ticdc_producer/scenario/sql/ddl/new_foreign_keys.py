"""Checks of new foreign keys, and of new tables that others refer to.

Rules: tidb ``pkg/ddl/foreign_key.go``. Without ``foreign_key_checks`` parents and their rows may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.foreign_keys import is_named
from ticdc_producer.scenario.sql.ddl.temporary import no_foreign_keys
from ticdc_producer.scenario.sql.definition.foreign_key import ForeignKeyInfo, serving_indexes
from ticdc_producer.scenario.sql.definition.generated import dependent_columns
from ticdc_producer.scenario.sql.dml.references import CASCADING_RULES, ResolvedForeignKey, resolve_reference
from ticdc_producer.scenario.sql.store.storage import Table

_SET_NULL = "SET NULL"


def check_new(context: DDLContext, table: Table, keys: Iterable[ForeignKeyInfo]) -> None:
    """Check that the parents of new foreign keys exist and have the rows that the child refers to.

    Without ``foreign_key_checks`` the parent may be missing, and its rows, too; but one that exists fits.
    Source: tidb ``buildFKInfo``, ``checkTableForeignKeyValid``.

    :param table: the child as it will be.
    :raises ScenarioError: if a parent, a column or an index is missing, or a child row has no parent row.
    """
    for key in keys:
        _check_set_null(table.info, key)
        _check_generated(table.info, key)
        parent = table if is_named(table.info, key.parent) else _parent(context, key)
        if parent is None:
            continue
        if parent is table and [*map(str.lower, key.columns)] == [*map(str.lower, key.parent_columns)]:
            raise ScenarioError("Cannot add foreign key constraint", line=key.line)
        reference = resolve_reference(table, key, parent)
        _check_parent(reference, parent)
        if context.mode.foreign_key_checks:
            reference.check_rows()


def check_children(context: DDLContext, parent: Table) -> None:
    """Check that a new table fits the foreign keys that refer to it already.

    Source: tidb ``checkTableForeignKeysValid``.

    :raises ScenarioError: if a column or an index is missing.
    """
    for child in context.cluster.tables():
        for key in child.foreign_keys:
            if is_named(parent.info, key.parent):
                _check_parent(resolve_reference(child, key, parent), parent)


def check_no_children(context: DDLContext, table: Table) -> None:
    """Check that a table with a TTL has no foreign key to it.

    :raises ScenarioError: if it has one.
    """
    keys = (key for child in context.cluster.tables() for key in child.foreign_keys)
    if any(is_named(table.info, key.parent) for key in keys):
        raise _ttl_error()


def _ttl_error() -> ScenarioError:
    return ScenarioError("Set TTL for a table referenced by foreign key is not allowed")


def _check_parent(reference: ResolvedForeignKey, parent: Table) -> None:
    """Check both tables of a foreign key. Source: tidb ``checkTableForeignKey``."""
    key = reference.key
    if parent.temporary:
        raise no_foreign_keys()
    if parent.ttl:
        raise _ttl_error()
    if parent.info.partitions or reference.child.info.partitions:
        what = "Foreign key clause is not yet supported in conjunction with partitioning"
        raise ScenarioError(what, line=key.line)
    for offset in reference.parent_columns:
        _refuse_virtual(parent.info.columns[offset], key)
    _check_types(reference, parent.info)
    if not reference.parent_columns or not serving_indexes(parent.info, key.parent_columns):
        what = "Failed to add the foreign key constraint. Missing index for constraint"
        raise ScenarioError(
            f"{what} {key.name!r} in the referenced table {key.parent[1]!r}",
            line=key.line,
            hint="the referenced columns must be the first ones of an index",
        )


def _refuse_virtual(column: ColumnInfo, key: ForeignKeyInfo) -> None:
    if column.generated == "virtual":
        what = f"Foreign key {key.name!r} uses virtual column {column.name!r} which is not supported."
        raise ScenarioError(what, line=key.line, column=column.name)


def _check_generated(child: TableInfo, key: ForeignKeyInfo) -> None:
    """Check the rules of a foreign key of generated columns, and of those that a stored one uses.

    Source: tidb ``buildFKInfo``.
    """
    for name in key.columns:
        offset = child.visible_offsets.get(name.lower())
        column = None if offset is None else child.columns[offset]
        if column is not None and column.generated:
            _refuse_virtual(column, key)
            changing = [f"UPDATE {key.on_update}"] if key.on_update in CASCADING_RULES else []
            changing += [f"DELETE {key.on_delete}"] if key.on_delete == _SET_NULL else []
            if changing:
                what = f"Cannot define foreign key with ON {changing[0]} clause on a generated column."
                raise ScenarioError(what, line=key.line, column=name)
        elif {key.on_update, key.on_delete} & {*CASCADING_RULES} and any(
            column.generated == "stored" for column in dependent_columns(child, name)
        ):
            raise ScenarioError("Cannot add foreign key constraint", line=key.line, column=name)


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


def _check_set_null(child: TableInfo, key: ForeignKeyInfo) -> None:
    if _SET_NULL not in (key.on_delete, key.on_update):
        return
    names = {name.lower() for name in key.columns}
    for column in child.columns:
        if column.name.lower() in names and not column.nullable:
            what = f"Column {column.name!r} cannot be NOT NULL: needed in a foreign key constraint"
            raise ScenarioError(f"{what} {key.name!r} SET NULL", line=key.line, column=column.name)


def _parent(context: DDLContext, key: ForeignKeyInfo) -> Table | None:
    """Return the referenced table; None if it is missing, which only ``foreign_key_checks`` forbids."""
    (schema, name), cluster = key.parent, context.cluster
    parent = cluster.find(schema, name) if schema.lower() in cluster.databases else None
    if parent is None and context.mode.foreign_key_checks:
        what = f"Failed to open the referenced table {name!r}"
        hint = "create it first, or SET foreign_key_checks = 0, as a dump without --compact does"
        raise ScenarioError(what, line=key.line, value=name, hint=hint)
    return parent
