"""Which DDL of one table lies between two of its versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.table import TableInfo


def is_truncated(old: TableInfo, new: TableInfo) -> bool:
    """Whether TRUNCATE TABLE gave the table a new id, and changed nothing else."""
    return old.table_id != new.table_id and replace(old, table_id=new.table_id, version=new.version) == new


def only_columns_changed(old: TableInfo, new: TableInfo) -> bool:
    """Whether columns were added, dropped and renamed, and nothing else changed.

    With a column also the index of this column alone is dropped.
    """
    named = {column.id: column for column in new.columns}
    remaining = [replace(one, name=named[one.id].name) for one in old.columns if one.id in named]
    known = {column.id for column in old.columns}
    indexes = [index for index, ids in _indexes(old) if any(one in named for one in ids)]
    changed = replace(
        old,
        columns=new.columns,
        indexes=new.indexes,
        last_column_id=new.last_column_id,
        version=new.version,
    )
    return (
        changed == new
        and remaining == [column for column in new.columns if column.id in known]
        and indexes == [index for index, _ in _indexes(new)]
    )


def _indexes(table: TableInfo) -> Iterator[tuple[IndexInfo, tuple[int, ...]]]:
    """The indexes with ids instead of offsets of columns, and these ids."""
    for index in table.indexes:
        ids = tuple(table.columns[offset].id for offset in index.offsets)
        yield replace(index, offsets=ids), ids
