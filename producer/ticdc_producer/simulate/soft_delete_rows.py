"""The rows of tables with soft deletes that a consumer has in the end: those that are not deleted softly.

This holds if only DELETE marked rows, and the cleanup of TiDB removed marked ones. TiCDC drops real deletes,
and sends an insert or an update of a marked row as it is; after such a change the rows are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.config import Changefeed
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.soft_deletes import soft_delete_tables
from ticdc_producer.scenario.history import Change, History, RowImage


def downstream_rows(
    table: TableInfo, rows: Iterable[RowImage], changefeed: Changefeed
) -> tuple[RowImage, ...]:
    """Return the rows that a consumer has, of the rows of a table upstream."""
    index = _index(table)
    if index is None or changefeed.profile != "new" or changefeed.enable_active_active:
        return tuple(rows)
    return tuple(row for row in rows if row[index] is None)


def uncomparable_soft_deletes(history: History, changefeed: Changefeed) -> set[str]:
    """Return ``schema.table`` of the tables whose rows do not follow from the events that TiCDC sends."""
    tables = {table.version: table for table in soft_delete_tables(history.catalog.tables, changefeed)}
    if not tables:
        return set()
    if history.generated or history.data:
        return {table.qualified_name for table in tables.values()}
    return {
        tables[version].qualified_name
        for version, before, after in _net_changes(history.changes, tables)
        if _is_lost(before, after, tables[version], active_active=changefeed.enable_active_active)
    }


def _net_changes(
    changes: Iterable[Change], versions: Iterable[int]
) -> Iterable[tuple[int, RowImage | None, RowImage | None]]:
    """Return, for each transaction and row, its table version and its images before and after."""
    net: dict[tuple[int, int, bytes], tuple[int, RowImage | None, RowImage | None]] = {}
    for change in changes:
        if change.table_version not in versions:
            continue
        if change.old_row_key is not None and change.old_table_id is not None:
            old = change.commit_seq, change.old_table_id, change.old_row_key
            first = net.get(old, (change.table_version, change.before, None))
            net[old] = (change.table_version, first[1], None)
        key = change.commit_seq, change.table_id, change.row_key
        before = None if change.old_row_key is not None else change.before
        first = net.get(key, (change.table_version, before, None))
        net[key] = (change.table_version, first[1], change.after)
    return net.values()


def _is_lost(
    before: RowImage | None, after: RowImage | None, table: TableInfo, *, active_active: bool
) -> bool:
    """Return whether TiCDC sends no event, or another one, for what happened to a row."""
    if before is None and after is None:
        return False
    index = _index(table)
    marked = [None if image is None or index is None else image[index] for image in (before, after)]
    if after is None:
        return active_active or marked[0] is None
    if before is not None and _key(before, table) != _key(after, table):
        return True
    if active_active:
        return False
    return marked[1] is not None and (before is None or marked[0] is not None)


def _key(image: RowImage, table: TableInfo) -> list[Value]:
    offsets = table.primary_key.offsets if table.primary_key else ()
    indexes = [table.image_index(offset) for offset in offsets]
    return [image[index] for index in indexes if index is not None]


def _index(table: TableInfo) -> int | None:
    offset = table.soft_delete_offset
    return None if offset is None else table.image_index(offset)
