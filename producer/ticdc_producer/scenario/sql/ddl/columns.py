"""The parts of ALTER TABLE that add, drop and change columns.

Rules: tidb ``pkg/ddl/executor.go``, ``modify_column.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, TYPES, MySQLType
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.coerce_text import cut_text
from ticdc_producer.model.values.sql_value import SQLMode, value_error
from ticdc_producer.scenario.sql.ddl.alteration import Alteration, Fill
from ticdc_producer.scenario.sql.ddl.foreign_keys import check_changed_column, check_dropped_column
from ticdc_producer.scenario.sql.ddl.keys import add_key
from ticdc_producer.scenario.sql.definition.column_changes import is_rewritten
from ticdc_producer.scenario.sql.definition.column_default import (
    check_added_default,
    in_database,
    with_default,
)
from ticdc_producer.scenario.sql.definition.column_definition import (
    ColumnDraft,
    check_owner,
    draft_column,
    make_column,
)
from ticdc_producer.scenario.sql.definition.generated import columns_of, dependent_columns, expression_of
from ticdc_producer.scenario.sql.dml.assign import default_value
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.syntax.alter import AddColumn, AddKey, AlterColumn, ChangeColumn
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
    position = _offset_of(node.position, alteration)
    lenient = node.if_not_exists
    if lenient and alteration.has_column(draft.name):
        return
    _reject_attributes(draft, alteration)
    if not alteration.has_column(draft.name):
        alteration.touch(draft.name)
    column = _make_column(draft, alteration)
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
    if draft.keys or draft.auto_increment:
        what = draft.keys[0].upper() + " KEY" if draft.keys else "AUTO_INCREMENT"
        raise alteration.error(f"unsupported add column {draft.name!r} constraint {what}", draft.name)
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


def _make_column(draft: ColumnDraft, alteration: Alteration) -> ColumnInfo:
    info = alteration.info
    column = make_column(draft, info.charset, info.collation, alteration.context.mode)
    return in_database(column, alteration.context.database)


def _offset_of(position: Position | None, alteration: Alteration, skip: int | None = None) -> int | None:
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

    :param lenient: whether a missing column is no error.
    """
    if lenient and not alteration.has_column(name):
        return
    offset = alteration.column(name)
    _check_unused(alteration, offset, "drop")
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


def _check_unused(alteration: Alteration, offset: int, verb: str) -> None:
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


def change_column(node: ChangeColumn, alteration: Alteration) -> None:
    """Run ``CHANGE [COLUMN] old definition`` or ``MODIFY [COLUMN] definition``."""
    draft = draft_column(node.column)
    check_owner(node.column, alteration.info.schema, alteration.info.name)
    name = node.old[-1] if node.old else draft.name
    if node.if_exists and not alteration.has_column(name):
        return
    offset = alteration.column(name)
    if draft.name.lower() != name.lower():
        _check_unused(alteration, offset, "rename")
    _change(node.position, alteration, offset, draft)


def _change(target: Position | None, alteration: Alteration, offset: int, draft: ColumnDraft) -> None:
    old = alteration.info.columns[offset]
    position = _offset_of(target, alteration, skip=offset)
    alteration.touch(old.name, draft.name, modifies=old.name.lower() == draft.name.lower())
    if draft.keys:
        raise alteration.error(
            f"Unsupported modify column: {old.name!r} cannot become a key", old.name, "ADD a key instead"
        )
    if draft.auto_increment and not old.auto_increment:
        raise alteration.error("Unsupported modify column: can't set auto_increment", old.name)
    new = _make_column(draft, alteration)
    _check_generated(offset, new, alteration)
    _check_change(old, new, alteration)
    if is_rewritten(old, new) or (old.charset, old.collation) != (new.charset, new.collation):
        _check_rewritten(offset, new, alteration)
    check_changed_column(alteration.context, alteration.table, old, new)
    _check_partition_column(alteration, old, new)
    key = alteration.info.primary_key
    if key is not None and offset in key.offsets:
        if draft.nullable:
            raise alteration.error("All parts of a PRIMARY KEY must be NOT NULL", old.name)
        if not _keeps_stored_values(old, new):
            raise alteration.error("Unsupported modify column: this column has primary key flag", old.name)
        new = replace(new, nullable=False)
    convert, old_value = column_converter(old, new, alteration.context.mode), alteration.fills[offset]
    new = replace(new, origin_default=convert(old.origin_default), id=old.id)
    if is_rewritten(old, new):
        new = alteration.with_new_id(new)
    alteration.change(offset, new, lambda row: convert(old_value(row)))
    if position is not None:
        alteration.move(offset, position)
    alteration.actions.append(Action.MODIFY_COLUMN)


def _check_generated(offset: int, new: ColumnInfo, alteration: Alteration) -> None:
    """Check that a column which is not virtual remains so, and that no other column gets a new expression.

    Source: tidb ``checkModifyGeneratedColumn``, ``checkIndexOrStored``.

    :raises ScenarioError: for a stored or indexed column with another expression.
    """
    old = alteration.info.columns[offset]
    refused = ""
    if (new.generated == "virtual") != (old.generated == "virtual"):
        refused = "Changing the STORED status"
    elif new.generated and not _same_expression(old, new):
        is_indexed = any(offset in index.offsets for index in alteration.info.indexes)
        refused = "modifying a stored column" if new.generated == "stored" else ""
        refused = refused or "modifying an indexed column" * is_indexed
    if refused:
        raise alteration.error(f"'{refused}' is not supported for generated columns", old.name)


def _same_expression(old: ColumnInfo, new: ColumnInfo) -> bool:
    return bool(old.expression) and expression_of(old.expression) == expression_of(new.expression)


