"""TiDB's column ids: each added column gets the next id, which does not change.

A column whose values MODIFY COLUMN rewrites is a new column to TiDB and gets a new id.
Source: tidb ``pkg/ddl/modify_column.go`` (``needChangeColumnData``).
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo

T = MySQLType
_TEXTS = STRINGS | LOBS
_WIDTHS = {T.TINY: 1, T.SHORT: 2, T.INT24: 3, T.LONG: 4, T.LONGLONG: 8}
_MEMBERS = frozenset({T.ENUM, T.SET})


def with_column_ids(info: TableInfo) -> TableInfo:
    """Give an id to each column without one, in table order."""
    last, columns = info.last_column_id, []
    for column in info.columns:
        last += not column.id
        columns.append(column if column.id else replace(column, id=last))
    return replace(info, columns=tuple(columns), last_column_id=last)


def is_rewritten(old: ColumnInfo, new: ColumnInfo) -> bool:
    """Whether TiDB rewrites the values when a column gets a new definition."""
    if old.type in INTEGERS and new.type in INTEGERS:
        return old.unsigned != new.unsigned or _WIDTHS[new.type] < _WIDTHS[old.type]
    if old.type in _TEXTS and new.type in _TEXTS:
        padded = old.type == T.STRING, new.type == T.STRING
        return padded[0] != padded[1] or old.binary != new.binary or new.length < old.length
    if old.type != new.type:
        return True
    if new.type in _MEMBERS:
        return new.elements[: len(old.elements)] != old.elements
    if new.type in NUMBERED:
        return new.length < old.length
    return (old.length, old.decimal, old.unsigned) != (new.length, new.decimal, new.unsigned)
