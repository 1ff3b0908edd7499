"""Legal traps: what a restart, a move of a table or a slow partition does to a segment of the history."""

from __future__ import annotations

import numpy as np

from ticdc_producer.faults.event_columns import integers
from ticdc_producer.faults.event_traps import SegmentEvents, SegmentTrap
from ticdc_producer.model.event import Kind
from ticdc_producer.model.trap_coverage import seen_as
from ticdc_producer.pipeline.row_images import Flags


class ReplaySuffix(SegmentTrap):
    id = "replay-suffix"
    summary = (
        "After a restart, the rows of every table after the checkpoint are delivered again, in the same "
        "order, and the resolved-ts starts again near the checkpoint."
    )
    issues = ("pingcap/ticdc#4051", "pingcap/tiflow#12595")
    may_report = ("INV-RESOLVED-MONO", "INV-DUP-ORDER", "INV-DUP-COMPLETE")
    requires = "at least two rows after a resolved event"
    consumer_action = (
        "Drops events that are not newer than those it has applied, and remembers its largest resolved-ts."
    )
    kafka_consumer = 'Panics: "partition resolved ts fallback".'
    coverage = seen_as("island", "stale > 0 or tables > 1")

    def repeated(self, found: SegmentEvents) -> Flags:
        return found.has


class ReplayPartial(SegmentTrap):
    id = "replay-partial"
    summary = (
        "The changefeed fails while rows are in flight, so some partitions lack the newest rows. After the "
        "restart, all rows after the checkpoint are delivered, some again and some for the first time."
    )
    issues = ("pingcap/ticdc#4051", "pingcap/ticdc#5508")
    may_report = ("INV-RESOLVED-MONO", "INV-DUP-ORDER", "INV-DUP-COMPLETE")
    requires = "rows after the last resolved event, in at least two partitions"
    consumer_action = (
        "Decides by what it has applied whether a row is new, never by the largest commit-ts or resolved-ts "
        "received."
    )
    without_ddl = True
    coverage = seen_as("event", "first_row and replaying and commit_ts <= replayed_max")

    def delivered(self, found: SegmentEvents) -> Flags:
        """Rows up to the point that their partition reached.

        No resolved event, because not all rows were acknowledged.
        """
        cut = found.plan.segments
        share = found.hashes("delivered", "partition_index") % cut.length
        start = cut.start + found.segments * cut.length
        delivered: Flags = integers(found.events, "deliver_after_ts") <= start + share
        return found.of_kind(Kind.ROW) & delivered

    def repeated(self, found: SegmentEvents) -> Flags:
        return found.has


class ReplayOneTable(SegmentTrap):
    id = "replay-one-table"
    summary = (
        "One table moves to another node, and its rows after its own checkpoint are delivered again; other "
        "tables continue."
    )
    issues = ("pingcap/ticdc#3040", "pingcap/tiflow#11947")
    may_report = ("INV-DUP-ORDER", "INV-DUP-COMPLETE")
    requires = "at least two tables"
    consumer_action = "Detects duplicates per row or table, not per partition."
    kafka_consumer = "Survives it."
    of_one_table = True
    coverage = seen_as("island", "stale = 0 and tables = 1 and of_tables > 1")

    def repeated(self, found: SegmentEvents) -> Flags:
        rows, tables = found.has & found.of_kind(Kind.ROW), integers(found.events, "table_id")
        repeated = np.zeros(len(rows), bool)
        for segment in np.unique(found.segments[rows]).tolist():
            repeated |= rows & (found.segments == segment) & (tables == found.moved[segment])
        return repeated


class ResolvedFallback(SegmentTrap):
    id = "resolved-fallback"
    summary = "The resolved-ts of a partition decreases, because the owner restarts from an older checkpoint."
    profiles = ("classic",)
    issues = ("pingcap/tiflow#4730", "pingcap/tiflow#11413", "pingcap/tiflow#12096", "pingcap/tiflow#12595")
    may_report = ("INV-RESOLVED-MONO",)
    requires = "resolved events (Canal-JSON and Debezium with enable-tidb-extension=true), at least two"
    consumer_action = "Remembers the largest resolved-ts of each partition, and does not stop."
    kafka_consumer = 'Panics: "partition resolved ts fallback".'
    coverage = seen_as("event", "kind = 'resolved' and commit_ts < resolved_max", needs=("resolved",))

    def repeated(self, found: SegmentEvents) -> Flags:
        return found.of_kind(Kind.RESOLVED)


class ResolvedLag(SegmentTrap):
    id = "resolved-lag"
    summary = (
        "One partition receives no resolved events for a while, while rows and the other partitions continue."
    )
    may_report = ("INV-RESOLVED-STALL",)
    requires = (
        "resolved events (Canal-JSON and Debezium with enable-tidb-extension=true) in at least two partitions"
    )
    consumer_action = (
        "Buffers rows until the last partition has caught up, without imposing a limit of its own."
    )
    kafka_consumer = "Survives it."
    without_ddl = True
    coverage = seen_as(
        "event",
        "kind = 'resolved' and first_delivery and commit_ts < row_max "
        "and commit_ts > coalesce(resolved_max, 0)",
        needs=("resolved",),
    )

    def delayed(self, found: SegmentEvents) -> Flags:
        """The resolved events of one partition."""
        lagging = found.hashes("lag") % found.partitions
        in_partition: Flags = integers(found.events, "partition") == lagging
        return found.of_kind(Kind.RESOLVED) & in_partition
