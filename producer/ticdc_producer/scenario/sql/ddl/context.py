"""The state that a DDL statement changes, and the events of its job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import DISCARDED, Action, DDLJob
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.definition.describe import defined_columns
from ticdc_producer.scenario.sql.store.cluster import TiDBCluster
from ticdc_producer.scenario.sql.syntax.statement import DDL
from ticdc_producer.scenario.sql.text.cursor import SourceText
from ticdc_producer.scenario.sql.text.spelling import quoted_name
from ticdc_producer.scenario.sql.text.statements import Statement

NO_HANDLE_KEY = "no primary key or not-null unique key"
NOT_REPLICATED = "TiCDC does not replicate DDL of this kind"


@dataclass(slots=True)
class DDLContext:
    """The state that a DDL statement reads and changes.

    :param statement: the statement itself, which is the text of most jobs.
    :param node: its syntax tree.
    :param database: the current database.
    :param force_replicate: whether TiCDC replicates tables without a handle key.
    :param record: called with the events of a finished job; it numbers them.
    :ivar action: the action code of the last job; 0: there was none.
    """

    statement: Statement
    node: DDL
    cluster: TiDBCluster
    mode: SQLMode
    database: str
    force_replicate: bool
    record: Callable[[list[DDLJob]], None]
    action: int = 0

    @property
    def line(self) -> int:
        """Line of the statement in its file."""
        return self.statement.line

    def job(
        self,
        action: Action,
        *,
        before: TableInfo | None = None,
        after: TableInfo | None = None,
        schema: str = "",
        table: str = "",
        query: str = "",
    ) -> None:
        """Record a job of one event, and take the job's id.

        :param before: the table's version before the DDL.
        :param after: the table's version after it.
        :param schema: the database, if the DDL has no ``TableInfo``.
        :param table: the table, if the DDL has no ``TableInfo``.
        :param query: the text, if TiDB rebuilds it; the default is the user's text.
        :raises ScenarioError: if TiCDC would stop the changefeed at this DDL.
        """
        self.cluster.ids.take()
        self.action = action
        event = self.event(action, action, before, after, query=query)
        self.record([event if event.schema else replace(event, schema=schema, table=table)])

    def query_with(self, replaced: SourceText, text: str) -> str:
        """Return the statement's text with another text for some of its words."""
        first, last = (self.statement.tokens[index] for index in (replaced.start, replaced.end - 1))
        typed = self.statement.text
        return f"{typed[: first.start]}{text}{typed[last.end + 1 :]}"

    def event(
        self,
        job_type: Action,
        ddl_type: Action,
        before: TableInfo | None,
        after: TableInfo | None,
        *,
        query: str = "",
        sequence: int = 0,
    ) -> DDLJob:
        """Return one event of a job.

        :param sequence: its index among the events of the job.
        """
        table = after or before
        reason = self._reason(job_type, before, after)
        return DDLJob(
            commit_seq=-1,
            ddl_seq=sequence,
            query=query or self.statement.text,
            job_type=int(job_type),
            ddl_type=int(ddl_type),
            schema=table.schema if table else "",
            table=table.name if table else "",
            old_schema=before.schema if before else "",
            old_table=before.name if before else "",
            version_before=before.version if before else -1,
            version_after=after.version if after else -1,
            sent=not reason,
            reason=reason,
            line=self.statement.line,
            definitions=defined_columns(self.node),
        )

    def _reason(self, action: Action, before: TableInfo | None, after: TableInfo | None) -> str:
        """Return why TiCDC does not replicate the job; empty if it does."""
        if action in DISCARDED:
            return NOT_REPLICATED
        table = after or before
        if table is None or table.eligible or self.force_replicate:
            return ""
        if before is not None and before.eligible:
            raise ScenarioError(
                f"{table.qualified_name} loses its last {NO_HANDLE_KEY.removeprefix('no ')}:"
                " TiCDC stops the changefeed here",
                hint="keep a key, or set force-replicate",
            )
        return NO_HANDLE_KEY


def quoted(schema: str, name: str) -> str:
    """Return a table's full name in back-quotes."""
    return f"{quoted_name(schema)}.{quoted_name(name)}"
