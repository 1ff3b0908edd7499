"""Index lookup: finds rows by the conditions that compare a column with literals.

A lookup only narrows the search: the caller checks the whole condition for each candidate.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import (
    CHARSET_BEARING,
    INTEGERS,
    NUMBERED,
    STRINGS,
    TEMPORALS,
    MySQLType,
    integer_range,
)
from ticdc_producer.model.row_key import columns_key, encode_part, index_key, int_key
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.evaluate import evaluate_constant
from ticdc_producer.scenario.sql.storage import Row, Table


def joined_by_and(where: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the conditions that a condition joins by AND."""
    pending = [where]
    while pending:
        condition = pending.pop()
        if isinstance(condition, exp.And):
            pending += [condition.expression, condition.this]
        elif isinstance(condition, exp.Paren):
            pending.append(condition.this)
        else:
            yield condition


def values_of_column(where: exp.Expr, column: ColumnInfo, mode: SQLMode) -> list[Value] | None:
    """Return the values of a column that one of the conditions joined by AND allows.

    :return: canonical values; None if no condition gives them by ``=`` or ``IN`` with literals.
    """
    for condition in joined_by_and(where):
        if not isinstance(condition, exp.EQ | exp.In) or not names_column(
            condition.this, column.name.lower()
        ):
            continue
        choices = [condition.expression] if isinstance(condition, exp.EQ) else condition.expressions
        values = [_equal_value(column, choice, mode) for choice in choices]
        if values and None not in values:
            return values
    return None


def split_memberships(
    where: exp.Expr, table: TableInfo, mode: SQLMode
) -> tuple[list[tuple[int, frozenset[bytes]]], list[exp.Expr]]:
    """Divide the conditions joined by AND, so that a long IN does not compare each row with each literal.

    :return: for each ``column IN (literals)``, the offset and the encoded values; all other conditions.
    """
    memberships: list[tuple[int, frozenset[bytes]]] = []
    others: list[exp.Expr] = []
    offsets = {column.name.lower(): offset for offset, column in enumerate(table.columns)}
    for condition in joined_by_and(where):
        offset = offsets.get(condition.this.name.lower()) if _is_membership(condition) else None
        values = None if offset is None else _stored_values(table.columns[offset], condition, mode)
        if offset is None or values is None:
            others.append(condition)
        else:
            memberships.append(
                (offset, frozenset(encode_part(table.columns[offset], value) for value in values))
            )
    return memberships, others


def _is_membership(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.In) and isinstance(condition.this, exp.Column)


def _stored_values(column: ColumnInfo, condition: exp.Expr, mode: SQLMode) -> list[bytes] | None:
    """Return the values of an integer or text column that equal literals; None if that takes a comparison."""
    is_text = column.type in STRINGS and column.charset != "binary"
    if not is_text and column.type not in INTEGERS:
        return None
    values = [_equal_value(column, choice, mode) for choice in condition.expressions]
    known = [value.encode() if isinstance(value, str) else value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    if is_text:
        return known
    low, high = integer_range(column.type, unsigned=column.unsigned)
    return [value for value in known if low <= int(value) <= high]


def _equal_value(column: ColumnInfo, node: exp.Expr, mode: SQLMode) -> Value:
    """Return the only value of a column that may equal a literal; None if several may."""
    if column.type in INTEGERS:
        number = integer_of(node)
        return None if number is None else str(number).encode()
    if column.charset != "binary":
        return equal_text_or_integer(column, node)
    try:
        return coerce(column, evaluate_constant(node, mode), mode) if _is_exact(column, node) else None
    except ScenarioError:
        return None


def _is_exact(column: ColumnInfo, node: exp.Expr) -> bool:
    """Return whether a column without a charset is compared with a literal in the column's type."""
    is_text = isinstance(node, exp.Literal) and node.is_string
    if column.type == MySQLType.NEW_DECIMAL:
        number = node.this if isinstance(node, exp.Neg) else node
        return isinstance(number, exp.Literal) and not number.is_string
    if column.type in STRINGS:
        return is_text or isinstance(node, exp.HexString)
    # Two times of a TIMESTAMP have the same text when clocks are set back.
    return is_text and column.type in TEMPORALS - {MySQLType.TIMESTAMP}


def equal_text_or_integer(column: ColumnInfo, node: exp.Expr) -> Value:
    """Return the value of a column that equals a literal; None if several values may equal it."""
    if column.type in INTEGERS:
        number = integer_of(node)
        low, high = integer_range(column.type, unsigned=column.unsigned)
        return str(number).encode() if number is not None and low <= number <= high else None
    is_text = column.type in CHARSET_BEARING and column.type not in NUMBERED and column.charset != "binary"
    if is_text and isinstance(node, exp.Literal) and node.is_string:
        return str(node.this).encode("utf-8", "surrogateescape")
    return None


def names_column(node: exp.Expr, name: str) -> bool:
    """Return whether a node is the column of a name in lower case."""
    return isinstance(node, exp.Column) and node.name.lower() == name


def integer_of(node: exp.Expr) -> int | None:
    """Return the value of an integer literal, with or without a minus; None for any other node."""
    if isinstance(node, exp.Neg):
        number = integer_of(node.this)
        return None if number is None else -number
    digits = str(node.this)
    plain = isinstance(node, exp.Literal) and not node.is_string and digits.isascii() and digits.isdigit()
    return int(digits) if plain and len(digits) <= 20 else None


def candidates(where: exp.Expr, table: Table) -> list[Row]:
    """Return the rows that may satisfy a condition, in the order of their keys."""
    handle = _handle_column(table)
    numbers = None if handle is None else _handles(where, handle)
    if numbers is None:
        return _by_unique_key(where, table)
    keys = sorted({int_key(number) for number in numbers})
    locations = [(table_id, key) for table_id in table.physical_ids for key in keys]
    return [table.rows[location] for location in locations if location in table.rows]


def rows_equal(table: Table, offset: int, value: SQLValue, collation: str) -> list[Row] | None:
    """Return the rows whose column equals a value, in the order of their keys.

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
    """Return the row of a unique key if the conditions joined by AND fix all its columns, else all rows."""
    compared = {
        condition.this.name.lower(): condition.expression
        for condition in joined_by_and(where)
        if isinstance(condition, exp.EQ) and isinstance(condition.this, exp.Column)
    }
    columns = table.info.columns
    for index in table.info.indexes if compared else ():
        names = [columns[offset].name.lower() for offset in index.offsets]
        if not index.unique or not compared.keys() >= set(names):
            continue
        values: list[Value] = [None] * len(columns)
        for offset, name in zip(index.offsets, names, strict=True):
            values[offset] = equal_text_or_integer(columns[offset], compared[name])
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


def _handles(where: exp.Expr, handle: str) -> list[int] | None:
    """Return the handles that one of the conditions joined by AND allows; None if none limits them."""
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
