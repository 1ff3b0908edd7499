"""The plan of a stream, and the rules that produce its events, as functions on batches.

``simulate.stream`` composes the functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Route, Router
from ticdc_producer.dispatch.table_filter import ColumnSelection, TableFilter
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Kind
from ticdc_producer.model.shapes import ChangeBatch, EventBatch, MutationBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.control_events import (
    ActiveTopic,
    DDLRoute,
    ResolvedPlan,
    ddl_events,
    single_resolved_events,
)
from ticdc_producer.pipeline.delivery import TopicPartitions, commit, dispatch
from ticdc_producer.pipeline.event_filter import event_filter, filtered_tables, select
from ticdc_producer.pipeline.mutations import changed_keys, collapse, net_mutations, split, split_moved
from ticdc_producer.pipeline.row_images import localise, numbers
from ticdc_producer.pipeline.soft_deletes import soft_deletes


@dataclass(frozen=True, kw_only=True)
class StreamPlan:
    """The input of the stages other than the change log; small, on the driver.

    :param resolved: when resolved events are sent; it also contains the commit clock.
    :param large_transactions: commit-ts and physical table id of the transactions of SQL that ``go_sort``
        reorders.
    :param large_tables: physical ids of the tables of large DataFrames whose transactions ``go_sort`` may
        reorder.
    :param target_ts: TSO up to which the changefeed sends; None: to the last commit.
    :param ended: table versions that ended before the changefeed starts.
    """

    catalog: Catalog
    changefeed: Changefeed
    resolved: ResolvedPlan
    large_transactions: frozenset[tuple[int, int]] = frozenset()
    large_tables: frozenset[int] = frozenset()
    target_ts: int | None = None
    ended: frozenset[int] = frozenset()

    @cached_property
    def router(self) -> Router:
        return Router(self.changefeed)

    @cached_property
    def replicated(self) -> tuple[TableInfo, ...]:
        """The table versions whose rows TiCDC hands to its sink."""
        force, names = self.changefeed.force_replicate, TableFilter(self.changefeed)
        return tuple(
            table
            for table in self.catalog.tables
            if (table.eligible or force) and names.accepts(table) and table.version not in self.ended
        )

    @cached_property
    def fully_replicated_versions(self) -> frozenset[int]:
        """Versions of the replicated tables without ignored rows: their final rows are those upstream."""
        ignored = {table.version for table in filtered_tables(self.replicated, self.changefeed)}
        return frozenset(table.version for table in self.replicated if table.version not in ignored)

    @cached_property
    def selection(self) -> ColumnSelection:
        return ColumnSelection(self.changefeed)

    @cached_property
    def routes(self) -> dict[int, Route]:
        """The dispatch route of each replicated table version."""
        return {table.version: self.router.route(self.selection.of(table)) for table in self.replicated}

    @property
    def sends_all(self) -> bool:
        """Whether the changefeed has neither a start-ts nor a target-ts."""
        return not self.resolved.start_ts and self.target_ts is None

    def sends(self, commit_ts: Numbers) -> Flags:
        """Return which changes the changefeed sends, by commit-ts: after start-ts, up to target-ts."""
        after: Flags = commit_ts > self.resolved.start_ts
        return after if self.target_ts is None else after & (commit_ts <= self.target_ts)

    @property
    def sorts_again(self) -> bool:
        """Whether TiCDC sorts the rows of a transaction again after splitting updates."""
        return not self.changefeed.output_raw_change_event and self.changefeed.profile == "classic"

    @cached_property
    def ddls(self) -> tuple[DDLRoute, ...]:
        """The DDLs that are sent, with their topics."""
        if not self.changefeed.output_ddl:
            return ()
        clock = self.resolved.clock
        return tuple(
            DDLRoute(
                index=index,
                seq=job.ddl_seq,
                commit_ts=clock.ts(job.commit_seq),
                topic=self.router.ddl_topic(*job.upstream_names),
            )
            for index, job in enumerate(self.catalog.ddls)
            if job.sent
        )

    @cached_property
    def active_topics(self) -> tuple[ActiveTopic, ...]:
        """Every topic, with the TSO from which on it gets resolved events; 0 for the default topic."""
        since: dict[str, int] = {self.router.default_topic: 0}
        born = {job.version_after: job.commit_seq for job in self.catalog.ddls}
        for table in self.replicated:
            first = self.resolved.clock.ts(born[table.version]) if table.version in born else 0
            topic = self.routes[table.version].topic
            since[topic] = min(first, since.get(topic, first))
        for ddl in self.ddls:
            since[ddl.topic] = min(ddl.commit_ts, since.get(ddl.topic, ddl.commit_ts))
        return tuple(ActiveTopic(topic=topic, since=first) for topic, first in sorted(since.items()))

    @cached_property
    def topic_partitions(self) -> TopicPartitions:
        topics = tuple(active.topic for active in self.active_topics)
        return TopicPartitions(topics, tuple(map(self.changefeed.partitions_of, topics)))


def committed(changes: ChangeBatch, plan: StreamPlan) -> ChangeBatch:
    """Return the changes that the changefeed sends with commit-ts and local times, each at one row key.

    Needs no other rows; ``row_events`` continues with the result.

    :param changes: shape ``CHANGE_LOG``, in any order.
    :return: as ``mutations.split_moved`` returns them.
    """
    replicated = pa.array([table.version for table in plan.replicated], pa.int32())
    of_replicated = pc.is_in(changes.column("table_version"), replicated)
    if not pc.all(of_replicated).as_py():
        changes = changes.filter(of_replicated)
    changes = commit(changes, plan.resolved.clock)
    if not plan.sends_all:
        changes = changes.filter(pa.array(plan.sends(numbers(changes.column("commit_ts")))))
    return split_moved(localise(changes, plan.replicated, plan.changefeed.time_zone))


def row_events(changes: ChangeBatch, plan: StreamPlan) -> EventBatch:
    """Return the row events of the stream (shape ``EVENT_STREAM``), unordered.

    :param changes: results of ``committed``, sorted by ``mutations.IN_KEY_ORDER``; the changes of a
        transaction to one row are complete.
    """
    return _of_mutations(collapse(changes), plan)


def net_row_events(changes: ChangeBatch, plan: StreamPlan) -> EventBatch:
    """Return the row events of changes that are net already (shape ``EVENT_STREAM``), unordered.

    :param changes: shape ``CHANGE_LOG``; no transaction changes a row twice, and every change has an effect.
    """
    return _of_mutations(net_mutations(committed(changes, plan)), plan)


def snapshot_events(rows: ChangeBatch, plan: StreamPlan) -> EventBatch:
    """Return rows that exist when the changefeed starts as if they were inserted then (``EVENT_STREAM``).

    :param rows: inserts of replicated tables (shape ``CHANGE_LOG``) with ``commit_ts``, in any order.
    """
    changes = split_moved(localise(rows, plan.replicated, plan.changefeed.time_zone))
    return _of_mutations(net_mutations(changes), plan)


def _of_mutations(mutations: MutationBatch, plan: StreamPlan) -> EventBatch:
    changefeed = plan.changefeed
    rows = split(
        event_filter(mutations, plan.replicated, changefeed),
        plan.replicated,
        raw_change_event=changefeed.output_raw_change_event,
        profile=changefeed.profile,
    )
    rows = soft_deletes(rows, plan.replicated, changefeed)
    return dispatch(select(rows, plan.replicated, plan.selection), plan.routes, plan.topic_partitions)


def key_updates(tables: Sequence[TableInfo], events: EventBatch) -> int:
    """Return the number of updates that change a key; there are some with ``output-raw-change-event`` only.

    :param tables: the table versions of the events.
    """
    rows = events.filter(pc.equal(events.column("kind"), int(Kind.ROW)))
    return int(changed_keys(rows, tables).sum())


def single_control_events(plan: StreamPlan) -> list[EventBatch]:
    """Return the DDL events, and the resolved events that are neither after each commit nor at a tick.

    They are few.

    :return: shape ``EVENT_STREAM``, unordered.
    """
    times = [ddl.commit_ts for ddl in plan.ddls]
    to_all = plan.changefeed.ddl_to_all_partitions
    return [
        ddl_events(plan.ddls, plan.topic_partitions, to_all=to_all),
        single_resolved_events(plan.resolved, times, plan.active_topics, plan.topic_partitions),
    ]
