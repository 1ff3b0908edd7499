"""Legal traps of the stream: events that are delivered again or late, or in other messages.

A restart, a move of a table or a slow partition affects a segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

from ticdc_producer.faults.event_traps import (
    Columns,
    CopyTrap,
    EditTrap,
    OrderTrap,
    SegmentEvents,
    SegmentTrap,
    integers,
    is_drawn,
    is_kind,
)
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.regroup import Regrouping, with_private_keys
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import Kind
from ticdc_producer.model.parameter import OF_SEVERAL_ROWS
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.model.trap_coverage import seen_as

_RESOLVED_FALLBACK = (
    'Panics: "partition resolved ts fallback". Newer builds ignore it with a warning (read in source).'
)
"""Source: ticdc ``cmd/kafka-consumer/writer.go``."""


class DuplicateEvent(CopyTrap):
    id = "duplicate-event"
    summary = (
        "One row event is delivered again, in a message of its own or batched with other events than before."
    )
    issues = ("pingcap/ticdc#4051",)
    consumer_action = "Detects repeated events by row key, commit-ts and content, not by message or offset."
    kafka_consumer = "Survives it."
    occurrence = "an event"
    coverage = seen_as("event", "row_again and rows_again = 1 and stale = 0")

    def copied(self, events: EventBatch, plan: FaultPlan) -> Flags:
        return is_kind(events, Kind.ROW) & is_drawn(events, plan, self.id)


class DuplicateDDL(CopyTrap):
    id = "duplicate-ddl"
    summary = "A DDL is delivered again with the same commit-ts and text, in every partition that has it."
    issues = ("pingcap/tiflow#12595",)
    requires = "a DDL event (Debezium with output-ddl=true)"
    consumer_action = "Executes each DDL once, identified by commit-ts and text."
    kafka_consumer = "Survives it, unless the DDL comes again after a RENAME of its table: then it panics."
    occurrence = "a DDL"
    default_rate = 1.0  # DDLs are few, and a share of them is easily none
    coverage = seen_as("event", "kind = 'ddl' and not first_delivery")

    def copied(self, events: EventBatch, plan: FaultPlan) -> Flags:
        return is_kind(events, Kind.DDL) & is_drawn(events, plan, self.id, "ddl")


class DDLAtResolvedTs(CopyTrap):
    id = "ddl-at-resolved-ts"
    summary = "A resolved event with the commit-ts of a DDL comes before the DDL itself."
    issues = ("pingcap/tiflow#4845",)
    requires = "a DDL event and resolved events (Canal-JSON and Debezium with enable-tidb-extension=true)"
    consumer_action = (
        'Interprets resolved-ts R as "all rows up to R and all DDLs below R", and still accepts a DDL '
        "with commit-ts R."
    )
    kafka_consumer = "Survives it."
    occurrence = "a DDL whose ts is a resolved-ts"
    default_rate = 1.0
    coverage = seen_as(
        "event", "kind = 'ddl' and first_delivery and commit_ts = resolved_max", needs=("resolved",)
    )

    def copied(self, events: EventBatch, plan: FaultPlan) -> Flags:
        at_ddl = np.isin(integers(events, "commit_ts"), plan.ddl_ts) & (integers(events, "delivery_no") == 0)
        copied: Flags = is_kind(events, Kind.RESOLVED) & at_ddl & is_drawn(events, plan, self.id, "commit_ts")
        return copied

    def changes(self, events: EventBatch) -> Columns:
        return {"kind_order": 1, "txn_order_key": pa.repeat(pa.scalar(b""), events.num_rows)}


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
    kafka_consumer = _RESOLVED_FALLBACK
    coverage = seen_as("island", "stale > 0 or tables > 1")

    def repeated(self, events: SegmentEvents) -> Flags:
        return events.has


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

    def delivered(self, events: SegmentEvents) -> Flags:
        """Return whether each event is a row up to the point that its partition reached.

        Resolved events are not delivered, because not all rows were acknowledged.
        """
        cut = events.plan.segments
        share = events.hashes("delivered", "partition_index") % cut.length
        start = cut.start + events.segments * cut.length
        delivered: Flags = integers(events.events, "deliver_after_ts") <= start + share
        return events.of_kind(Kind.ROW) & delivered

    def repeated(self, events: SegmentEvents) -> Flags:
        return events.has


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
    of_one_table = "table_id"
    coverage = seen_as("island", "stale = 0 and tables = 1 and of_tables > 1")

    def repeated(self, events: SegmentEvents) -> Flags:
        return events.of_moved_table(self.of_one_table)


class ResolvedFallback(SegmentTrap):
    id = "resolved-fallback"
    summary = "The resolved-ts of a partition decreases, because the owner restarts from an older checkpoint."
    profiles = ("classic",)
    issues = ("pingcap/tiflow#4730", "pingcap/tiflow#11413", "pingcap/tiflow#12096", "pingcap/tiflow#12595")
    may_report = ("INV-RESOLVED-MONO",)
    requires = "resolved events (Canal-JSON and Debezium with enable-tidb-extension=true), at least two"
    consumer_action = "Remembers the largest resolved-ts of each partition, and does not stop."
    kafka_consumer = _RESOLVED_FALLBACK
    coverage = seen_as("event", "kind = 'resolved' and commit_ts < resolved_max", needs=("resolved",))

    def repeated(self, events: SegmentEvents) -> Flags:
        return events.of_kind(Kind.RESOLVED)


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

    def delayed(self, events: SegmentEvents) -> Flags:
        """Return whether each event is a resolved event of one partition."""
        partitions = events.partitions.sizes(integers(events.events, "partition_index"))
        lagging = events.hashes("lag") % partitions
        in_partition: Flags = integers(events.events, "partition") == lagging
        return events.of_kind(Kind.RESOLVED) & in_partition


class TableLag(SegmentTrap):
    id = "table-lag"
    summary = (
        "One table is behind the others for a while, so its rows follow newer rows of other tables in their "
        "partition, and the resolved-ts of all partitions waits for it."
    )
    issues = ("pingcap/ticdc#3040",)
    may_report = ("INV-RESOLVED-STALL",)
    requires = "rows of two tables between two DDLs, in one partition"
    consumer_action = (
        "Expects a rising commit-ts for each table or key only, and stores the smallest offset of the rows "
        "that wait, not that of the oldest commit-ts."
    )
    kafka_consumer = "Survives it, because it groups rows by table (read in source)."
    without_ddl = True
    of_one_table = "table_version"
    coverage = seen_as(
        "event",
        "first_row and not replaying and commit_ts < row_max and commit_ts >= coalesce(table_max, 0)",
    )

    def delayed(self, events: SegmentEvents) -> Flags:
        """Return whether each event is a row of one table, or a resolved event, which follows all rows."""
        return events.of_moved_table(self.of_one_table) | events.of_kind(Kind.RESOLVED)


class BatchBoundaries(EditTrap):
    id = "batch-boundaries"
    summary = (
        "Messages hold between one row and max-batch-size rows (maxwell, canal: 2048), of one table or of "
        "several."
    )
    protocols = OF_SEVERAL_ROWS
    issues = ("pingcap/tiflow#1055", "pingcap/tiflow#4201", "pingcap/tiflow#1079")
    requires = "max-batch-size + 1 consecutive rows of one dispatch key"
    consumer_action = "Reads all events of a message, and does not rely on their number."
    occurrence = "a row"
    coverage = seen_as("message", "rows = 1", "rows = max_batch_size")

    def edited(self, events: EventBatch, plan: FaultPlan) -> EventBatch:
        unchanged = events.column("fault").is_null().to_numpy(zero_copy_only=False)
        hit = is_kind(events, Kind.ROW) & unchanged & is_drawn(events, plan, self.id)
        return with_private_keys(events, hit, self.id)


class RegroupedBatches(OrderTrap):
    id = "regrouped-batches"
    summary = (
        "Rows of different dispatch keys are reordered within one round of the batcher, so the commit-ts of "
        "one table decreases in a partition."
    )
    protocols = OF_SEVERAL_ROWS
    issues = ("pingcap/ticdc#5508", "pingcap/tiflow#11829")
    may_report = ("INV-ORDER-TABLE", "INV-ORDER-KEY", "INV-TXN-DELETE-FIRST")
    requires = (
        "a dispatch rule by value (index-value, columns, ts) and two rows of different keys in one partition"
    )
    consumer_action = "Sorts rows by commit-ts up to the resolved-ts before it applies them."
    kafka_consumer = (
        "Silently drops rows below the highest commit-ts that it received of their table in that partition: "
        "387 rows of the scenario ddl-mix. Newer builds sort them before they write (read in source)."
    )
    occurrence = "a round of the batcher: up to 2048 rows between two resolved or DDL events"
    coverage = seen_as("event", "first_row and commit_ts < table_max and by_value")

    def reordered(
        self, batches: Iterable[pa.RecordBatch], plan: FaultPlan, reserved: Callable[[pa.RecordBatch], Flags]
    ) -> Iterator[EventBatch]:
        return Regrouping(plan.seed, plan.rates[self.id], reserved, self.id).regrouped(batches)
