"""The column flags that the Open Protocol encoder of TiCDC new architecture has cached.

It keeps the flags of a table's columns by name, under the table's physical id, from the first row on, and
sends them although the table has changed since. A DDL removes the entry of the table's own id. The ids of
partitions stay: after an ALTER their rows have the flags from before, and 0 for a column whose name is new.
EXCHANGE PARTITION removes the entry of the partitioned table: the flags of the other table stay with its id,
which is that of the partition now. Source: ticdc ``pkg/sink/codec/open/encoder.go`` (``columnFlagsCache``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import msgspec

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.column import written_flag
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import Change, RowImage


def with_cached_flags(catalog: Catalog, changes: Sequence[Change]) -> tuple[Catalog, list[Change]]:
    """Add table versions that differ only in their flags, and refer the rows that have such flags to them.

    An update that moves its row between partitions with different flags becomes a delete and an insert.

    :param changes: in the order of their commits.
    """
    flags, unsent, new_changes = _CachedFlags(catalog), _without_event(changes), list[Change]()
    for event in _in_order(catalog.ddls, changes):
        if isinstance(event, DDLJob):
            flags.forget(event)
            continue
        halves = [half for half in _halves(event) if _change_key(half) not in unsent]
        versions = [flags.version(half) for half in halves]
        if len(set(versions)) > 1:
            split = zip(halves, versions, strict=True)
            new_changes += [msgspec.structs.replace(half, table_version=number) for half, number in split]
        elif versions and versions[0] != event.table_version:
            new_changes.append(msgspec.structs.replace(event, table_version=versions[0]))
        else:
            new_changes.append(event)
    return replace(catalog, tables=tuple(flags.tables)), new_changes


class _CachedFlags:
    """The flags that TiCDC has cached at a point of a history.

    :ivar tables: the table versions, with those that differ only in their flags.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.tables = list(catalog.tables)
        self._catalog = catalog
        self._known: dict[int, Mapping[str, int]] = {}
        self._written: dict[int, Mapping[str, int]] = {}
        self._variants: dict[tuple[int, tuple[int, ...]], int] = {}

    def forget(self, job: DDLJob) -> None:
        """Remove the flags of the table of a DDL."""
        after, before = self._catalog.tables_of(job)
        if (table := after or before) is not None:
            self._known.pop(table.table_id, None)

    def version(self, change: Change) -> int:
        """Return the table version with the flags of a row, and cache them if there are none."""
        table = self._catalog.tables[change.table_version]
        current = self._written.get(table.version)
        if current is None:
            current = self._written[table.version] = _written(table)
        known = self._known.setdefault(change.table_id, current)
        flags = tuple(known.get(column.name, 0) for column in table.columns)
        if flags == tuple(current.values()):
            return table.version
        number = self._variants.setdefault((table.version, flags), len(self.tables))
        if number == len(self.tables):
            self.tables.append(replace(table, version=number, cached_flags=flags))
        return number


def _halves(change: Change) -> list[Change]:
    """Return a change; one that moves its row to another partition as a delete and an insert."""
    if change.old_row_key is None or change.old_table_id in (None, change.table_id):
        return [change]
    insert = msgspec.structs.replace(
        change, op=Op.INSERT, before=None, old_table_id=None, old_row_key=None, old_row_id=None
    )
    delete = msgspec.structs.replace(
        insert,
        op=Op.DELETE,
        table_id=change.old_table_id or 0,
        row_key=change.old_row_key,
        row_id=change.old_row_id or 0,
        before=change.before,
        after=None,
    )
    return [delete, insert]


_ChangeKey: TypeAlias = tuple[int, int, bytes]
"""Transaction, physical table id and row key."""


def _change_key(change: Change) -> _ChangeKey:
    return change.commit_seq, change.table_id, change.row_key


def _without_event(changes: Sequence[Change]) -> set[_ChangeKey]:
    """Return the keys at which a transaction leaves the row as it was, so that TiCDC receives no event."""
    first: dict[_ChangeKey, RowImage | None] = {}
    last: dict[_ChangeKey, RowImage | None] = {}
    for change in changes:
        for half in _halves(change):
            first.setdefault(_change_key(half), half.before)
            last[_change_key(half)] = half.after
    return {key for key, before in first.items() if before == last[key]}


def _written(table: TableInfo) -> dict[str, int]:
    flags = zip(table.columns, table.flags, strict=True)
    return {column.name: written_flag(column, flag, table.profile) for column, flag in flags}


def _in_order(ddls: Sequence[DDLJob], changes: Sequence[Change]) -> Iterator[DDLJob | Change]:
    """Yield the DDLs that are sent and the row changes, in the order of their commits."""
    pending = iter([ddl for ddl in ddls if ddl.sent])
    ddl = next(pending, None)
    for change in changes:
        while ddl is not None and ddl.commit_seq < change.commit_seq:
            yield ddl
            ddl = next(pending, None)
        yield change
