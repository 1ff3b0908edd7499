"""Index lookup: finds rows by the conditions that compare a column with literals.

A lookup only narrows the search: the caller checks the conditions for each candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.storage import Row, Table

_EQUALITIES = (exp.EQ, exp.NullSafeEQ)
"""A column is equal to a literal other than NULL by both; no lookup is made for NULL."""


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


def literals_of(where: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions joined by AND that are literals.

    TiDB evaluates them before it reads rows. Source: tidb ``PlanBuilder.buildSelection``.
    """
    return [] if where is None else [node for node in joined_by_and(where) if isinstance(node, exp.Literal)]


def values_of_column(where: exp.Expr, column: ColumnInfo, mode: SQLMode) -> list[Value] | None:
    """Return the values of a column that one of the conditions joined by AND allows.

    :return: canonical values; None if no condition gives them by ``=``, ``<=>`` or ``IN`` with literals.
    """
    for condition in joined_by_and(where):
        if not _is_equality_or_list(condition) or not names_column(condition.this, column.name.lower()):
            continue
        values = [_equal_value(column, choice, mode) for choice in _choices(condition)]
        if values and None not in values:
            return values
    return None


def _is_equality_or_list(condition: exp.Expr) -> bool:
    return isinstance(condition, (*_EQUALITIES, exp.In))


def _choices(condition: exp.Expr) -> list[exp.Expr]:
    """Return the values of ``column = value`` or ``column IN (…)``."""
    return condition.expressions if isinstance(condition, exp.In) else [condition.expression]


def membership_column(condition: exp.Expr, table: TableInfo) -> int | None:
    """Return the offset of the column of ``column IN (…)``; None for any other condition."""
    if not isinstance(condition, exp.In) or not isinstance(condition.this, exp.Column):
        return None
    name = condition.this.name.lower()
    return next((offset for offset, column in enumerate(table.columns) if column.name.lower() == name), None)


def encoded_members(column: ColumnInfo, condition: exp.Expr, mode: SQLMode) -> frozenset[bytes] | None:
    """Return the encoded values of ``column IN (literals)``, so that no row is compared with each literal.

    None if the values have to be compared one by one.
    """
    values = _stored_values(column, condition, mode)
    return None if values is None else frozenset(encode_part(column, value) for value in values)


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
        return coerce(column, evaluate(node, Scope(mode)), mode) if _is_exact(column, node) else None
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
    if isinstance(node, exp.Literal):
        digits = str(node.this)
        plain = not node.is_string and digits.isascii() and digits.isdigit()
        return int(digits) if plain and len(digits) <= 20 else None
    number = integer_of(node.this) if isinstance(node, exp.Neg) else None
    return None if number is None else -number


class Lookup:
    """The keys by which the conditions joined by AND find rows.

    :ivar conditions: these conditions.
    """

    def __init__(self, where: exp.Expr, table: TableInfo) -> None:
        self.conditions = [*joined_by_and(where)]
        handle = _handle_column(table)
        name = None if handle is None else handle.name.lower()
        self._handles = range(0) if handle is None else range(*_bounds(handle))
        self._of_handle = [
            condition
            for condition in self.conditions
            if name and _is_equality_or_list(condition) and names_column(condition.this, name)
        ]
        compared = {
            condition.this.name.lower(): condition.expression
            for condition in self.conditions
            if isinstance(condition, _EQUALITIES) and isinstance(condition.this, exp.Column)
        }
        names = [column.name.lower() for column in table.columns]
        self._unique = [
            (index, [(offset, compared[names[offset]]) for offset in index.offsets])
            for index in table.indexes
            if index.unique and compared.keys() >= {names[offset] for offset in index.offsets}
        ]

    def rows(self, table: Table) -> tuple[list[Row], exp.Expr | None]:
        """Return the rows that may satisfy the conditions, in the order of their keys.

        The second result is a condition that all of them satisfy, if there is one.
        """
        for condition in self._of_handle:
            choices = _choices(condition)
            numbers = [number for choice in choices if (number := integer_of(choice)) is not None]
            if not numbers or len(numbers) < len(choices):
                continue
            rows = _rows_of_handles(table, numbers)
            is_satisfied = isinstance(condition, _EQUALITIES) and numbers[0] in self._handles
            return rows, condition if is_satisfied else None
        return self._by_unique_key(table), None

    def _by_unique_key(self, table: Table) -> list[Row]:
        """Return the row of a unique key if the conditions fix all its columns, else all rows."""
        columns = table.info.columns
        for index, literals in self._unique:
            values: list[Value] = [None] * len(columns)
            for offset, literal in literals:
                values[offset] = equal_text_or_integer(columns[offset], literal)
            key = index_key(columns, index, values)
            if key is not None:
                location = table.entries.get(index.name, {}).get(key)
                return [] if location is None else [table.rows[location]]
        return table.scan()


def _bounds(column: ColumnInfo) -> tuple[int, int]:
    """Return the range of an integer column; its end is not in it."""
    low, high = integer_range(column.type, unsigned=column.unsigned)
    return low, high + 1


def _rows_of_handles(table: Table, numbers: Sequence[int]) -> list[Row]:
    keys = [int_key(numbers[0])] if len(numbers) == 1 else sorted({int_key(number) for number in numbers})
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
        if _handle_column(table.info) is column:
            return _rows_of_handles(table, [int(value)])
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


def _handle_column(table: TableInfo) -> ColumnInfo | None:
    """Return the column whose values are the handles of the rows; None if there is none."""
    key = table.clustered_key
    if key is None or len(key.offsets) > 1:
        return None
    column = table.columns[key.offsets[0]]
    return column if column.type in INTEGERS else None
