"""TiDB's column ids: each added column gets the next id, which does not change.

A column whose values MODIFY COLUMN rewrites is a new column to TiDB and gets a new id.
Source: tidb ``pkg/ddl/modify_column.go`` (``needChangeColumnData``).
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, TYPES, MySQLType
from ticdc_producer.model.table import TableInfo

T = MySQLType
_TEXTS = STRINGS | LOBS
_MEMBERS = frozenset({T.ENUM, T.SET})
_CHAR_AND_VARCHAR = ({T.STRING, T.VARCHAR}, {T.STRING, T.VAR_STRING})


def with_column_ids(info: TableInfo) -> TableInfo:
    """Give an id to each column without one, in table order."""
    last, columns = info.last_column_id, []
    for column in info.columns:
        last += not column.id
        columns.append(column if column.id else replace(column, id=last))
    return replace(info, columns=tuple(columns), last_column_id=last)


def is_rewritten(old: ColumnInfo, new: ColumnInfo) -> bool:
    """Whether TiDB rewrites the values when a column gets a new definition."""
    if old.type == new.type:
        return _is_rewritten_in_type(old, new)
    if {old.type, new.type} in _CHAR_AND_VARCHAR:
        return True
    if old.type in INTEGERS and new.type in INTEGERS:
        return old.unsigned != new.unsigned or TYPES[new.type].bits < TYPES[old.type].bits
    if any(old.type in kinds and new.type in kinds for kinds in (_TEXTS, FLOATS)):
        return _is_cut_or_toggled(old, new)
    return True


def _is_rewritten_in_type(old: ColumnInfo, new: ColumnInfo) -> bool:
    if new.type == T.NEW_DECIMAL:
        return (old.length, old.decimal, old.unsigned) != (new.length, new.decimal, new.unsigned)
    if new.type in _MEMBERS:
        return new.elements[: len(old.elements)] != old.elements
    if new.type in INTEGERS:
        return old.unsigned != new.unsigned
    if new.type == T.STRING and old.binary:
        return new.length != old.length
    if new.type == T.VECTOR_FLOAT32:
        return new.length not in (-1, old.length)
    return _is_cut_or_toggled(old, new)


def _is_cut_or_toggled(old: ColumnInfo, new: ColumnInfo) -> bool:
    is_cut = new.length > 0 and (new.length < old.length or new.decimal < old.decimal)
    return is_cut or old.unsigned != new.unsigned
