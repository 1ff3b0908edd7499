"""Legal faults: what TiCDC does after a restart, a retry or a move of tables (docs/stream-semantics.md §9).

This stage rewrites the delivery key and never a commit-ts. What a restart repeats has a restart epoch of
its own, after the segment that it repeats: the events of segment n are in epoch 2n, their repetitions in
epoch 2n + 1. The checkpoint to which a restart returns is the beginning of the segment.
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.faults.plan import SEGMENT_FAULTS, WITHOUT_DDL, FaultPlan
from ticdc_producer.faults.seeded_hash import seeded_hash, threshold
from ticdc_producer.model.event import Kind

_DUPLICATE = 2
"""Added to ``delivery_no`` of a duplicate; 1 is the repetition after a restart."""
_ONE_TABLE = "replay-one-table"
_KEY = ("restart_epoch", "deliver_after_ts", "kind_order", "txn_order_key", "delivery_no", "fault")


def legal_faults(events: DataFrame, plan: FaultPlan, partitions: int) -> DataFrame:
    """The event stream with its legal faults.

    :param events: the event stream in any order, with ``segment``, without the segments that are reserved for
        illegal faults.
    :param partitions: number of partitions of a topic.
    """
    if plan.repeats:
        events = _with_restarts(events, plan, partitions)
    events = _with_duplicates(events, plan)
    return _with_batch_boundaries(events, plan)


def _with_restarts(events: DataFrame, plan: FaultPlan, partitions: int) -> DataFrame:
    """Put events into the restart epochs of their segments, and repeat what a restart repeats."""
    assigned = _with_moved_table(events.withColumn("segment_fault", _segment_fault(plan)), plan)
    segment = F.col("segment")
    lags = _lags(plan, partitions)
    first = F.struct(
        (segment * 2).cast("int").alias("restart_epoch"),
        F.when(lags, plan.segments.end(segment))
        .otherwise(F.col("deliver_after_ts"))
        .alias("deliver_after_ts"),
        "kind_order",
        "txn_order_key",
        F.lit(0).alias("delivery_no"),
        F.when(lags, F.col("segment_fault")).alias("fault"),
    )
    second = F.struct(
        (segment * 2 + 1).cast("int").alias("restart_epoch"),
        "deliver_after_ts",
        "kind_order",
        "txn_order_key",
        F.lit(1).alias("delivery_no"),
        F.col("segment_fault").alias("fault"),
    )
    deliveries = F.array(F.when(_delivered(plan), first), F.when(_repeated(), second))
    others = [name for name in events.columns if name not in _KEY]
    return assigned.select(*others, F.inline(F.array_compact(deliveries)))


def _segment_fault(plan: FaultPlan) -> Column:
    """The id of the trap that a segment has; NULL for none."""
    segment = F.col("segment")
    with_rate = [name for name in reversed(SEGMENT_FAULTS) if name in plan.rates]
    value, fault = seeded_hash(plan.seed, "again", segment), F.lit(None).cast("string")
    limits = list(zip(with_rate, accumulate(plan.rates[name] for name in with_rate), strict=True))
    for name, limit in reversed(limits):
        excluded = F.lit(False)
        if name in WITHOUT_DDL:
            excluded = segment.isin(sorted(plan.ddl_segments))
        fault = F.when((value < threshold(limit)) & ~excluded, name).otherwise(fault)
    for name in sorted(set(plan.fixed.values())):
        segments = sorted(number for number, fixed in plan.fixed.items() if fixed == name)
        fault = F.when(segment.isin(segments), name).otherwise(fault)
    return fault


def _is(*kinds: Kind) -> Column:
    return reduce(lambda one, other: one | other, [F.col("kind") == int(kind) for kind in kinds])


def _lags(plan: FaultPlan, partitions: int) -> Column:
    """Whether a resolved event is delayed: those of one partition in a segment with resolved-lag."""
    lagging = F.pmod(seeded_hash(plan.seed, "lag", F.col("segment")), F.lit(partitions))
    in_partition = F.col("partition") == lagging
    return F.col("segment_fault").eqNullSafe("resolved-lag") & _is(Kind.RESOLVED) & in_partition


def _delivered(plan: FaultPlan) -> Column:
    """Whether an event is delivered before the restart.

    With replay-partial, rows are delivered up to the point that their partition reached, and no resolved
    event is, because not all rows were acknowledged.
    """
    partial = F.col("segment_fault").eqNullSafe("replay-partial")
    share = F.pmod(
        seeded_hash(plan.seed, "delivered", F.col("partition_index"), F.col("segment")),
        F.lit(plan.segments.length),
    )
    start = F.lit(plan.segments.start) + F.col("segment") * plan.segments.length
    reached = F.col("deliver_after_ts") <= start + share
    return ~partial | (_is(Kind.ROW) & reached)


def _with_moved_table(assigned: DataFrame, plan: FaultPlan) -> DataFrame:
    """Add ``moved``: the table that moves to another node in a segment, one of those that have rows in it."""
    if _ONE_TABLE not in {*plan.rates, *plan.fixed.values()}:
        return assigned.withColumn("moved", F.lit(None).cast("long"))
    table_hash = seeded_hash(plan.seed, "table", F.col("segment"), F.col("table_id"))
    rows = assigned.where(_is(Kind.ROW) & F.col("segment_fault").eqNullSafe(_ONE_TABLE))
    moved = rows.groupBy("segment").agg(F.min_by("table_id", table_hash).alias("moved"))
    return assigned.join(F.broadcast(moved), "segment", "left")


def _repeated() -> Column:
    """Whether an event is delivered again after the restart."""
    fault, is_resolved = F.col("segment_fault"), _is(Kind.RESOLVED)
    moved = _is(Kind.ROW) & F.col("table_id").eqNullSafe(F.col("moved"))
    return (
        F.when(fault.isin("replay-suffix", "replay-partial"), F.lit(True))
        .when(fault == _ONE_TABLE, moved)
        .when(fault == "resolved-fallback", is_resolved)
        .otherwise(F.lit(False))
    )


def _with_duplicates(events: DataFrame, plan: FaultPlan) -> DataFrame:
    """Repeat single events: a retry follows its first delivery; a resolved event also precedes its DDL."""
    duplicates: list[Column] = []
    if "duplicate-event" in plan.rates:
        value = seeded_hash(
            plan.seed,
            "duplicate-event",
            F.col("partition_index"),
            F.col("commit_ts"),
            F.col("txn_order_key"),
        )
        hit = _is(Kind.ROW) & (value < threshold(plan.rates["duplicate-event"]))
        duplicates.append(F.when(hit, _duplicate("duplicate-event")))
    if "duplicate-ddl" in plan.rates:
        value = seeded_hash(plan.seed, "duplicate-ddl", F.col("ddl"))
        hit = _is(Kind.DDL) & (value < threshold(plan.rates["duplicate-ddl"]))
        duplicates.append(F.when(hit, _duplicate("duplicate-ddl")))
    if "ddl-at-resolved-ts" in plan.rates and plan.ddl_ts:
        value = seeded_hash(plan.seed, "ddl-at-resolved-ts", F.col("commit_ts"))
        at_ddl = _is(Kind.RESOLVED) & F.col("commit_ts").isin(list(plan.ddl_ts)) & (F.col("delivery_no") == 0)
        hit = at_ddl & (value < threshold(plan.rates["ddl-at-resolved-ts"]))
        before_ddl = _duplicate("ddl-at-resolved-ts", kind_order=F.lit(1), txn_order_key=F.lit(b""))
        duplicates.append(F.when(hit, before_ddl))
    if not duplicates:
        return events
    once = F.struct(*_KEY)
    others = [name for name in events.columns if name not in _KEY]
    return events.select(*others, F.inline(F.array_compact(F.array(once, *duplicates))))


def _duplicate(name: str, *, kind_order: Column | None = None, txn_order_key: Column | None = None) -> Column:
    return F.struct(
        "restart_epoch",
        "deliver_after_ts",
        (F.col("kind_order") if kind_order is None else kind_order.cast("byte")).alias("kind_order"),
        (F.col("txn_order_key") if txn_order_key is None else txn_order_key).alias("txn_order_key"),
        (F.col("delivery_no") + _DUPLICATE).alias("delivery_no"),
        F.lit(name).alias("fault"),
    )


def _with_batch_boundaries(events: DataFrame, plan: FaultPlan) -> DataFrame:
    """Give some rows a unique dispatch key: the batcher groups by it, so each gets its own message."""
    if "batch-boundaries" not in plan.rates:
        return events
    value = seeded_hash(
        plan.seed, "batch-boundaries", F.col("partition_index"), F.col("commit_ts"), F.col("txn_order_key")
    )
    hit = _is(Kind.ROW) & (value < threshold(plan.rates["batch-boundaries"])) & F.col("fault").isNull()
    unique_key = F.concat(F.coalesce("dispatch_key", F.lit("")), F.lit("#"), F.hex("txn_order_key"))
    return events.withColumns(
        {
            "dispatch_key": F.when(hit, unique_key).otherwise(F.col("dispatch_key")),
            "fault": F.when(hit, "batch-boundaries").otherwise(F.col("fault")),
        }
    )
