"""TiDB's column ids, values of changed columns, and recognition of the DDL between two versions of a table.

A column whose values MODIFY COLUMN rewrites is a new column to TiDB and gets a new id.
Source: tidb ``pkg/ddl/modify_column.go`` (``needChangeColumnData``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import DATES, INTEGERS, LOBS, STRINGS, TYPES, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.number_text import whole_number
from ticdc_producer.model.values.sql_value import Duration, SQLMode, value_error
from ticdc_producer.model.values.temporal_text import round_duration

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
    """Return whether TiDB rewrites the values when a column gets a new definition."""
    if old.type == new.type:
        return _is_rewritten_in_type(old, new)
    if {old.type, new.type} in _CHAR_AND_VARCHAR:
        return True
    if old.type in INTEGERS and new.type in INTEGERS:
        return old.unsigned != new.unsigned or TYPES[new.type].bits < TYPES[old.type].bits
    if old.type in _TEXTS and new.type in _TEXTS:
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


def column_converter(old: ColumnInfo, new: ColumnInfo, mode: SQLMode) -> Callable[[Value], Value]:
    """Return a function that converts a value of the old column to the new column, as MODIFY COLUMN does.

    In strict mode it converts neither the number 0 to a date, nor a date with a zero part, whatever the other
    modes are. A TIME becomes the YEAR of its digits. Source: tidb ``reorgTypeFlagsWithSQLMode``,
    ``ParseTimeFromNum``, ``ConvertToYearFromNow``.
    """
    rejects_zeros = new.type in DATES and mode.strict
    mode = replace(mode, zero_in_date=not rejects_zeros or mode.invalid_dates)
    members_to_bits = old.type in (T.ENUM, T.SET) and new.type == T.BIT
    as_number = members_to_bits or (old.type == T.BIT and new.type in _TEXTS)

    def convert(value: Value) -> Value:
        if value is None:
            return None
        if rejects_zeros and old.type in INTEGERS and int(value) == 0:
            raise value_error(new.name, 0, f"Incorrect {new.type_name} value")
        given = int(value) if as_number else read(old, value, mode)
        if new.type == T.YEAR and isinstance(given, Duration):
            given = whole_number(round_duration(given, 0))
        return coerce(new, given, mode)

    return convert


def is_truncated(old: TableInfo, new: TableInfo) -> bool:
    """Return whether TRUNCATE TABLE gave the table and its partitions new ids, and changed nothing else."""
    names = [[partition.name for partition in table.partitions] for table in (old, new)]
    changed = replace(old, table_id=new.table_id, partitions=new.partitions, version=new.version)
    return old.table_id != new.table_id and names[0] == names[1] and changed == new


def only_columns_changed(old: TableInfo, new: TableInfo) -> bool:
    """Return whether columns were added, dropped and renamed, and nothing else changed.

    A dropped column takes the index of this column alone with it.
    """
    named = {column.id: column for column in new.columns}
    remaining = [replace(column, name=named[column.id].name) for column in old.columns if column.id in named]
    known = {column.id for column in old.columns}
    indexes = [index for index, ids in _indexes(old) if any(column_id in named for column_id in ids)]
    changed = replace(
        old,
        columns=new.columns,
        indexes=new.indexes,
        last_column_id=new.last_column_id,
        version=new.version,
    )
    return (
        changed == new
        and remaining == [column for column in new.columns if column.id in known]
        and indexes == [index for index, _ in _indexes(new)]
    )


def _indexes(table: TableInfo) -> Iterator[tuple[IndexInfo, tuple[int, ...]]]:
    """Yield each index with column ids in place of column offsets, and these ids."""
    for index in table.indexes:
        ids = tuple(table.columns[offset].id for offset in index.offsets)
        yield replace(index, offsets=ids), ids
