"""The parts of ALTER TABLE that add, drop and rename columns, or set their defaults.

Rules: tidb ``pkg/ddl/executor.go``.
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce_text import cut_text
from ticdc_producer.scenario.sql.ddl.alteration import Alteration, Fill
from ticdc_producer.scenario.sql.ddl.foreign_keys import check_dropped_column
from ticdc_producer.scenario.sql.ddl.keys import add_key
from ticdc_producer.scenario.sql.definition.column_default import (
    check_added_default,
    in_database,
    with_default,
)
from ticdc_producer.scenario.sql.definition.column_definition import (
    ColumnDraft,
    draft_column,
    make_column,
)
from ticdc_producer.scenario.sql.definition.generated import columns_of, dependent_columns, expression_of
from ticdc_producer.scenario.sql.dml.assign import default_value
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.syntax.alter import AddColumn, AddKey, AlterColumn
from ticdc_producer.scenario.sql.syntax.column import Column, Position

T = MySQLType


def add_columns(node: AddColumn, alteration: Alteration) -> None:
    """Run ``ADD [COLUMN] definition [FIRST | AFTER other]`` or ``ADD [COLUMN] (definition, …)``."""
    for element in node.elements:
        if isinstance(element, Column):
            _add_column(draft_column(element), node, alteration)
        else:
            add_key(AddKey(element), alteration)


def _add_column(draft: ColumnDraft, node: AddColumn, alteration: Alteration) -> None:
    position = offset_of(node.position, alteration)
    lenient = node.if_not_exists
    if lenient and alteration.had_column(draft.name):
        return
    _reject_attributes(draft, alteration)
    if lenient or not alteration.has_column(draft.name):
        alteration.touch(draft.name)
    column = defined_column(draft, alteration)
    check_added_default(column, alteration.line)
    if column.generated:
        alteration.use(*columns_of(expression_of(column.expression)))
    origin = None if column.generated else _origin_default(column, alteration)
    column = replace(column, origin_default=origin)
    offset = len(alteration.info.columns) if position is None else position
    alteration.insert(offset, column, _constant(origin))
    alteration.actions.append(Action.ADD_COLUMN)


def _constant(value: Value) -> Fill:
    return lambda _: value


def _reject_attributes(draft: ColumnDraft, alteration: Alteration) -> None:
    constraint = "AUTO_RANDOM" if draft.auto_random else ""
    if draft.auto_increment:
        constraint = "AUTO_INCREMENT"
    elif draft.keys:
        constraint = f"{draft.keys[0].upper()} KEY"
    if constraint:
        raise alteration.error(f"unsupported add column {draft.name!r} constraint {constraint}", draft.name)
    if draft.generated == "stored":
        raise alteration.error("Adding a stored generated column is not supported by TiDB", draft.name)


def _origin_default(column: ColumnInfo, alteration: Alteration) -> Value:
    """Return the value of existing rows: the default at the time of the DDL, else the type's zero."""
    mode = alteration.context.mode
    if column.type == T.STRING and column.default_text is not None:
        # TiCDC converts the metadata's text to the column's type, which keeps trailing blanks.
        return cut_text(column.default_text, column.length)
    if column.has_default or column.nullable:
        return default_value(column, Scope(mode))
    return default_value(column, Scope(replace(mode, strict=False))) or column.zero


def defined_column(draft: ColumnDraft, alteration: Alteration) -> ColumnInfo:
    """Build a column of the table from its draft."""
    info = alteration.info
    column = make_column(draft, info.charset, info.collation, alteration.context.mode)
    return in_database(column, alteration.context.database)


def offset_of(position: Position | None, alteration: Alteration, skip: int | None = None) -> int | None:
    """Return the offset that FIRST or AFTER names; None without them.

    :param skip: offset of the column that is being moved; the result does not count it.
    """
    if position is None:
        return None
    if not position.after:
        return 0
    name = position.after[-1]
    previous = alteration.column(name)
    alteration.use_position(name)
    if previous == skip:
        raise alteration.error(f"Unknown column {name!r}: a column cannot be moved AFTER itself", name)
    return previous + 1 - (skip is not None and skip <= previous)


def drop_column(name: str, alteration: Alteration, *, lenient: bool) -> None:
    """Run ``DROP [COLUMN] name``; an index of this column alone is dropped with it.

    :param lenient: whether a missing column is not an error.
    """
    if lenient and not alteration.had_column(name):
        return
    if not alteration.has_column(name) and alteration.had_column(name):
        alteration.touch(name)
    offset = alteration.column(name)
    check_unused(alteration, offset, "drop")
    if alteration.has_ttl(name):
        raise alteration.error(f"Cannot drop column {name!r}: needed in TTL config", name)
    check_dropped_column(alteration.context, alteration.table, name)
    alteration.touch(name)
    for index in [index for index in alteration.info.indexes if offset in index.offsets]:
        if len(index.offsets) > 1 or index.primary:
            what = f"can't drop column {name} with composite index covered or Primary Key covered now"
            raise alteration.error(
                what,
                name,
                "a column of the primary key cannot be dropped" if index.primary else "drop the index first",
            )
        alteration.drop_index(index)
    alteration.remove(offset)
    alteration.actions.append(Action.DROP_COLUMN)


def check_unused(alteration: Alteration, offset: int, verb: str) -> None:
    """Check that no generated column and not the partitioning uses a column.

    :raises ScenarioError: if one of them does.
    """
    name = alteration.info.columns[offset].name
    users = dependent_columns(alteration.info, name)
    if users:
        raise alteration.error(f"Cannot {verb} {name!r}: generated column {users[0].name!r} uses it", name)
    partitioning = alteration.table.partitioning
    if partitioning is not None and name.lower() in partitioning.uses():
        raise alteration.error(f"Cannot {verb} {name!r}: the partitions depend on it", name)


def rename_column(old: str, name: str, alteration: Alteration) -> None:
    """Run ``RENAME COLUMN old TO new``."""
    offset = alteration.column(old)
    check_unused(alteration, offset, "rename")
    alteration.touch(alteration.info.columns[offset].name, name)
    alteration.change(offset, replace(alteration.info.columns[offset], name=name))
    alteration.actions.append(Action.MODIFY_COLUMN)


def alter_default(node: AlterColumn, alteration: Alteration) -> None:
    """Run ``ALTER [COLUMN] name {SET DEFAULT … | DROP DEFAULT}``."""
    offset = alteration.column(node.name[-1])
    column = alteration.info.columns[offset]
    alteration.touch(column.name, modifies=True)
    bare = replace(
        column,
        default=None,
        default_text=None,
        has_default=False,
        default_expression="",
        default_dropped=node.default is None,
    )
    changed = with_default(bare, node.default, alteration.context.mode, alteration.line)
    alteration.change(offset, in_database(changed, alteration.context.database))
    alteration.actions.append(Action.SET_DEFAULT_VALUE)
