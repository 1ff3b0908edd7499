"""Stage 6: injects faults into the event stream, just before it is ordered."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.faults.illegal import illegal_faults
from ticdc_producer.faults.legal import legal_faults
from ticdc_producer.faults.plan import FaultPlan
from ticdc_producer.faults.regroup import regrouped
from ticdc_producer.faults.table_facts import table_facts
from ticdc_producer.model.catalog import Catalog


@dataclass(frozen=True, slots=True)
class EventFaults:
    """Injects the faults of a plan into an event stream.

    :param catalog: without the tables that ``with_drifted`` adds.
    :param partitions: number of partitions of a topic.
    :param illegal: whether to inject illegal faults; without them the result is a stream that TiCDC might
        send.
    """

    plan: FaultPlan
    catalog: Catalog
    partitions: int
    illegal: bool = True

    def __call__(self, events: DataFrame) -> DataFrame:
        """The events with faults, unordered. Removed events remain, with the kind ``illegal.DROPPED``.

        :param events: shape ``EVENT_STREAM``, in any order.
        """
        plan, columns = self.plan, events.columns
        segmented = events.withColumn("segment", plan.segments.number(F.col("deliver_after_ts")))
        reserved = F.col("segment").isin(sorted(plan.reserved))
        unreserved = segmented.where(~reserved) if plan.reserved else segmented
        faulty = legal_faults(unreserved, plan, self.partitions)
        if "regrouped-batches" in plan.rates:
            faulty = regrouped(faulty, plan.seed, plan.rates["regrouped-batches"])
        if not plan.reserved:
            return faulty.select(*columns)
        in_reserved = segmented.where(reserved)
        if plan.repeats:
            in_reserved = in_reserved.withColumn("restart_epoch", (F.col("segment") * 2).cast("int"))
        if self.illegal:
            facts = table_facts(events.sparkSession, self.catalog)
            in_reserved = illegal_faults(in_reserved, plan, facts, self.partitions)
        return faulty.select(*columns).unionByName(in_reserved.select(*columns))
