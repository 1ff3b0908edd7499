"""Legal traps of messages with several rows: how rows are divided into messages, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from ticdc_producer.faults.event_columns import is_kind
from ticdc_producer.faults.event_traps import EditTrap, OrderTrap, drawn
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.regroup import Regrouping, with_private_keys
from ticdc_producer.model.event import Kind
from ticdc_producer.model.trap_coverage import seen_as
from ticdc_producer.pipeline.row_images import Flags


class BatchBoundaries(EditTrap):
    id = "batch-boundaries"
    summary = "Messages hold between one row and max-batch-size rows, of one table or of several."
    protocols = ("open-protocol", "craft")
    issues = ("pingcap/tiflow#1055", "pingcap/tiflow#4201", "pingcap/tiflow#1079")
    requires = "max-batch-size + 1 consecutive rows of one dispatch key"
    consumer_action = "Reads all events of a message, and does not rely on their number."
    occurrence = "a row"
    coverage = seen_as("message", "rows = 1", "rows = max_batch_size")

    def edited(self, events: pa.RecordBatch, plan: FaultPlan) -> pa.RecordBatch:
        unchanged = events.column("fault").is_null().to_numpy(zero_copy_only=False)
        hit = is_kind(events, Kind.ROW) & unchanged & drawn(events, plan, self.id)
        return with_private_keys(events, hit, self.id)


class RegroupedBatches(OrderTrap):
    id = "regrouped-batches"
    summary = (
        "Rows of different dispatch keys are reordered within one round of the batcher, so the commit-ts of "
        "one table decreases in a partition."
    )
    protocols = ("open-protocol", "craft")
    issues = ("pingcap/ticdc#5508", "pingcap/tiflow#11829")
    may_report = ("INV-ORDER-TABLE", "INV-ORDER-KEY", "INV-TXN-DELETE-FIRST")
    requires = (
        "a dispatch rule by value (index-value, columns, ts) and two rows of different keys in one partition"
    )
    consumer_action = "Sorts rows by commit-ts up to the resolved-ts before it applies them."
    kafka_consumer = (
        "Silently drops rows below the highest commit-ts that it received of their table in that partition: "
        "387 rows of the scenario ddl-mix."
    )
    occurrence = "a round of the batcher: up to 2048 rows between two resolved or DDL events"
    coverage = seen_as("event", "first_row and commit_ts < table_max and by_value")

    def reordered(
        self, batches: Iterable[pa.RecordBatch], plan: FaultPlan, reserved: Callable[[pa.RecordBatch], Flags]
    ) -> Iterator[pa.RecordBatch]:
        return Regrouping(plan.seed, plan.rates[self.id], reserved, self.id).regrouped(batches)
