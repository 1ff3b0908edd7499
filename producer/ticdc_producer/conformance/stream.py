"""The event stream of a case in one partition: the changes that its SQL commits.

The stages of ``pipeline`` are not run. They collapse and split the changes of a transaction and dispatch
them; the SQL of a case makes no changes for which that matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.event import Kind
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.protocols.zone import local_timestamp, zone_of
from ticdc_producer.scenario.history import Change, History, RowImage
from ticdc_producer.scenario.sql.session import Session
from ticdc_producer.targets.encoding.row_batches import EVENTS_ARROW

_CLOCK = CommitClock()


@dataclass(frozen=True)
class CaseStream:
    """The history after the SQL of a case was run.

    :param before: number of commits of the setup SQL.
    """

    history: History
    before: int

    @property
    def catalog(self) -> Catalog:
        return self.history.catalog

    @cached_property
    def changes(self) -> list[Change]:
        """The row changes, in order."""
        return [change for change in self.history.changes if change.commit_seq >= self.before]

    @cached_property
    def ddls(self) -> list[tuple[int, DDLJob]]:
        """The DDLs that are sent, with their indexes in the catalog."""
        jobs = enumerate(self.catalog.ddls)
        return [(index, job) for index, job in jobs if job.sent and job.commit_seq >= self.before]

    @property
    def last_ts(self) -> int:
        """Commit-ts of the last commit."""
        return _CLOCK.ts(self.history.commits - 1)

    def commit_ts(self, one: Change | DDLJob) -> int:
        """Commit-ts of a change or DDL."""
        return _CLOCK.ts(one.commit_seq)

    def batches(self, resolved: bool) -> list[pa.RecordBatch]:
        """The events as a worker has them (``EVENTS_ARROW``): rows, then DDLs, then the resolved event."""
        events = list(self._events(resolved))
        return [pa.RecordBatch.from_pylist(events, schema=EVENTS_ARROW)]

    def _events(self, resolved: bool) -> Iterator[dict[str, Any]]:
        for change in self.changes:
            yield {
                "kind": int(Kind.ROW),
                "commit_ts": self.commit_ts(change),
                "table_version": change.table_version,
                "table_id": change.table_id,
                "row_id": change.row_id,
                "op": int(change.op),
                "before": change.before,
                "after": change.after,
                "dispatch_key": "",
            }
        for index, job in self.ddls:
            yield {"kind": int(Kind.DDL), "commit_ts": self.commit_ts(job), "ddl": index}
        if resolved:
            yield {"kind": int(Kind.RESOLVED), "commit_ts": self.last_ts}


@lru_cache(maxsize=8)
def run_spec(
    setup: str,
    sql: str,
    *,
    profile: Profile = "classic",
    force_replicate: bool = False,
    time_zone: str = "UTC",
) -> CaseStream:
    """Run the SQL of a case.

    The cache is small because the protocols of one spec follow each other.

    :param time_zone: the changefeed's time zone, in which TIMESTAMP values are rendered.
    :raises ScenarioError: if the SQL fails.
    :raises ValueError: for an update that changes a row's key, which a stream contains as two events.
    """
    session = Session(profile=profile, force_replicate=force_replicate)
    session.run(setup)
    before = session.commits
    session.run(sql)
    history = session.history()
    if any(change.old_row_key is not None for change in history.changes if change.commit_seq >= before):
        raise ValueError(f"moves a row: {sql}")
    history.changes = [_localised(change, history.catalog, zone_of(time_zone)) for change in history.changes]
    return CaseStream(history, before)


def _localised(change: Change, catalog: Catalog, zone: tzinfo) -> Change:
    columns = catalog.tables[change.table_version].sent_columns

    def localised(image: RowImage | None) -> RowImage | None:
        if image is None:
            return None
        return tuple(
            local_timestamp(value, zone) if column.type == MySQLType.TIMESTAMP else value
            for column, value in zip(columns, image, strict=True)
        )

    return replace(change, before=localised(change.before), after=localised(change.after))
