"""The catalog: every version of every table, and the DDLs that made them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DDLJob:
    """One DDL of the history. Few; they live on the driver.

    :param commit_seq: number of the job among transactions and jobs, from 0.
    :param ddl_seq: place among several DDL events of one job.
    :param query: the text that is sent.
    :param job_type: TiDB's action code of the job; ``ddl_type`` the one of the event.
    :param schema: database after the DDL; ``table`` is empty for DDL of a database.
    :param old_schema: database before the DDL, empty where there was none; ``old_table`` likewise.
    :param version_before: catalog entry before, -1 where there was none; ``version_after`` likewise.
    :param sent: whether TiCDC hands it to its sink; ``reason`` says why not.
    :param file: scenario file and ``line`` in it, for messages to the user.
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

    def event(self, commit_ts: int) -> DDLEvent:
        """The event of the DDL."""
        return DDLEvent(
            commit_ts=commit_ts,
            schema=self.schema,
            table=self.table,
            query=self.query,
            ddl_type=self.ddl_type,
        )


@dataclass(frozen=True, slots=True)
class Catalog:
    """All versions of all tables by number, and the DDL jobs in order."""

    tables: tuple[TableInfo, ...]
    ddls: tuple[DDLJob, ...] = ()

    def tables_of(self, job: DDLJob) -> tuple[TableInfo | None, TableInfo | None]:
        """The table of a DDL as it leaves it and as it found it."""
        after = None if job.version_after < 0 else self.tables[job.version_after]
        before = None if job.version_before < 0 else self.tables[job.version_before]
        return after, before

    def makers(self) -> dict[int, DDLJob]:
        """The job that made each version; one that changes several tables names the first of them."""
        named = {job.version_after: job for job in self.ddls if job.version_after >= 0}
        found: dict[int, DDLJob] = {}
        for number in range(len(self.tables)):
            job = named.get(number, found.get(number - 1))
            if job is not None:
                found[number] = job
        return found

    def seen_by(self, profile: Profile) -> Catalog:
        """The catalog with its tables as a program sees them."""
        return replace(self, tables=tuple(replace(table, profile=profile) for table in self.tables))
