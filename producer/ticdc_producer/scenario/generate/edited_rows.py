"""The rows of a generated table that SQL may have used after its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ticdc_producer.model.shapes import IMAGE, TABLE_ROWS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.arrays import Flags, Longs
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.scenario.generate.edits import SQLRows
from ticdc_producer.scenario.generate.events import RowFilter
from ticdc_producer.scenario.generate.plan import GeneratePlan


def rows_of_table(
    source: ChangeSource, plan: GeneratePlan, commits: int | None, *, of_sql: bool = True
) -> Iterator[pa.RecordBatch]:
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


def in_version(rows: pa.RecordBatch, old: TableInfo, new: TableInfo) -> pa.RecordBatch:
    """Convert rows to a table version after DDLs that added, dropped and renamed columns.

    An added column has its origin default.

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
    return pa.record_batch([rows.column("row_key"), images], schema=TABLE_ROWS)


def _flags(plan: GeneratePlan, numbers: Sequence[int]) -> Flags:
    """Return whether each row of the table has one of the numbers."""
    flags = np.zeros(plan.all_rows, bool)
    flags[np.array(numbers, np.int64)] = True
    return flags


def _batch(rows: SQLRows) -> pa.RecordBatch:
    columns = [pa.array([row[part] for row in rows], field.type) for part, field in enumerate(TABLE_ROWS)]
    return pa.record_batch(columns, schema=TABLE_ROWS)
