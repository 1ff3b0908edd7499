"""The parts of ALTER TABLE that give columns another definition.

Rules: tidb ``pkg/ddl/modify_column.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import DATES, FLOATS, INTEGERS, LOBS, STRINGS, TYPES, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.ddl.alteration import Alteration
from ticdc_producer.scenario.sql.ddl.columns import check_unused, defined_column, offset_of
from ticdc_producer.scenario.sql.ddl.foreign_keys import check_changed_column
from ticdc_producer.scenario.sql.definition.column_changes import column_converter, is_rewritten
from ticdc_producer.scenario.sql.definition.column_definition import (
    ColumnDraft,
    check_owner,
    check_primary_column,
    draft_column,
)
from ticdc_producer.scenario.sql.definition.generated import dependent_columns, expression_of
from ticdc_producer.scenario.sql.definition.key_length import check_changed_keys, check_length
from ticdc_producer.scenario.sql.definition.row_deletion import check_dates
from ticdc_producer.scenario.sql.dml.assign import now_value
from ticdc_producer.scenario.sql.syntax.alter import ChangeColumn
from ticdc_producer.scenario.sql.syntax.column import Position

T = MySQLType


def change_column(node: ChangeColumn, alteration: Alteration) -> None:
    """Run ``CHANGE [COLUMN] old definition`` or ``MODIFY [COLUMN] definition``."""
    draft = draft_column(node.column)
    check_owner(node.column, alteration.info.schema, alteration.info.name)
    name = node.old[-1] if node.old else draft.name
    if node.if_exists and not alteration.has_column(name):
        return
    offset = alteration.column(name)
    if draft.name.lower() != name.lower():
        check_unused(alteration, offset, "rename")
    _change(node.position, alteration, offset, draft)


def _change(target: Position | None, alteration: Alteration, offset: int, draft: ColumnDraft) -> None:
    old = alteration.info.columns[offset]
    position = offset_of(target, alteration, skip=offset)
    alteration.touch(old.name, draft.name, modifies=old.name.lower() == draft.name.lower())
    _check_draft(draft, old, alteration)
    new = defined_column(draft, alteration)
    _check_definition(offset, new, alteration)
    if _is_in_primary_key(offset, alteration):
        check_primary_column(draft)
        if not _keeps_stored_values(old, new):
            raise alteration.error("Unsupported modify column: this column has primary key flag", old.name)
        new = replace(new, nullable=False)
    check_changed_keys(alteration.table.info, old.name, new, alteration.line)
    convert, old_value = column_converter(old, new, alteration.context.mode), alteration.fills[offset]
    new = replace(new, origin_default=convert(old.origin_default), id=old.id)
    if is_rewritten(old, new):
        new = alteration.with_new_id(new)
    of_null = _value_of_null(old, new, alteration.context.mode)

    def fill(row: Sequence[Value]) -> Value:
        value = old_value(row)
        return of_null if value is None else convert(value)

    alteration.change(offset, new, fill)
    if position is not None:
        alteration.move(offset, position)
    alteration.actions.append(Action.MODIFY_COLUMN)


def _value_of_null(old: ColumnInfo, new: ColumnInfo, mode: SQLMode) -> Value:
    """Return what NULL becomes: the time of the statement in a TIMESTAMP NOT NULL that had another type.

    Source: tidb ``checkForNullValue``, ``updateColumnWorker.getRowRecord``.
    """
    becomes_now = new.type == T.TIMESTAMP and old.type != T.TIMESTAMP and not new.nullable
    return now_value(new, mode) if becomes_now else None


def _is_in_primary_key(offset: int, alteration: Alteration) -> bool:
    key = alteration.info.primary_key
    return key is not None and offset in key.offsets


def _check_draft(draft: ColumnDraft, old: ColumnInfo, alteration: Alteration) -> None:
    """Check that a definition has no attribute that MODIFY cannot give a column.

    :raises ScenarioError: if it has one.
    """
    if draft.keys:
        raise alteration.error(
            f"Unsupported modify column: {old.name!r} cannot become a key", old.name, "ADD a key instead"
        )
    if draft.constraint:
        raise alteration.error(f"Unsupported modify column: can't modify with {draft.constraint}", old.name)
    if draft.auto_increment and not old.auto_increment:
        raise alteration.error("Unsupported modify column: can't set auto_increment", old.name)
    _check_removed_auto_increment(draft, old, alteration)


def _check_definition(offset: int, new: ColumnInfo, alteration: Alteration) -> None:
    """Check that TiDB can give a column a definition, but for its keys.

    :raises ScenarioError: if it cannot.
    """
    old = alteration.info.columns[offset]
    _check_generated(offset, new, alteration)
    _check_change(old, new, alteration)
    users = dependent_columns(alteration.info, old.name)
    if not is_rewritten(old, new):
        _check_indexed_collation(offset, new.collation, alteration)
    elif users:
        user = f"generated column {users[0].name!r}"
        what = f"Unsupported modify column: oldCol is a dependent column {old.name!r} for {user}"
        raise alteration.error(what, old.name)
    elif alteration.table.partitioning is not None:
        raise alteration.error("Unsupported modify column: table is partition table", old.name)
    check_changed_column(alteration.context, alteration.table, old, new)
    _check_partition_column(alteration, old, new)
    if users:  # tidb `checkModifyColumnWithGeneratedColumnsConstraint`: also a change that leaves the values
        what = f"Column {old.name!r} has a generated column dependency"
        raise alteration.error(f"'{what}' is not supported for generated columns", old.name)
    _check_auto_random(offset, new, alteration)
    if alteration.has_ttl(old.name):
        check_dates(new, alteration.line)


def _check_removed_auto_increment(draft: ColumnDraft, old: ColumnInfo, alteration: Alteration) -> None:
    """Check that a column remains AUTO_INCREMENT. Source: tidb ``GetModifiableColumnJob``.

    :raises ScenarioError: if it does not, and ``tidb_allow_remove_auto_inc`` is off.
    """
    mode = alteration.context.mode
    if old.auto_increment and not (draft.auto_increment or mode.removes_auto_increment):
        what = "can't remove auto_increment without @@tidb_allow_remove_auto_inc enabled"
        raise alteration.error(f"Unsupported modify column: {what}", old.name)


def _check_auto_random(offset: int, new: ColumnInfo, alteration: Alteration) -> None:
    """Check that AUTO_RANDOM remains, with as many bits or more, or replaces AUTO_INCREMENT.

    Source: tidb ``checkAutoRandom``.

    :raises ScenarioError: for another change of it.
    """
    old = alteration.info.columns[offset]
    (old_shard, old_range), (shard, width) = old.auto_random or (0, 64), new.auto_random or (0, 64)
    key = alteration.info.clustered_key
    is_handle = key is not None and key.offsets == (offset,) and old.type in INTEGERS
    what = ""
    if shard < old_shard:
        what = "decreasing auto_random shard bits is not supported"
    elif shard and not old_shard and not (old.auto_increment and is_handle):
        what = "auto_random can only be converted from auto_increment clustered primary key"
    elif shard and (old.type, new.type) != (T.LONGLONG, T.LONGLONG):
        what = "modifying the auto_random column type is not supported"
    elif shard and (new.auto_increment or new.has_default):
        what = "auto_random is incompatible with auto_increment and default"
    elif shard > _MOST_SHARD_BITS:
        what = f"auto_random has at most {_MOST_SHARD_BITS} bits for the shard"
    elif width != old_range:
        what = "alter the range bits of auto_random column is not supported"
    if what:
        raise alteration.error(f"Invalid auto random: {what}", old.name)


_MOST_SHARD_BITS = 15


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
    what = unsupported_charset(old, new.charset, new.collation)
    is_longer = old.type == new.type == T.STRING and new.length >= old.length  # rewritten, but not converted
    if what and ("gbk" in (old.charset, new.charset) or is_longer or not is_rewritten(old, new)):
        raise alteration.error(what, old.name)


def unsupported_charset(old: ColumnInfo | TableInfo, charset: str, collation: str) -> str:
    """Return why a column or table cannot get a charset and collation without new values; empty if it can.

    Source: tidb ``checkModifyCharsetAndCollation``.
    """
    if old.charset != charset:
        widens = (old.charset, charset) in _WIDER_CHARSETS
        return "" if widens else f"Unsupported modify charset from {old.charset} to {charset}"
    if old.collation == collation or charset in ("utf8", "utf8mb4"):
        return ""
    return f"Unsupported modify change collate from {old.collation} to {collation}"


def _check_indexed_collation(offset: int, collation: str, alteration: Alteration) -> None:
    """Check that a column may get a collation without new values: with an index, only one of the same order.

    Source: tidb ``checkModifyTypes``, ``checkModifyCharsetAndCollation``, ``CompatibleCollate``.

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


