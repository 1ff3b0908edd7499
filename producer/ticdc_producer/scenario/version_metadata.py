"""What TiDB and TiCDC remember of the versions of a table, beyond their columns: ``UpdateTS``, and flags.

TiDB's ``UpdateTS`` is the schema version that rows of the Simple protocol carry. A DDL that changes a table
sets it to the TSO before its commit-ts. RENAME TABLE, TRUNCATE TABLE and EXCHANGE PARTITION do not change it.
Source: tidb ``pkg/ddl`` (``updateVersionAndTableInfo``).

TiCDC new architecture's Open Protocol encoder keeps the flags of a table's columns by name, under the table's
physical id, from the first row on, and sends them although the table has changed since. A DDL removes the
entry of the table's own id. The ids of partitions stay: after an ALTER their rows have the flags from before,
and 0 for a column whose name is new. Source: ticdc ``columnFlagsCache``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ticdc_producer.model.catalog import DISCARDED, Action, Catalog, DDLJob
from ticdc_producer.model.column import written_flag
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.history import Change

_EXCHANGE = Action.EXCHANGE_TABLE_PARTITION
_UNCHANGED_BY = frozenset({
    Action.RENAME_TABLE, Action.RENAME_TABLES, Action.TRUNCATE_TABLE, Action.TRUNCATE_TABLE_PARTITION,
    _EXCHANGE,
})  # fmt: skip


def with_update_ts(catalog: Catalog, clock: CommitClock, profile: Profile) -> Catalog:
    """Set ``update_ts`` of each version of each table; 0 for a version that no DDL made."""
    jobs, tables = catalog.creating_jobs(), list[TableInfo]()
    own: list[int] = []  # TiDB's time stamp, by version
    visible: dict[tuple[str, str], int] = {}  # by name, the last time stamp that TiCDC knows
    of_name: dict[tuple[str, str], int] = {}
    for number, table in enumerate(catalog.tables):
        job, name = jobs.get(number), (table.schema, table.name)
        if job is None:
            own.append(0)
        elif job.job_type not in _UNCHANGED_BY:
            own.append(clock.ts(job.commit_seq) - 1)
        elif job.job_type == _EXCHANGE:
            own.append(of_name.get(_name_after_exchange(catalog, job, table, profile), 0))
        else:
            own.append(own[job.version_before])
        of_name[name] = own[number]
        if job is None or job.job_type not in DISCARDED:  # TiCDC does not receive discarded DDLs
            visible[name] = own[number]
        tables.append(replace(table, update_ts=visible.get(name, 0)))
    return replace(catalog, tables=tuple(tables))


def _name_after_exchange(
    catalog: Catalog, job: DDLJob, table: TableInfo, profile: Profile
) -> tuple[str, str]:
    """The table whose time stamp a table has after EXCHANGE PARTITION.

    In TiCDC new architecture both tables have that of the partitioned table.
    """
    source = catalog.tables[job.version_after] if profile == "new" else table
    return source.schema, source.name


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
