"""The catalog: every version of every table, the DDLs that created them, and TiDB's codes of DDLs.

Source: tidb ``pkg/meta/model/job.go`` (``ActionType``), tiflow ``pkg/filter/filter.go``
(``ddlWhiteListMap``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ticdc_producer.model.event import ColumnDefinition, DDLEvent
from ticdc_producer.model.table import TableInfo


class Action(IntEnum):
    """Action code of a DDL job; only the actions that this tool can execute."""

    CREATE_SCHEMA = 1
    DROP_SCHEMA = 2
    CREATE_TABLE = 3
    DROP_TABLE = 4
    ADD_COLUMN = 5
    DROP_COLUMN = 6
    ADD_INDEX = 7
    DROP_INDEX = 8
    ADD_FOREIGN_KEY = 9
    DROP_FOREIGN_KEY = 10
    TRUNCATE_TABLE = 11
    MODIFY_COLUMN = 12
    REBASE_AUTO_ID = 13
    RENAME_TABLE = 14
    SET_DEFAULT_VALUE = 15
    SHARD_ROW_ID = 16
    MODIFY_TABLE_COMMENT = 17
    RENAME_INDEX = 18
    ADD_TABLE_PARTITION = 19
    DROP_TABLE_PARTITION = 20
    CREATE_VIEW = 21
    MODIFY_TABLE_CHARSET = 22
    TRUNCATE_TABLE_PARTITION = 23
    DROP_VIEW = 24
    MODIFY_SCHEMA_CHARSET = 26
    SET_TIFLASH_REPLICA = 30
    ADD_PRIMARY_KEY = 32
    DROP_PRIMARY_KEY = 33
    CREATE_SEQUENCE = 34
    ALTER_SEQUENCE = 35
    DROP_SEQUENCE = 36
    MODIFY_AUTO_ID_CACHE = 39
    REBASE_AUTO_RANDOM = 40
    ALTER_INDEX_VISIBILITY = 41
    EXCHANGE_TABLE_PARTITION = 42
    ADD_CHECK_CONSTRAINT = 43
    DROP_CHECK_CONSTRAINT = 44
    ALTER_CHECK_CONSTRAINT = 45
    RENAME_TABLES = 47
    ALTER_TABLE_ATTRIBUTES = 49
    CREATE_PLACEMENT_POLICY = 51
    ALTER_PLACEMENT_POLICY = 52
    DROP_PLACEMENT_POLICY = 53
    MODIFY_SCHEMA_PLACEMENT = 55
    ALTER_TABLE_PLACEMENT = 56
    ALTER_CACHE_TABLE = 57
    ALTER_TABLE_STATS_OPTIONS = 58
    ALTER_NO_CACHE_TABLE = 59
    MULTI_SCHEMA_CHANGE = 61
    REORGANIZE_PARTITION = 64
    ALTER_TTL = 65
    REMOVE_TTL = 67
    ALTER_TABLE_PARTITIONING = 71
    REMOVE_PARTITIONING = 72


A = Action

DISCARDED = frozenset({
    A.SHARD_ROW_ID, A.SET_TIFLASH_REPLICA, A.CREATE_SEQUENCE, A.ALTER_SEQUENCE, A.DROP_SEQUENCE,
    A.MODIFY_AUTO_ID_CACHE, A.REBASE_AUTO_RANDOM, A.ADD_CHECK_CONSTRAINT, A.DROP_CHECK_CONSTRAINT,
    A.ALTER_CHECK_CONSTRAINT, A.ALTER_TABLE_ATTRIBUTES, A.CREATE_PLACEMENT_POLICY,
    A.ALTER_PLACEMENT_POLICY, A.DROP_PLACEMENT_POLICY, A.MODIFY_SCHEMA_PLACEMENT,
    A.ALTER_TABLE_PLACEMENT, A.ALTER_CACHE_TABLE, A.ALTER_TABLE_STATS_OPTIONS, A.ALTER_NO_CACHE_TABLE,
})  # fmt: skip
"""Jobs that never reach TiCDC's sink."""

