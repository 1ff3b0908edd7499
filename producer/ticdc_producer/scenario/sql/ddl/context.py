"""What a DDL works on, and how its job is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import DDLJob
from ticdc_producer.model.ddl_action import DISCARDED, Action
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.cluster import Cluster
from ticdc_producer.scenario.sql.cursor import Cursor

NO_HANDLE_KEY = "no primary key or not-null unique key"
NOT_REPLICATED = "TiCDC does not replicate DDL of this kind"


@dataclass(slots=True)
class DDLContext:
    """What a DDL works on.

    :param database: the current one.
    :param record: takes the events of a finished job; numbers them.
    """

    cluster: Cluster
    mode: SQLMode
    database: str
    force_replicate: bool
    record: Callable[[list[DDLJob]], None]

    def job(
        self,
        cursor: Cursor,
        action: Action,
        *,
        before: TableInfo | None = None,
        after: TableInfo | None = None,
        schema: str = "",
        table: str = "",
        query: str = "",
    ) -> None:
        """Give the job its id and hand it on.

        :param schema: and ``table``: names, where there is no ``TableInfo``.
        :param query: where TiDB rebuilds the statement; else the user's text.
        :raises ScenarioError: for a job that would stop the changefeed.
        """
        self.cluster.ids.take()
        event = self.event(cursor, action, action, before, after, query=query)
        self.record([event if event.schema else replace(event, schema=schema, table=table)])

    def event(
        self,
        cursor: Cursor,
        job_type: Action,
        ddl_type: Action,
        before: TableInfo | None,
        after: TableInfo | None,
        *,
        query: str = "",
        place: int = 0,
    ) -> DDLJob:
        """One event of a job.

        :param place: its place among the events of the job.
        """
        shown = after or before
        reason = self._reason(job_type, before, after)
        return DDLJob(
            commit_seq=-1,
            ddl_seq=place,
            query=query or cursor.statement.text,
            job_type=int(job_type),
            ddl_type=int(ddl_type),
            schema=shown.schema if shown else "",
            table=shown.name if shown else "",
            old_schema=before.schema if before else "",
            old_table=before.name if before else "",
            version_before=before.version if before else -1,
            version_after=after.version if after else -1,
            sent=not reason,
            reason=reason,
            line=cursor.statement.line,
        )

    def _reason(self, action: Action, before: TableInfo | None, after: TableInfo | None) -> str:
        """Why TiCDC leaves the job out; empty if it does not."""
        if action in DISCARDED:
            return NOT_REPLICATED
        shown = after or before
        if shown is None or shown.eligible or self.force_replicate:
            return ""
        if before is not None and before.eligible:
            raise ScenarioError(
                f"{shown.qualified_name} loses its last {NO_HANDLE_KEY.removeprefix('no ')}:"
                " TiCDC stops the changefeed here",
                hint="keep a key, or set force-replicate",
            )
        return NO_HANDLE_KEY


def quoted(schema: str, name: str) -> str:
    """A table's full name as TiCDC rebuilds it; a back-quote in it is left alone, as there."""
    return f"`{schema}`.`{name}`"


def if_not_exists(cursor: Cursor) -> bool:
    if cursor.accept("IF"):
        cursor.expect("NOT", "EXISTS")
        return True
    return False


def if_exists(cursor: Cursor) -> bool:
    if cursor.accept("IF"):
        cursor.expect("EXISTS")
        return True
    return False
