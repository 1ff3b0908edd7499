"""Column flags that TiCDC new architecture remembers, and sends although the table has changed since.

Its Open Protocol encoder keeps the flags of a table by column name, under the table's physical id, from the
first row on. A DDL removes the entry of the table's own id. The ids of partitions stay: after an ALTER their
rows have the flags from before, and 0 for a column whose name is new. Source: ticdc ``columnFlagsCache``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.column import written_flag
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import Change


def with_cached_flags(catalog: Catalog, changes: Sequence[Change]) -> tuple[Catalog, list[Change]]:
    """Add table versions that differ in their flags alone, and refer the rows to them that have such flags.

    :param changes: in the order of their commits.
    """
    tables, found = list(catalog.tables), list[Change]()
    cache: dict[int, Mapping[str, int]] = {}
    variants: dict[tuple[int, tuple[int, ...]], int] = {}
    for event in _in_order(catalog.ddls, changes):
        if isinstance(event, DDLJob):
            after, before = catalog.tables_of(event)
            for table in filter(None, (after, before)):
                cache.pop(table.table_id, None)
            continue
        table = catalog.tables[event.table_version]
        current = _written(table)
        known = cache.setdefault(event.table_id, current)
        flags = tuple(known.get(column.name, 0) for column in table.columns)
        if flags != tuple(current.values()):
            variant = variants.setdefault((table.version, flags), len(tables))
            if variant == len(tables):
                tables.append(replace(table, version=variant, cached_flags=flags))
            event = replace(event, table_version=variant)
        found.append(event)
    return replace(catalog, tables=tuple(tables)), found


def _written(table: TableInfo) -> dict[str, int]:
    flags = zip(table.columns, table.flags, strict=True)
    return {column.name: written_flag(column, flag, table.profile) for column, flag in flags}


def _in_order(ddls: Sequence[DDLJob], changes: Sequence[Change]) -> Iterator[DDLJob | Change]:
    """The DDLs that are sent and the row changes, by their commits."""
    pending = iter([ddl for ddl in ddls if ddl.sent])
    ddl = next(pending, None)
    for change in changes:
        while ddl is not None and ddl.commit_seq < change.commit_seq:
            yield ddl
            ddl = next(pending, None)
        yield change
