"""The event stream of a case in one partition, and the events that a consumer must decode.

The stages of ``pipeline`` are not run. They collapse and split the changes of a transaction and dispatch
them; the SQL of a case makes no changes for which that matters. Expected events are not decoded from
messages; tests check that the project's decoders return them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import cached_property, lru_cache

import msgspec
import pyarrow as pa

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Kind, Op, Value
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.model.values.temporal_text import local_timestamp, zone_of
from ticdc_producer.scenario.history import Change, History, RowImage
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.targets.row_batches import EVENTS_ARROW

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

    def commit_ts(self, change: Change | DDLJob) -> int:
        """Return the commit-ts of a change or DDL."""
        return _CLOCK.ts(change.commit_seq)

    def batches(self, resolved: bool) -> list[EventBatch]:
        """Return the events as a worker has them (``EVENTS_ARROW``): rows, DDLs, then the resolved event."""
        events = list(self._events(resolved))
        return [pa.RecordBatch.from_pylist(events, schema=EVENTS_ARROW)]

    def _events(self, resolved: bool) -> Iterator[dict[str, object]]:
        for change in self.changes:
            yield {
                "kind": int(Kind.ROW),
                "commit_ts": self.commit_ts(change),
                "table_version": change.table_version,
                "table_id": change.table_id,
                "row_id": change.row_id,
                "op": int(change.operation),
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
    changes = [_localised(change, history.catalog, zone_of(time_zone)) for change in history.changes]
    return CaseStream(replace(history, changes=changes), before)


def _localised(change: Change, catalog: Catalog, zone: tzinfo) -> Change:
    columns = catalog.tables[change.table_version].sent_columns

    def localised(image: RowImage | None) -> RowImage | None:
        if image is None:
            return None
        return tuple(
            local_timestamp(value, zone) if column.type == MySQLType.TIMESTAMP else value
            for column, value in zip(columns, image, strict=True)
        )

    return msgspec.structs.replace(change, before=localised(change.before), after=localised(change.after))


_VisibleColumns = Sequence[tuple[int, ColumnInfo, int]]
"""Index in the image, column and complete flag of the columns that a message contains."""


def expected_row(
    change: Change, table: TableInfo, commit_ts: int, fidelity: Fidelity, *, handle_key_only: bool = False
) -> DecodedRow:
    """Return the expected event of a row change, with the fields of the shape ``DECODED``.

    :param table: the table version of the change.
    :param handle_key_only: whether the message holds only the handle key, because of its size.
    """
    by_key = handle_key_only or (change.operation == Op.DELETE and fidelity.deletes == "handle-key")
    visible = _visible_columns(table, fidelity, by_key)
    before, after = change.before, change.after
    old = None if before is None else _image(before, visible, fidelity, _sent_of_old(change, table, fidelity))
    op = change.operation
    if op == Op.UPDATE and fidelity.old_values == "none":
        old = None
    if op == Op.UPDATE and not old and not fidelity.names_operation:
        op, old = Op.INSERT, None
    names_table = {"all": True, "partitions": bool(table.partitions), "none": False}[fidelity.table_ids]
    return {
        "kind": "row",
        "commit_ts": fidelity.visible_commit_ts(commit_ts, op),
        "schema": fidelity.visible_name(table.schema),
        "table": fidelity.visible_name(table.name),
        "table_id": change.table_id if names_table else 0,
        "op": op.label,
        "columns": [
            {
                "name": fidelity.visible_name(column.name),
                "type": fidelity.visible_type(column, flag),
                "flag": fidelity.visible_flag(flag),
            }
            for _, column, flag in visible
        ],
        "before": old,
        "after": None if after is None else _image(after, visible, fidelity, lambda _: True),
        "handle_key_only": handle_key_only,
    }


def expected_ddl(job: DDLJob, commit_ts: int, catalog: Catalog, fidelity: Fidelity) -> DecodedRow:
    """Return the expected event of a DDL, with the fields of the shape ``DECODED``."""
    schema, table = fidelity.visible_ddl_names(job.event(0), *catalog.tables_of(job))
    return {
        "kind": "ddl",
        "commit_ts": fidelity.visible_commit_ts(commit_ts),
        "schema": schema,
        "table": table,
        "query": job.query,
        "ddl_type": fidelity.visible_ddl_type(job.ddl_type),
    }


def expected_resolved(ts: int) -> DecodedRow:
    """Return the expected resolved event, with the fields of the shape ``DECODED``."""
    return {"kind": "resolved", "commit_ts": ts}


def _visible_columns(table: TableInfo, fidelity: Fidelity, by_key: bool) -> _VisibleColumns:
    columns = zip(table.sent_columns, table.sent_flags, strict=True)
    visible = [
        (index, column, flag)
        for index, (column, flag) in enumerate(columns)
        if flag & ColumnFlag.HANDLE_KEY or not by_key
    ]
    return sorted(visible, key=lambda entry: entry[1].name.encode()) if fidelity.sorted_columns else visible


def _sent_of_old(change: Change, table: TableInfo, fidelity: Fidelity) -> Callable[[int], bool]:
    """Return a predicate: whether the old image contains the column at an index."""
    before, after = change.before, change.after
    if before is None or after is None or fidelity.old_values != "updated":
        return lambda _: True
    types = [column.type for column in table.sent_columns]
    return lambda index: before[index] != after[index] or types[index] in fidelity.always_old


def _image(
    values: Sequence[Value], visible: _VisibleColumns, fidelity: Fidelity, sent: Callable[[int], bool]
) -> dict[str, Value]:
    return {
        fidelity.visible_name(column.name): fidelity.full_projection(column)(values[index])
        for index, column, _ in visible
        if sent(index)
    }
