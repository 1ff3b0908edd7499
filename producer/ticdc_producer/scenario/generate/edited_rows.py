"""The rows of a generated table that SQL may have used behind its step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.arrays import Flags, Longs
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ROWS, ChangeSource
from ticdc_producer.scenario.generate.edits import SQLRows
from ticdc_producer.scenario.generate.events import RowFilter
from ticdc_producer.scenario.generate.plan import GeneratePlan


def rows_of_table(
    source: ChangeSource, plan: GeneratePlan, commits: int | None, *, of_sql: bool = True
) -> Iterator[pa.RecordBatch]:
    """All rows of a generated table (shape ``ROWS``), images of ``plan.table_after(commits)``.

    Those of SQL come first; the order is the same on every run.

    :param source: draws the rows; its filter of rows counts for generated rows alone.
    :param commits: the number of commits after which the rows are taken; None: after the last one.
    :param of_sql: whether to return the rows of SQL, too: they are not divided among several sources.
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
        wanted = source.rows(of)
        return lambda numbers: ~rows[numbers] if wanted is None else ~rows[numbers] & wanted(numbers)

    old, new = plan.step_table_after(commits), plan.table_after(commits)
    for batch in replace(source, rows=filter_of).existing_rows(plan, commits):
        yield in_version(batch, old, new)


def generated_rows(plan: GeneratePlan, numbers: Sequence[int], table: TableInfo) -> SQLRows:
    """Those generated rows with some numbers that exist after the step, of a table without expressions.

    :param table: a later version of the table, whose images are returned.
    """
    wanted = _flags(plan, numbers)
    source = ChangeSource(
        plans=[plan], expressions=no_expressions, rows=lambda _plan: lambda rows: wanted[rows]
    )
    drawn = plan.step_table_after(None)
    batches = [in_version(one, drawn, table) for one in source.existing_rows(plan)]
    found = pa.Table.from_batches(batches, ROWS)
    keys, images = (found.column(name).to_pylist() for name in ("row_key", "row"))
    return tuple(zip(keys, map(tuple, images), strict=True))


def in_version(rows: pa.RecordBatch, old: TableInfo, new: TableInfo) -> pa.RecordBatch:
    """Rows after DDLs that added, dropped and renamed columns: an added column has its origin default.

    :param rows: shape ``ROWS``, images of ``old``.
    :return: shape ``ROWS``, images of ``new``, in the same order.
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
    return pa.record_batch([rows.column("row_key"), images], schema=ROWS)


def _flags(plan: GeneratePlan, numbers: Sequence[int]) -> Flags:
    """For each row of the table whether its number is among some; memory is used for these alone."""
    found = np.zeros(plan.all_rows, bool)
    found[np.array(numbers, np.int64)] = True
    return found


def _batch(rows: SQLRows) -> pa.RecordBatch:
    columns = [pa.array([row[part] for row in rows], field.type) for part, field in enumerate(ROWS)]
    return pa.record_batch(columns, schema=ROWS)