_TEXTS = STRINGS | LOBS
_UNSUPPORTED_CHANGES = (
    (DATES | _TEXTS | {T.DURATION, T.YEAR, T.JSON}, {T.BIT}),
    (DATES | FLOATS | {T.DURATION, T.YEAR, T.NEW_DECIMAL, T.JSON, T.BIT}, {T.ENUM, T.SET}),
    (FLOATS | {T.ENUM, T.SET, T.BIT, T.NEW_DECIMAL}, DATES),
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


def convert_columns(alteration: Alteration, charset: str, collation: str) -> None:
    """Change every column that has a charset, as CONVERT TO CHARACTER SET does.

    Source: tidb ``checkAlterTableCharset``, ``checkIndexLengthWithNewCharset``.
    """
    columns = [
        column if column.charset == "binary" else replace(column, charset=charset, collation=collation)
        for column in alteration.info.columns
    ]
    for index in alteration.info.indexes:
        check_length([columns[offset] for offset in index.offsets], index.lengths, alteration.line)
    for offset, column in enumerate(columns):
        if column.charset != "binary":
            _check_indexed_collation(offset, collation, alteration)
            if what := unsupported_charset(alteration.info.columns[offset], charset, collation):
                raise alteration.error(what, column.name)
            alteration.change(offset, column)
