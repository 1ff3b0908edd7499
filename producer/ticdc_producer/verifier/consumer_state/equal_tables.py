"""Finds the tables whose rows have the sums that the golden folder expects, without its rows.

Equal sums are equal rows. Other sums decide nothing: values that a protocol does not distinguish, and
documents with other spaces, are equal as well. Such a table is compared row by row.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.model.table import max_image_bytes
from ticdc_producer.verifier.consumer_state.plan import StateSource, TablePlan
from ticdc_producer.verifier.consumer_state.row_sums import RowSums, row_sums, total
from ticdc_producer.verifier.consumer_state.typed_columns import typed_values


def has_expected_sums(source: StateSource, plan: TablePlan, engine: Engine) -> bool:
    """Return whether the rows of a table have the expected sums; False also if this cannot be decided.

    :param engine: computes the sums of a source that does not need Spark.
    """
    if plan.table.sums is None or not plan.compares_whole_rows:
        return False
    try:
        rows = source.dataset(engine, plan)
        return rows is not None and actual_sums(rows, plan) == plan.table.sums
    except Exception:  # each library has exceptions of its own; the comparison row by row reports them
        return False


def actual_sums(rows: Dataset, plan: TablePlan) -> RowSums | None:
    """Return the sums of a consumer's rows; None if a value has no typed form.

    :param rows: with the columns ``plan.actual_columns``, in any order, and maybe others.
    """
    of_parts = rows.results(partial(_sums_of_part, plan), row_bytes=max_image_bytes(plan.table.columns))
    sums = [of_part for of_part in of_parts if of_part is not None]
    return total(sums) if len(sums) == len(of_parts) else None


def _sums_of_part(plan: TablePlan, _part: Part, batches: Batches) -> RowSums | None:
    try:
        return total(_sums_of_batch(plan, batch) for batch in batches)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a value that its column's type does not have
        return None


def _sums_of_batch(plan: TablePlan, batch: pa.RecordBatch) -> RowSums:
    columns = [
        typed_values(column, batch.column(plan.names[column.name]), plan.zone)
        for column in plan.table.columns
    ]
    return row_sums(columns, batch.num_rows)
