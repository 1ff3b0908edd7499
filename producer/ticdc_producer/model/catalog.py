"""The catalog: every version of every table, and the DDLs that made them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class DDLJob:
    """One DDL event of the history. DDL jobs are few and held on the driver.

    :param commit_seq: number of the job among transactions and jobs, from 0.
    :param ddl_seq: position among the DDL events of one job, from 0.
    :param query: the text that is sent.
    :param printed: the text as TiDB prints it, for a codec that reads it; empty if ``query`` is that text.
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
    printed: str = ""

    def event(self, commit_ts: int) -> DDLEvent:
        """The DDL event with this commit-ts."""
        return DDLEvent(
            commit_ts=commit_ts,
            schema=self.schema,
            table=self.table,
            query=self.query,
            ddl_type=self.ddl_type,
            printed=self.printed,
        )


@dataclass(frozen=True, slots=True)
class Catalog:
    """All versions of all tables, by version number, and the DDL jobs in order."""

    tables: tuple[TableInfo, ...]
    ddls: tuple[DDLJob, ...] = ()

    def tables_of(self, job: DDLJob) -> tuple[TableInfo | None, TableInfo | None]:
        """The table after a DDL and before it."""
        after = None if job.version_after < 0 else self.tables[job.version_after]
        before = None if job.version_before < 0 else self.tables[job.version_before]
        return after, before

    def creating_jobs(self) -> dict[int, DDLJob]:
        """Table version to the job that made it. A job that changes several tables names only the first."""
        named = {job.version_after: job for job in self.ddls if job.version_after >= 0}
        found: dict[int, DDLJob] = {}
        for number in range(len(self.tables)):
            job = named.get(number, found.get(number - 1))
            if job is not None:
                found[number] = job
        return found

    def with_profile(self, profile: Profile) -> Catalog:
        """The catalog with this profile set in all tables."""
        return replace(self, tables=tuple(replace(table, profile=profile) for table in self.tables))
