"""Legal traps: single events that are delivered once more."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ticdc_producer.faults.event_columns import Columns, integers, is_kind
from ticdc_producer.faults.event_traps import CopyTrap, drawn
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.model.event import Kind
from ticdc_producer.model.trap_coverage import seen_as
from ticdc_producer.pipeline.row_images import Flags


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

    def copied(self, events: pa.RecordBatch, plan: FaultPlan) -> Flags:
        return is_kind(events, Kind.ROW) & drawn(events, plan, self.id)


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

    def copied(self, events: pa.RecordBatch, plan: FaultPlan) -> Flags:
        return is_kind(events, Kind.DDL) & drawn(events, plan, self.id, "ddl")


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

    def copied(self, events: pa.RecordBatch, plan: FaultPlan) -> Flags:
        at_ddl = np.isin(integers(events, "commit_ts"), plan.ddl_ts) & (integers(events, "delivery_no") == 0)
        copied: Flags = is_kind(events, Kind.RESOLVED) & at_ddl & drawn(events, plan, self.id, "commit_ts")
        return copied

    def changes(self, events: pa.RecordBatch) -> Columns:
        return {"kind_order": 1, "txn_order_key": pa.repeat(pa.scalar(b""), events.num_rows)}
