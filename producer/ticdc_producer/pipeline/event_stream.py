"""All stages in their order: a change log becomes an event stream."""

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
    DDLPlace,
    ResolvedPlan,
    ddl_events,
    resolved_events,
)
from ticdc_producer.pipeline.dispatch import dispatch
from ticdc_producer.pipeline.event_filter import event_filter, filtered_tables
from ticdc_producer.pipeline.go_sort_order import unstable_order
from ticdc_producer.pipeline.mutations import mutations, net_mutations
from ticdc_producer.pipeline.order import order
from ticdc_producer.pipeline.select import select
from ticdc_producer.pipeline.split import split
from ticdc_producer.pipeline.table_metadata import facts
from ticdc_producer.pipeline.topic_partitions import Slots


@dataclass(frozen=True, kw_only=True)
class StreamPlan:
    """What the stages need beside the change log; small, on the driver.

    :param resolved: when resolved events are sent; it holds the commit clock too.
    :param crowded: commit-ts and physical table id of transactions that ``unstable_order`` must see.
    """

    catalog: Catalog
    changefeed: Changefeed
    resolved: ResolvedPlan
    crowded: frozenset[tuple[int, int]] = frozenset()

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
        """Versions of the replicated tables whose rows at the end are those upstream: none is ignored."""
        ignored = {table.version for table in filtered_tables(self.replicated, self.changefeed.filter)}
        return frozenset(table.version for table in self.replicated if table.version not in ignored)

    @cached_property
    def selection(self) -> ColumnSelection:
        return ColumnSelection(self.changefeed)

    @cached_property
    def routes(self) -> dict[int, Route]:
        """Where the rows of each replicated table version go."""
        return {table.version: self.router.route(self.selection.of(table)) for table in self.replicated}

    @cached_property
    def ddls(self) -> tuple[DDLPlace, ...]:
        """The DDLs that are sent, and where they go."""
        if not self.changefeed.output_ddl:
            return ()
        clock = self.resolved.clock
        return tuple(
            DDLPlace(
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
        """Every topic, and since when resolved events go to it: the default one always."""
        since: dict[str, int] = {self.router.default_topic: 0}
        born = {job.version_after: job.commit_seq for job in self.catalog.ddls}
        for table in self.replicated:
            first = self.resolved.clock.ts(born[table.version]) if table.version in born else 0
            topic = self.routes[table.version].topic
            since[topic] = min(first, since.get(topic, first))
        for place in self.ddls:
            since[place.topic] = min(place.commit_ts, since.get(place.topic, place.commit_ts))
        return tuple(ActiveTopic(topic=topic, since=first) for topic, first in sorted(since.items()))

    @cached_property
    def slots(self) -> Slots:
        topics = tuple(active.topic for active in self.active_topics)
        return Slots(topics, self.changefeed.partition_num)


Faults: TypeAlias = Callable[[DataFrame], DataFrame]
"""Rewrites an event stream that is in no order yet."""


def event_stream(
    spark: SparkSession,
    changes: DataFrame,
    plan: StreamPlan,
    net: DataFrame | None = None,
    faults: Faults | None = None,
) -> DataFrame:
    """The ordered event stream of a change log (shape ``EVENT_STREAM``).

    Rows of tables that TiCDC does not replicate are left out.

    :param net: further changes, of rows of their own, of which no transaction has two of one row.
    :param faults: what goes wrong on purpose.
    """
    return ordered_events(row_events(spark, changes, plan, net), plan, faults)


def ordered_events(rows: DataFrame, plan: StreamPlan, faults: Faults | None = None) -> DataFrame:
    """The ordered event stream of some row events.

    :param rows: as ``row_events`` gives them.
    :param faults: what goes wrong on purpose; they look at the rows several times.
    """
    spark = rows.sparkSession
    ddls = ddl_events(spark, plan.ddls, plan.slots, to_all=plan.changefeed.ddl_to_all_partitions)
    times = [place.commit_ts for place in plan.ddls]
    resolved = resolved_events(spark, plan.resolved, times, plan.active_topics, plan.slots)
    events = rows.unionByName(ddls).unionByName(resolved)
    if faults is None:
        return order(events, plan.slots, faultless=True)
    return order(faults(events), plan.slots)


def row_events(
    spark: SparkSession,
    changes: DataFrame,
    plan: StreamPlan,
    net: DataFrame | None = None,
    *,
    net_moves: bool = True,
) -> DataFrame:
    """The row events of the stream, in no order yet.

    :param net: as in ``event_stream``.
    :param net_moves: whether any of those may have taken its row to another key.
    """
    feed, clock = plan.changefeed, plan.resolved.clock
    known = facts(spark, plan.replicated, plan.routes)

    def committed(log: DataFrame) -> DataFrame:
        return localise(commit(log, clock), known, feed.time_zone)

    kept = mutations(committed(changes))
    if net is not None:
        kept = kept.unionByName(net_mutations(committed(net), moves=net_moves))
    kept = event_filter(kept, plan.replicated, feed.filter)
    placed = split(kept, known, raw_change_event=feed.output_raw_change_event, profile=feed.profile)
    if not feed.output_raw_change_event and feed.profile == "classic":
        placed = unstable_order(placed, plan.crowded)
    placed = select(placed, plan.replicated, plan.selection)
    return dispatch(placed, known, plan.slots, profile=feed.profile)
