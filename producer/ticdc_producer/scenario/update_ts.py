"""TiDB's ``UpdateTS`` of each version of a table, which rows of the Simple protocol carry as schema version.

A DDL that changes a table sets it to the TSO before its commit-ts. RENAME TABLE, TRUNCATE TABLE and EXCHANGE
PARTITION do not change it. Source: tidb ``pkg/ddl`` (``updateVersionAndTableInfo``).
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.catalog import DISCARDED, Action, Catalog, DDLJob
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock

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
