"""Composes the stages that turn a change log into an event stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.column_selection import ColumnSelection
from ticdc_producer.dispatch.rules import Route, Router
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.commit import commit, localise
from ticdc_producer.pipeline.control_events import (
    ActiveTopic,
    DDLRoute,
    ResolvedPlan,
    ddl_events,
    resolved_events,
)
from ticdc_producer.pipeline.dispatch import dispatch
from ticdc_producer.pipeline.event_filter import event_filter, filtered_tables
from ticdc_producer.pipeline.go_sort_order import go_sort_order
from ticdc_producer.pipeline.mutations import mutations, net_mutations
from ticdc_producer.pipeline.order import order
from ticdc_producer.pipeline.select import select
from ticdc_producer.pipeline.split import split
from ticdc_producer.pipeline.table_metadata import table_metadata
from ticdc_producer.pipeline.topic_partitions import TopicPartitions


@dataclass(frozen=True, kw_only=True)
class StreamPlan:
    """The input of the stages other than the change log; small, on the driver.

    :param resolved: when resolved events are sent; has the commit clock, too.
    :param large_transactions: commit-ts and physical table id of the transactions that ``go_sort_order``
        reorders.
    """

    catalog: Catalog
    changefeed: Changefeed
    resolved: ResolvedPlan
    large_transactions: frozenset[tuple[int, int]] = frozenset()

    @cached_property
    def router(self) -> Router:
        return Router(self.changefeed)

    @cached_property
    def replicated(self) -> tuple[TableInfo, ...]:
        """The table versions whose rows TiCDC hands to its sink."""
        force, names = self.changefeed.force_replicate, TableFilter(self.changefeed)
        return tuple(
            table for table in self.catalog.tables if (table.eligible or force) and names.accepts(table)
        )

    @cached_property
    def whole(self) -> frozenset[int]:
        """Versions of the replicated tables without ignored rows: their final rows are those upstream."""
        ignored = {table.version for table in filtered_tables(self.replicated, self.changefeed.filter)}
        return frozenset(table.version for table in self.replicated if table.version not in ignored)

    @cached_property
    def selection(self) -> ColumnSelection:
        return ColumnSelection(self.changefeed)

    @cached_property
    def routes(self) -> dict[int, Route]:
        """The dispatch route of each replicated table version."""
        return {table.version: self.router.route(self.selection.of(table)) for table in self.replicated}

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
                topic=self.router.ddl_topic(job.old_schema, job.old_table, job.schema, job.table),
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
        return TopicPartitions(topics, self.changefeed.partition_num)


Faults: TypeAlias = Callable[[DataFrame], DataFrame]
"""Rewrites an unordered event stream."""


def event_stream(
    spark: SparkSession,
    changes: DataFrame,
    plan: StreamPlan,
    net: DataFrame | None = None,
    faults: Faults | None = None,
) -> DataFrame:
    """The ordered event stream of a change log (shape ``EVENT_STREAM``).

    Rows of tables that TiCDC does not replicate are left out.

    :param net: further changes, of other rows; no transaction changes one of these rows twice.
    :param faults: injects faults.
    """
    return ordered_events(row_events(spark, changes, plan, net), plan, faults)


def ordered_events(rows: DataFrame, plan: StreamPlan, faults: Faults | None = None) -> DataFrame:
    """The ordered event stream of some row events.

    :param rows: as returned by ``row_events``.
    :param faults: injects faults; evaluates the rows several times.
    """
    spark = rows.sparkSession
    ddls = ddl_events(spark, plan.ddls, plan.topic_partitions, to_all=plan.changefeed.ddl_to_all_partitions)
    times = [ddl.commit_ts for ddl in plan.ddls]
    resolved = resolved_events(spark, plan.resolved, times, plan.active_topics, plan.topic_partitions)
    events = rows.unionByName(ddls).unionByName(resolved)
    if faults is None:
        return order(events, plan.topic_partitions, faultless=True)
    return order(faults(events), plan.topic_partitions)


def row_events(
    spark: SparkSession,
    changes: DataFrame,
    plan: StreamPlan,
    net: DataFrame | None = None,
    *,
    net_moves: bool = True,
) -> DataFrame:
    """The row events of the stream, unordered.

    :param net: as in ``event_stream``.
    :param net_moves: whether any of these changes may move its row to another key.
    """
    changefeed, clock = plan.changefeed, plan.resolved.clock
    known = table_metadata(spark, plan.replicated, plan.routes)

    def committed(log: DataFrame) -> DataFrame:
        return localise(commit(log, clock), known, changefeed.time_zone)

    net_changes = mutations(committed(changes))
    if net is not None:
        net_changes = net_changes.unionByName(net_mutations(committed(net), moves=net_moves))
    net_changes = event_filter(net_changes, plan.replicated, changefeed.filter)
    rows = split(
        net_changes, known, raw_change_event=changefeed.output_raw_change_event, profile=changefeed.profile
    )
    if not changefeed.output_raw_change_event and changefeed.profile == "classic":
        rows = go_sort_order(rows, plan.large_transactions)
    rows = select(rows, plan.replicated, plan.selection)
    return dispatch(rows, known, plan.topic_partitions, profile=changefeed.profile)
