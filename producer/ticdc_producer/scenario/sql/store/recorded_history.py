"""The history of a session: row changes, DDL jobs, and the states of tables after some commits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.scenario.history import (
    Change,
    DefinedTable,
    History,
    HistorySize,
    IgnoredStatements,
    State,
    TableState,
)
from ticdc_producer.scenario.sql.definition.create_text import create_table_text
from ticdc_producer.scenario.sql.store.cluster import TiDBCluster
from ticdc_producer.scenario.sql.store.reserved_tables import ReservedTables
from ticdc_producer.scenario.sql.store.storage import Table


class RecordedHistory:
    """The commits of a session.

    :param cluster: the tables of the session.
    :param reserved: tables whose rows the session does not have.
    :param snapshots: numbers of commits after which the state of all tables is recorded.
    :param defined_after: number of commits after which the definitions of all tables are recorded.
    :param size: counts the row changes, those of the open transaction included.
    :ivar commits: number of commits so far: transactions and DDL jobs.
    """

    def __init__(
        self,
        cluster: TiDBCluster,
        reserved: ReservedTables,
        snapshots: Collection[int],
        size: HistorySize | None = None,
        defined_after: int | None = None,
    ) -> None:
        self.commits = 0
        self.size = size or HistorySize()
        self._cluster, self._reserved = cluster, reserved
        self._snapshots = frozenset(snapshots)
        self._defined_after = defined_after
        self._definitions: tuple[DefinedTable, ...] = ()
        self._state_at: dict[int, State] = {0: {}} if 0 in self._snapshots else {}
        self._changes: list[Change] = []
        self._ddls: list[DDLJob] = []

    def add_transaction(self, changes: Iterable[Change]) -> None:
        """Record a commit with row changes."""
        self._changes.extend(changes)
        self._count()

    def add_job(self, events: Iterable[DDLJob]) -> None:
        """Record a DDL job, which is a commit with one or more events."""
        self._ddls.extend(replace(event, commit_seq=self.commits) for event in events)
        self._count()

    def set_sent_texts(self, texts: Sequence[str]) -> None:
        """Set the texts of the events of the last job to those that TiCDC has sent."""
        last = self._ddls[-len(texts) :]
        if len({event.commit_seq for event in last}) == 1 and last[0].commit_seq == self.commits - 1:
            self._ddls[-len(texts) :] = [
                replace(event, query=text, as_sent=True) for event, text in zip(last, texts, strict=True)
            ]

    def skip(self, commits: int) -> None:
        """Count commits whose changes are not in the session."""
        self._take_snapshot(
            [count for count in self._snapshots if self.commits < count <= self.commits + commits]
        )
        self.commits += commits

    def history(self, ignored_statements: IgnoredStatements) -> History:
        """Return the history of all commits so far."""
        return History(
            catalog=Catalog(tuple(self._cluster.versions), tuple(self._ddls)),
            changes=list(self._changes),
            commits=self.commits,
            state=self._state(),
            state_at=dict(self._state_at),
            definitions=self._definitions,
            ignored_statements=ignored_statements,
        )

    def _count(self) -> None:
        self.commits += 1
        if self.commits in self._snapshots:
            self._take_snapshot([self.commits])

    def _take_snapshot(self, counts: Collection[int]) -> None:
        if counts:
            self._state_at.update(dict.fromkeys(counts, self._state()))
            self._reserved.take_snapshot(self._cluster, counts)
        if self._defined_after in counts:
            self._definitions = self.defined_tables()

    def defined_tables(self) -> tuple[DefinedTable, ...]:
        """Return the present definitions of all tables."""
        return tuple(
            DefinedTable(
                version=table.info.version,
                create=create_table_text(
                    table.info, table.partitioning, table.foreign_keys, temporary=bool(table.temporary)
                ),
                partitioning=table.partitioning,
            )
            for table in self._cluster.tables()
        )

    def _state(self) -> State:
        return {
            (table.info.schema, table.info.name): _state_of(table)
            for database in self._cluster.databases.values()
            for table in database.tables.values()
            if not self._reserved.lacks_rows_of(table.info)
        }


def _state_of(table: Table) -> TableState:
    rows = table.scan()
    return TableState(
        version=table.info.version,
        rows=tuple(table.image(table.read(row)) for row in rows),
        table_ids=tuple(row.table_id for row in rows) if table.info.partitions else (),
    )