def _check_change(old: ColumnInfo, new: ColumnInfo, alteration: Alteration) -> None:
    """Check that TiDB can change a type and a charset.

    Source: tidb ``checkTypeChangeSupported``, ``checkModifyCharsetAndCollation``.

    :raises ScenarioError: if it cannot.
    """
    if any(old.type in kinds and new.type in targets for kinds, targets in _UNSUPPORTED_CHANGES):
        what = f"change from original type {old.type_name} to {new.type_name} is currently unsupported yet"
        raise alteration.error(f"Unsupported modify column: {what}", old.name)
    charsets = old.charset, new.charset
    if old.charset == new.charset or charsets in _WIDER_CHARSETS:
        return
    if "gbk" in charsets or not is_rewritten(old, new):
        what = f"Unsupported modify charset from {old.charset} to {new.charset}"
        raise alteration.error(what, old.name)


def _check_rewritten(offset: int, new: ColumnInfo, alteration: Alteration) -> None:
    """Check that no generated column and no index prevents the change of the values or their order.

    An index only prevents a change of the collation alone. Source: tidb ``isGeneratedRelatedColumn``,
    ``checkModifyTypes``.

    :raises ScenarioError: if one does.
    """
    old = alteration.info.columns[offset]
    if not is_rewritten(old, new):
        check_indexed_collation(offset, new.collation, alteration)
    elif users := dependent_columns(alteration.info, old.name):
        what = f"oldCol is a dependent column {old.name!r} for generated column {users[0].name!r}"
        raise alteration.error(f"Unsupported modify column: {what}", old.name)


def check_indexed_collation(offset: int, collation: str, alteration: Alteration) -> None:
    """Check that a column may get a collation: if it has an index, only one with the same order.

    Source: tidb ``checkModifyCharsetAndCollation``, ``CompatibleCollate``.

    :raises ScenarioError: if it may not.
    """
    old = alteration.info.columns[offset]
    same_order = {_order_of(old.collation), _order_of(collation)}
    if len(same_order) > 1 and any(offset in index.offsets for index in alteration.info.indexes):
        change = f"from '{old.collation}' to '{collation}'"
        what = f"Unsupported modifying collation of column {old.name!r} {change} when index is defined on it."
        raise alteration.error(what, old.name)


def _order_of(collation: str) -> str:
    charset, _, order = collation.partition("_")
    binary = order == "bin" and charset == "latin1"
    return order if binary or charset in ("utf8", "utf8mb4") else collation


_DATES = frozenset({T.DATE, T.DATETIME, T.TIMESTAMP})
_TEXTS = STRINGS | LOBS
_UNSUPPORTED_CHANGES = (
    (_DATES | _TEXTS | {T.DURATION, T.YEAR, T.JSON}, {T.BIT}),
    (_DATES | FLOATS | {T.DURATION, T.YEAR, T.NEW_DECIMAL, T.JSON, T.BIT}, {T.ENUM, T.SET}),
    (FLOATS | {T.ENUM, T.SET, T.BIT, T.NEW_DECIMAL}, _DATES),
    ({T.ENUM, T.SET, T.BIT}, {T.DURATION}),
)
"""Old and new types between which TiDB does not convert."""
_WIDER_CHARSETS = (("utf8", "utf8mb4"), ("latin1", "utf8mb4"))


def _keeps_stored_values(old: ColumnInfo, new: ColumnInfo) -> bool:
    """Return whether a change of type leaves the stored values as they are."""
    same_attributes = (old.unsigned, old.charset, old.collation) == (new.unsigned, new.charset, new.collation)
    if old.type in INTEGERS and new.type in INTEGERS:  # whatever their display widths are
        return same_attributes and TYPES[new.type].bits >= TYPES[old.type].bits
    return same_attributes and old.type == new.type and new.length >= old.length


def _check_partition_column(alteration: Alteration, old: ColumnInfo, new: ColumnInfo) -> None:
    partitioning = alteration.table.partitioning
    if partitioning is None or old.name.lower() not in partitioning.uses() or _keeps_stored_values(old, new):
        return
    what = "can't change the partitioning column, since it would require reorganize all partitions"
    raise alteration.error(f"Unsupported modify column: {what}", old.name)


def column_converter(old: ColumnInfo, new: ColumnInfo, mode: SQLMode) -> Callable[[Value], Value]:
    """Return a function that converts a value of the old column to the new column, as MODIFY COLUMN does.

    In strict mode it converts neither the number 0 to a date, nor a date with a zero part, whatever the other
    modes are. Source: tidb ``reorgTypeFlagsWithSQLMode``, ``ParseTimeFromNum``.
    """
    rejects_zeros = new.type in _DATES and mode.strict
    mode = replace(mode, zero_in_date=not rejects_zeros or mode.invalid_dates)
    members_to_bits = old.type in (T.ENUM, T.SET) and new.type == T.BIT
    as_number = members_to_bits or (old.type == T.BIT and new.type in _TEXTS)

    def convert(value: Value) -> Value:
        if value is None:
            return None
        if rejects_zeros and old.type in INTEGERS and int(value) == 0:
            raise value_error(new.name, 0, f"Incorrect {new.type_name} value")
        return coerce(new, int(value) if as_number else read(old, value, mode), mode)

    return convert


def rename_column(old: str, name: str, alteration: Alteration) -> None:
    """Run ``RENAME COLUMN old TO new``."""
    offset = alteration.column(old)
    _check_unused(alteration, offset, "rename")
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


def convert_columns(alteration: Alteration, charset: str, collation: str) -> None:
    """Change every column that has a charset, as CONVERT TO CHARACTER SET does."""
    for offset, column in enumerate(alteration.info.columns):
        if column.charset != "binary":
            check_indexed_collation(offset, collation, alteration)
            alteration.change(offset, replace(column, charset=charset, collation=collation))
