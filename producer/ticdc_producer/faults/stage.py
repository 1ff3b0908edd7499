"""Stage 6: the event stream with its faults, just before it is ordered."""

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
    """Puts the faults of a plan into an event stream.

    :param catalog: without drifted tables.
    :param partitions: of a topic.
    :param illegal: whether illegal faults happen; without them it is the stream that TiCDC would send.
    """

    plan: FaultPlan
    catalog: Catalog
    partitions: int
    illegal: bool = True

    def __call__(self, events: DataFrame) -> DataFrame:
        """The events with faults in any order; what a fault took away is there as ``illegal.DROPPED``.

        :param events: shape ``EVENT_STREAM``, in any order.
        """
        plan, columns = self.plan, events.columns
        laid = events.withColumn("stretch", plan.stretches.number(F.col("at")))
        taken = F.col("stretch").isin(sorted(plan.taken))
        faulty = legal_faults(laid.where(~taken) if plan.taken else laid, plan, self.partitions)
        if "regrouped-batches" in plan.rates:
            faulty = regrouped(faulty, plan.seed, plan.rates["regrouped-batches"])
        if not plan.taken:
            return faulty.select(*columns)
        single = laid.where(taken)
        if plan.repeats:
            single = single.withColumn("epoch", (F.col("stretch") * 2).cast("int"))
        if self.illegal:
            facts = table_facts(events.sparkSession, self.catalog)
            single = illegal_faults(single, plan, facts, self.partitions)
        return faulty.select(*columns).unionByName(single.select(*columns))
