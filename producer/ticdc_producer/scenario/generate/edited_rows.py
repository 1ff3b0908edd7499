"""The rows of a generated table that SQL may have used after its step, and those that it finds by key.

One column of each unique key holds the number of the row, as long as keys do not change (``cells``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import Value
from ticdc_producer.model.row_key import prefix
from ticdc_producer.model.shapes import IMAGE, TABLE_ROWS, TableRowsBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import sort_key
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.scenario.generate.domain import is_string, ordinal_of
from ticdc_producer.scenario.generate.edits import SQLRows
from ticdc_producer.scenario.generate.events import RowFilter
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan


def rows_of_table(
    source: ChangeSource, plan: GeneratePlan, commits: int | None, *, of_sql: bool = True
) -> Iterator[TableRowsBatch]:
    """Yield all rows of a generated table (shape ``TABLE_ROWS``), images of ``plan.table_after(commits)``.

    The rows of SQL come first; the order is the same on every run.

    :param source: draws the rows; its filter of rows applies to generated rows only.
    :param commits: the number of commits after which the rows are taken; None: after the last commit.
    :param of_sql: whether to return the rows of SQL as well: they are not divided among several sources.
    """
    edits = plan.edits
    if edits is None:
        yield from source.existing_rows(plan, commits)
        return
    if of_sql:
        yield _batch(edits.rows_after(commits))
    if edits.is_truncated(commits):
        return
    rows = _flags(plan, edits.looked_up_before(commits))

    def filter_of(of: GeneratePlan) -> RowFilter:
        row_filter = source.rows(of)
        if row_filter is None:
            return lambda numbers: ~rows[numbers]
        return lambda numbers: ~rows[numbers] & row_filter(numbers)

    old, new = plan.step_table_after(commits), plan.table_after(commits)
    for batch in replace(source, rows=filter_of).existing_rows(plan, commits):
        yield in_version(batch, old, new)


def generated_rows(plan: GeneratePlan, numbers: Sequence[int], table: TableInfo) -> SQLRows:
    """Return the generated rows with the given numbers, if they exist after the step.

    The table has no expressions.

    :param table: a later version of the table, whose images are returned.
    """
    requested = _flags(plan, numbers)
    source = ChangeSource(
        plans=[plan], expressions=no_expressions, rows=lambda _plan: lambda rows: requested[rows]
    )
    generated = plan.step_table_after(None)
    batches = [in_version(batch, generated, table) for batch in source.existing_rows(plan)]
    rows = pa.Table.from_batches(batches, TABLE_ROWS)
    keys, images = (rows.column(name).to_pylist() for name in ("row_key", "row"))
    return tuple(zip(keys, map(tuple, images), strict=True))


def in_version(rows: TableRowsBatch, old: TableInfo, new: TableInfo) -> TableRowsBatch:
    """Convert rows to a table version after DDLs that added, dropped and renamed columns.

    An added column has its origin default.

    >>> from ticdc_producer.model.mysql_type import MySQLType
    >>> definition = {"type": MySQLType.LONG, "origin_default": b"7"}
    >>> a, b, c = (ColumnInfo(name=name, id=number, **definition) for number, name in enumerate("abc"))
    >>> old = TableInfo(schema="s", name="t", table_id=1, columns=(a, b))
    >>> rows = pa.record_batch({"row_key": [b"k1", b"k2"], "row": [[b"1", b"2"], [b"3", b"4"]]})
    >>> in_version(rows, old, replace(old, version=1, columns=(b, c))).column("row").to_pylist()
    [[b'2', b'7'], [b'4', b'7']]

    :param rows: shape ``TABLE_ROWS``, images of ``old``.
    :return: shape ``TABLE_ROWS``, images of ``new``, in the same order.
    """
    if old.version == new.version:
        return rows
    count, width = rows.num_rows, len(old.sent_columns)
    index_of = {column.id: index for index, column in enumerate(old.sent_columns)}
    defaults = pa.array([column.origin_default for column in new.sent_columns], pa.binary())
    sources: Longs = np.empty((count, len(new.sent_columns)), np.int64)
    for number, column in enumerate(new.sent_columns):
        if column.id in index_of:
            sources[:, number] = np.arange(count) * width + index_of[column.id]
        else:
            sources[:, number] = count * width + number
    values = pa.concat_arrays([rows.column("row").flatten(), defaults]).take(pa.array(sources.ravel()))
    offsets = pa.array(np.arange(count + 1) * len(defaults), pa.int32())
    images = pa.ListArray.from_arrays(offsets, values, type=IMAGE)
    converted: TableRowsBatch = pa.record_batch([rows.column("row_key"), images], schema=TABLE_ROWS)
    return converted


def _flags(plan: GeneratePlan, numbers: Sequence[int]) -> Flags:
    """Return whether each row of the table has one of the numbers."""
    flags = np.zeros(plan.all_rows, bool)
    flags[np.array(numbers, np.int64)] = True
    return flags


def _batch(rows: SQLRows) -> TableRowsBatch:
    columns = [pa.array([row[part] for row in rows], field.type) for part, field in enumerate(TABLE_ROWS)]
    batch: TableRowsBatch = pa.record_batch(columns, schema=TABLE_ROWS)
    return batch


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
