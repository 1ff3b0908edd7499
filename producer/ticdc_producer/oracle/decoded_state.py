"""The rows of a scenario's tables as a reader of the messages decodes them (shape ``STATE``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.model.shapes import STATE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.decoded_images import project_values
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.state import sql_tables


def decoded_sql_state(job: Job, left_out: Collection[str], ts: int | None) -> pa.Table:
    """Return the rows of the tables that SQL filled as a reader decodes them, and a marker per table.

    :param left_out: ``schema.table`` of tables that are not compared.
    :param ts: the time (TSO); None: the end.
    :return: ``shapes.STATE``.
    """
    fidelity = job.encoder.fidelity
    records: list[dict[str, Any]] = []
    for table, rows in sql_tables(job, ts):
        if table.handle_index is None or table.qualified_name in left_out:
            continue
        columns = [
            (fidelity.visible_name(column.name), fidelity.full_projection(column))
            for column in table.sent_columns
        ]
        names = dict(zip(("schema", "table"), visible_table(job, table), strict=True))
        records.append({**names, "row": None})
        records += [
            {
                **names,
                "row": [(name, project(value)) for (name, project), value in zip(columns, row, strict=True)],
            }
            for row in rows
        ]
    return pa.Table.from_pylist(records, STATE)


def visible_table(job: Job, table: TableInfo) -> tuple[str, str]:
    """Return schema and name of a table as the messages have them."""
    visible = job.encoder.fidelity.visible_name
    return visible(table.schema), visible(table.name)


def decoded_rows(job: Job, table: TableInfo, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows as a reader of the messages decodes them (``shapes.STATE``).

    Replaced bytes of invalid text need no handling: generated text is valid UTF-8.

    :param table: with the columns of ``rows``.
    :param rows: shape ``ROWS``.
    """
    fidelity, count = job.encoder.fidelity, rows.num_rows
    images = rows.column("row")
    staged = pa.record_batch(
        {
            "table_version": pa.array(np.full(count, table.version, np.int32)),
            "before": pa.nulls(count, images.type),
            "after": images,
        }
    )
    images = project_values(staged, job.catalog.tables, fidelity).column("after")
    names = pa.array([fidelity.visible_name(column.name) for column in table.sent_columns], pa.string())
    keys = names.take(pa.array(np.tile(np.arange(len(names)), count)))
    offsets = pa.array(np.arange(count + 1) * len(names), pa.int32())
    columns = [
        *(pa.repeat(name, count) for name in visible_table(job, table)),
        pa.MapArray.from_arrays(offsets, keys, images.flatten()),
    ]
    return pa.record_batch(columns, schema=STATE)


def decoded_batches(
    job: Job, table: TableInfo, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table as a reader decodes them, see :func:`decoded_rows`."""
    return (decoded_rows(job, table, batch) for batch in batches)
