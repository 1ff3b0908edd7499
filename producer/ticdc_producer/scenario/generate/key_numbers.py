"""The number of the generated row that may have a key value: the inverse of a numbered key column.

One column of each unique key holds the number of the row, as long as keys do not change (``cells``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.row_key import prefix
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import sort_key
from ticdc_producer.scenario.generate.domain import is_string, ordinal_of
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

_MOST_DIGITS = 20


def numbered_columns(plan: GeneratePlan, table: TableInfo) -> dict[int, ColumnPlan]:
    """Return the columns that hold the number of the row, by offset in a later version of the table."""
    numbered = {column.column.id: column for column in plan.columns if column.keyed and column.sequence}
    columns = {offset: numbered.get(column.id) for offset, column in enumerate(table.columns)}
    return {offset: column for offset, column in columns.items() if column is not None}


def check_rows_have_keys(plan: GeneratePlan, table: TableInfo) -> None:
    """Check that the rows of a table are found and computed by key, without Spark.

    :raises UnsupportedSQL: if they are not.
    """
    name = table.qualified_name
    computed = [column.column.name for column in plan.columns if column.expression]
    if computed:
        what = f"column {computed[0]!r} of {name} has an expression, which SQL cannot compute"
        raise UnsupportedSQL(what, hint="the rows of this table cannot be used after its generate step")
    if plan.key_changes:
        what = f"the keys of {name} change in its generate step, so SQL cannot find its rows by key"
        raise UnsupportedSQL(what, hint="remove key-changes")
    numbered = numbered_columns(plan, table)
    for offset, column in enumerate(table.columns):
        if column.auto_increment and offset not in numbered:
            what = f"the AUTO_INCREMENT column {column.name!r} of {name} holds generated values in no order"
            raise UnsupportedSQL(what, hint=f"set distribution: sequence for {column.name!r}")


def last_id(plan: GeneratePlan) -> int:
    """Return the largest AUTO_INCREMENT value or hidden row id that the step may have used; 0: none."""
    used = [column.low + plan.all_rows - 1 for column in plan.columns if column.column.auto_increment]
    if plan.table.clustered_key is None:
        used.append(plan.rows + plan.transactions * plan.rows_per_transaction)
    return max(used, default=0)


def numbers_in_conflict(plan: GeneratePlan, table: TableInfo, row: Sequence[Value]) -> set[int]:
    """Return the numbers of the generated rows that may have a unique key in common with a row.

    :param table: a later version of the table, whose columns ``row`` has.
    """
    numbered = numbered_columns(plan, table)
    numbers: set[int] = set()
    for index in table.indexes:
        offset = next((offset for offset in index.offsets if offset in numbered), None)
        if index.unique and offset is not None:
            number = row_number(numbered[offset], _indexed(table, index, offset, row))
            if number is not None and number < plan.all_rows:
                numbers.add(number)
    return numbers


def _indexed(table: TableInfo, index: IndexInfo, offset: int, row: Sequence[Value]) -> Value:
    """Return the value of a row's column in an index."""
    value = row[offset]
    if value is None or not index.lengths:
        return value
    return prefix(table.columns[offset], value, index.lengths[index.offsets.index(offset)])


def row_number(column: ColumnPlan, value: Value) -> int | None:
    """Return the number of the only row that may have a value in its numbered key column; None: no row.

    :param value: canonical value, or the part of it that is indexed.
    """
    if value is None:
        return None
    data = value.encode() if isinstance(value, str) else value
    if is_string(column.column):
        digits = _digits(column.column, data)
        return int(digits) if digits and len(digits) <= _MOST_DIGITS else None
    try:
        number = ordinal_of(column.column, data) - column.low
    except ScenarioError:  # a date that does not exist
        return None
    return number if number >= 0 else None


def _digits(column: ColumnInfo, value: bytes) -> str | None:
    """Return the digits that equal a value under the column's collation; None if there are none."""
    if column.charset == "binary":
        text = value.rstrip(b"\0").decode("ascii", "replace")
        return text if text.isascii() and text.isdigit() else None
    digit_of = _weights(column.collation)
    size = len(next(iter(digit_of)))
    key = sort_key(value, column.collation)
    digits = [digit_of.get(key[at : at + size], "") for at in range(0, len(key), size)]
    return "".join(digits) if all(digits) else None


@lru_cache
def _weights(collation: str) -> dict[bytes, str]:
    """Return the digits by their sort keys."""
    return {sort_key(digit.encode(), collation): digit for digit in "0123456789"}