CHANGES_ROWS = frozenset({
    A.ADD_COLUMN, A.DROP_COLUMN, A.MODIFY_COLUMN, A.RENAME_TABLE, A.RENAME_TABLES,
    A.MULTI_SCHEMA_CHANGE, A.TRUNCATE_TABLE_PARTITION, A.DROP_TABLE_PARTITION,
    A.EXCHANGE_TABLE_PARTITION,
})  # fmt: skip
"""Jobs that change the rows, name or columns of a table without row events."""

CLEARS_TABLES = frozenset({A.DROP_SCHEMA, A.DROP_TABLE, A.TRUNCATE_TABLE})
"""Jobs that remove all rows of tables without row events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DDLJob:
    """One DDL event of the history. DDL jobs are few and held on the driver.

    :param commit_seq: number of the job among transactions and jobs, from 0.
    :param ddl_seq: position among the DDL events of one job, from 0.
    :param query: the text that is sent.
    :param job_type: TiDB's action code of the job.
    :param ddl_type: TiDB's action code of the event.
    :param schema: database after the DDL.
    :param table: table after the DDL; empty for a DDL on a database.
    :param old_schema: database before the DDL; empty if there was none.
    :param old_table: table before the DDL; empty if there was none.
    :param version_before: index of the catalog entry before the DDL; -1 if there was none.
    :param version_after: index of the catalog entry after the DDL; -1 if there is none.
    :param sent: whether TiCDC passes the event to its sink.
    :param reason: why the event is not sent; empty if it is.
    :param line: line in the scenario file, for messages to the user.
    :param definitions: the columns that the statement defines.
    :param as_sent: whether ``query`` is a text that TiCDC has sent, so that nothing in it is rewritten.
    :param upstream: database and table in TiDB before the DDL and after it, if they have other names in
        messages.
    """

    commit_seq: int
    ddl_seq: int = 0
    query: str
    job_type: int
    ddl_type: int
    schema: str
    table: str = ""
    old_schema: str = ""
    old_table: str = ""
    version_before: int = -1
    version_after: int = -1
    sent: bool = True
    reason: str = ""
    line: int = 0
    definitions: tuple[ColumnDefinition, ...] = ()
    as_sent: bool = False
    upstream: tuple[str, str, str, str] | None = None

    @property
    def upstream_names(self) -> tuple[str, str, str, str]:
        """Database and table in TiDB before the DDL, and after it."""
        return self.upstream or (self.old_schema, self.old_table, self.schema, self.table)

    def event(self, commit_ts: int) -> DDLEvent:
        """Return the DDL event with this commit-ts."""
        return DDLEvent(
            commit_ts=commit_ts,
            schema=self.schema,
            table=self.table,
            query=self.query,
            ddl_type=self.ddl_type,
            definitions=self.definitions,
        )


@dataclass(frozen=True, slots=True)
class Catalog:
    """All versions of all tables, by version number, and the DDL jobs in order."""

    tables: tuple[TableInfo, ...]
    ddls: tuple[DDLJob, ...] = ()

    def tables_of(self, job: DDLJob) -> tuple[TableInfo | None, TableInfo | None]:
        """Return the table after a DDL and before it."""
        after = None if job.version_after < 0 else self.tables[job.version_after]
        before = None if job.version_before < 0 else self.tables[job.version_before]
        return after, before

    def creating_jobs(self) -> dict[int, DDLJob]:
        """Map each table version to the job that created it.

        A job that changes several tables names only the first.
        """
        named = {job.version_after: job for job in self.ddls if job.version_after >= 0}
        jobs: dict[int, DDLJob] = {}
        for number in range(len(self.tables)):
            job = named.get(number, jobs.get(number - 1))
            if job is not None:
                jobs[number] = job
        return jobs
