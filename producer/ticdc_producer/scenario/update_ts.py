"""When TiDB last changed each version of a table: the number by which Simple's rows name it.

Of a DDL that changes a table it is the TSO before its commit-ts. Renaming and emptying a table, or
exchanging a partition, leave it as it was. Source: tidb ``pkg/ddl`` (``updateVersionAndTableInfo``).
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.clock import Clock
from ticdc_producer.model.ddl_action import DISCARDED, Action
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo

_EXCHANGE = Action.EXCHANGE_TABLE_PARTITION
_KEEP = frozenset({
    Action.RENAME_TABLE, Action.RENAME_TABLES, Action.TRUNCATE_TABLE, Action.TRUNCATE_TABLE_PARTITION,
    _EXCHANGE,
})  # fmt: skip


def with_update_ts(catalog: Catalog, clock: Clock, profile: Profile) -> Catalog:
    """The catalog, each version of each table with its ``update_ts``; 0 where no DDL made it."""
    jobs, tables = catalog.makers(), list[TableInfo]()
    own: list[int] = []  # TiDB's, of every version
    told: dict[tuple[str, str], int] = {}  # by name, what TiCDC knows
    of_name: dict[tuple[str, str], int] = {}
    for number, table in enumerate(catalog.tables):
        job, name = jobs.get(number), (table.schema, table.name)
        if job is None:
            own.append(0)
        elif job.job_type not in _KEEP:
            own.append(clock.ts(job.commit_seq) - 1)
        elif job.job_type == _EXCHANGE:
            own.append(of_name.get(_kept_name(catalog, job, table, profile), 0))
        else:
            own.append(own[job.version_before])
        of_name[name] = own[number]
        if job is None or job.job_type not in DISCARDED:  # of others TiCDC does not hear
            told[name] = own[number]
        tables.append(replace(table, update_ts=told.get(name, 0)))
    return replace(catalog, tables=tuple(tables))


def _kept_name(catalog: Catalog, job: DDLJob, table: TableInfo, profile: Profile) -> tuple[str, str]:
    """Whose time stamp a table has after EXCHANGE PARTITION.

    To the new program both tables have that of the partitioned one.
    """
    shown = catalog.tables[job.version_after] if profile == "new" else table
    return shown.schema, shown.name
