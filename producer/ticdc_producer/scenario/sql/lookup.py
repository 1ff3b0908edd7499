"""Index lookup: finds rows by integer handle or unique key, so that ``WHERE id = 5`` does not scan all rows.

A lookup only narrows the search: the caller checks the whole condition for each candidate.
"""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import CHARSET_BEARING, INTEGERS, NUMBERED, integer_range
from ticdc_producer.model.row_key import columns_key, index_key, int_key
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.literal_conditions import (
    equal_text_or_integer,
    integer_of,
    joined_by_and,
    names_column,
)
from ticdc_producer.scenario.sql.storage import Row, Table


def candidates(where: exp.Expr, table: Table) -> list[Row]:
    """The rows that may satisfy a condition, in the order of their keys."""
    handle = _handle_column(table)
    numbers = None if handle is None else _wanted(where, handle)
    if numbers is None:
        return _by_unique_key(where, table)
    keys = sorted({int_key(number) for number in numbers})
    locations = [(table_id, key) for table_id in table.physical_ids for key in keys]
    return [table.rows[location] for location in locations if location in table.rows]


def rows_equal(table: Table, offset: int, value: SQLValue, collation: str) -> list[Row] | None:
    """The rows whose column equals a value, in the order of their keys.

    :param collation: of the comparison, if the values are texts.
    :return: None if an index cannot find them, because the comparison would convert the column's values.
    """
    column = table.info.columns[offset]
    if value is None:
        return []
    if column.type in INTEGERS and isinstance(value, int):
        low, high = integer_range(column.type, unsigned=column.unsigned)
        if not low <= value <= high:
            return []
        stored = str(int(value)).encode()
        if _handle_column(table) == column.name.lower():
            locations = [(table_id, int_key(int(value))) for table_id in table.physical_ids]
            return [table.rows[location] for location in locations if location in table.rows]
    elif _is_text(column) and type(value) is str and collation == column.collation:
        stored = value.encode("utf-8", "surrogateescape")
    else:
        return None
    values: list[Value] = [None] * len(table.info.columns)
    values[offset] = stored
    key = columns_key(table.info.columns, (offset,), values)
    return [] if key is None else table.rows_holding((offset,), key)


def _is_text(column: ColumnInfo) -> bool:
    return column.type in CHARSET_BEARING and column.type not in NUMBERED and column.charset != "binary"


def _by_unique_key(where: exp.Expr, table: Table) -> list[Row]:
    """The row of a unique key if the conditions joined by AND fix all of its columns; otherwise all rows."""
    wanted = {
        condition.this.name.lower(): condition.expression
        for condition in joined_by_and(where)
        if isinstance(condition, exp.EQ) and isinstance(condition.this, exp.Column)
    }
    columns = table.info.columns
    for index in table.info.indexes if wanted else ():
        names = [columns[offset].name.lower() for offset in index.offsets]
        if not index.unique or not wanted.keys() >= set(names):
            continue
        values: list[Value] = [None] * len(columns)
        for offset, name in zip(index.offsets, names, strict=True):
            values[offset] = equal_text_or_integer(columns[offset], wanted[name])
        key = index_key(columns, index, values)
        if key is not None:
            location = table.entries.get(index.name, {}).get(key)
            return [] if location is None else [table.rows[location]]
    return table.scan()


def _handle_column(table: Table) -> str | None:
    key = table.info.clustered_key
    if key is None or len(key.offsets) > 1:
        return None
    column = table.info.columns[key.offsets[0]]
    return column.name.lower() if column.type in INTEGERS else None


def _wanted(where: exp.Expr, handle: str) -> list[int] | None:
    """The handles that one of the conditions joined by AND allows; None if no condition limits them."""
    for condition in joined_by_and(where):
        if isinstance(condition, exp.EQ) and names_column(condition.this, handle):
            numbers = [integer_of(condition.expression)]
        elif isinstance(condition, exp.In) and names_column(condition.this, handle):
            numbers = [integer_of(choice) for choice in condition.expressions]
        else:
            continue
        known = [number for number in numbers if number is not None]
        if known and len(known) == len(numbers):
            return known
    return None
