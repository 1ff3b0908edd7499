"""Stage: remove the columns that no column selector selects; TiCDC does it before dispatch."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from ticdc_producer.dispatch.column_selection import ColumnSelection
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.row_images import numbers, selected_from


def select(
    changes: pa.RecordBatch, tables: Iterable[TableInfo], selection: ColumnSelection
) -> pa.RecordBatch:
    """Reduce ``before`` and ``after`` to the selected columns.

    :param tables: the versions that are replicated, with all their columns.
    """
    selected = reduced_tables(tables, selection)
    if not selected:
        return changes
    versions = numbers(changes.column("table_version"))
    for name in ("before", "after"):
        index = changes.schema.get_field_index(name)
        images = selected_from(changes.column(index), selected, versions)
        changes = changes.set_column(index, changes.schema.field(index), images)
    return changes


def reduced_tables(tables: Iterable[TableInfo], selection: ColumnSelection) -> dict[int, list[int]]:
    """Image indexes of the selected columns, by version of the tables that lose columns."""
    found = {table.version: selected_columns(table, selection) for table in tables}
    return {version: columns for version, columns in found.items() if columns is not None}


def selected_columns(table: TableInfo, selection: ColumnSelection) -> list[int] | None:
    """Image indexes of the selected columns; None if all are selected."""
    sent = selection.of(table).sent
    return None if sent == table.sent else [table.sent.index(offset) for offset in sent]
