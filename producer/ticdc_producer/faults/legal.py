"""Legal faults: what TiCDC does after a restart, a retry or a move of tables (stream-semantics §9).

A stage that rewrites the delivery key and never a commit-ts. Whatever a restart repeats comes in an epoch of
its own, behind the stretch that it repeats: all events of stretch n are in epoch 2n, what is delivered
again in 2n + 1. The checkpoint that a restart goes back to is the beginning of the stretch.
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.faults.chance import below, drawn
from ticdc_producer.faults.plan import AGAIN, WITHOUT_DDL, FaultPlan
from ticdc_producer.model.event import Kind

_LATE = 2
_ONE_TABLE = "replay-one-table"
_KEY = ("epoch", "at", "rank", "place", "copy", "fault")


def legal_faults(events: DataFrame, plan: FaultPlan, partitions: int) -> DataFrame:
    """The event stream with its legal faults.

    :param events: the event stream in any order, with ``stretch``; nothing of stretches that illegal faults
        have for themselves.
    :param partitions: of a topic.
    """
    if plan.repeats:
        events = _laid_out(events, plan, partitions)
    events = _said_twice(events, plan)
    return _cut(events, plan)


def _laid_out(events: DataFrame, plan: FaultPlan, partitions: int) -> DataFrame:
    """Events in the epochs of their stretches, and again where a restart repeats them."""
    owned = _with_moved(events.withColumn("again", _owner(plan)), plan)
    stretch = F.col("stretch")
    lags = _lags(plan, partitions)
    first = F.struct(
        (stretch * 2).cast("int").alias("epoch"),
        F.when(lags, plan.stretches.end(stretch)).otherwise(F.col("at")).alias("at"),
        "rank",
        "place",
        F.lit(0).alias("copy"),
        F.when(lags, F.col("again")).alias("fault"),
    )
    second = F.struct(
        (stretch * 2 + 1).cast("int").alias("epoch"),
        "at",
        "rank",
        "place",
        F.lit(1).alias("copy"),
        F.col("again").alias("fault"),
    )
    copies = F.array(F.when(_delivered(plan), first), F.when(_repeated(), second))
    others = [name for name in events.columns if name not in _KEY]
    return owned.select(*others, F.inline(F.array_compact(copies)))


def _owner(plan: FaultPlan) -> Column:
    """The fault that a stretch has, NULL for none."""
    stretch = F.col("stretch")
    with_rate = [name for name in reversed(AGAIN) if name in plan.rates]
    draw, owner = drawn(plan.seed, "again", stretch), F.lit(None).cast("string")
    limits = list(zip(with_rate, accumulate(plan.rates[name] for name in with_rate), strict=True))
    for name, limit in reversed(limits):
        barred = F.lit(False)
        if name in WITHOUT_DDL:
            barred = stretch.isin(sorted(plan.ddl_stretches))
        owner = F.when((draw < below(limit)) & ~barred, name).otherwise(owner)
    for name in sorted(set(plan.chosen.values())):
        places = sorted(place for place, chosen in plan.chosen.items() if chosen == name)
        owner = F.when(stretch.isin(places), name).otherwise(owner)
    return owner


def _is(*kinds: Kind) -> Column:
    return reduce(lambda one, other: one | other, [F.col("kind") == int(kind) for kind in kinds])


def _lags(plan: FaultPlan, partitions: int) -> Column:
    """Whether a resolved event comes late: of one partition in the stretch."""
    lagging = F.col("partition") == F.pmod(drawn(plan.seed, "lag", F.col("stretch")), F.lit(partitions))
    return F.col("again").eqNullSafe("resolved-lag") & _is(Kind.RESOLVED) & lagging


def _delivered(plan: FaultPlan) -> Column:
    """Whether an event comes before the restart: after a partial delivery rows do up to where their partition
    got, and no resolved event, since not all rows were acknowledged.
    """
    part = F.col("again").eqNullSafe("replay-partial")
    share = F.pmod(
        drawn(plan.seed, "delivered", F.col("slot"), F.col("stretch")), F.lit(plan.stretches.length)
    )
    reached = F.col("at") <= F.lit(plan.stretches.start) + F.col("stretch") * plan.stretches.length + share
    return ~part | (_is(Kind.ROW) & reached)


def _with_moved(owned: DataFrame, plan: FaultPlan) -> DataFrame:
    """With ``moved``, the table that is handed over in a stretch: one of those that have rows there."""
    if _ONE_TABLE not in {*plan.rates, *plan.chosen.values()}:
        return owned.withColumn("moved", F.lit(None).cast("long"))
    chance = drawn(plan.seed, "table", F.col("stretch"), F.col("table_id"))
    rows = owned.where(_is(Kind.ROW) & F.col("again").eqNullSafe(_ONE_TABLE))
    moved = rows.groupBy("stretch").agg(F.min_by("table_id", chance).alias("moved"))
    return owned.join(F.broadcast(moved), "stretch", "left")


def _repeated() -> Column:
    """Whether an event comes again behind the restart."""
    again, kind_resolved = F.col("again"), _is(Kind.RESOLVED)
    moved = _is(Kind.ROW) & F.col("table_id").eqNullSafe(F.col("moved"))
    return (
        F.when(again.isin("replay-suffix", "replay-partial"), F.lit(True))
        .when(again == _ONE_TABLE, moved)
        .when(again == "resolved-fallback", kind_resolved)
        .otherwise(F.lit(False))
    )


def _said_twice(events: DataFrame, plan: FaultPlan) -> DataFrame:
    """Single events that come twice: a retry right behind the first, a resolved event before its DDL too."""
    twins: list[Column] = []
    if "duplicate-event" in plan.rates:
        chance = drawn(plan.seed, "duplicate-event", F.col("slot"), F.col("commit_ts"), F.col("place"))
        hit = _is(Kind.ROW) & (chance < below(plan.rates["duplicate-event"]))
        twins.append(F.when(hit, _twin("duplicate-event")))
    if "duplicate-ddl" in plan.rates:
        chance = drawn(plan.seed, "duplicate-ddl", F.col("ddl"))
        twins.append(
            F.when(_is(Kind.DDL) & (chance < below(plan.rates["duplicate-ddl"])), _twin("duplicate-ddl"))
        )
    if "ddl-at-resolved-ts" in plan.rates and plan.ddl_ts:
        chance = drawn(plan.seed, "ddl-at-resolved-ts", F.col("commit_ts"))
        at_ddl = _is(Kind.RESOLVED) & F.col("commit_ts").isin(list(plan.ddl_ts)) & (F.col("copy") == 0)
        hit = at_ddl & (chance < below(plan.rates["ddl-at-resolved-ts"]))
        twins.append(F.when(hit, _twin("ddl-at-resolved-ts", rank=F.lit(1), place=F.lit(b""))))
    if not twins:
        return events
    once = F.struct(*_KEY)
    others = [name for name in events.columns if name not in _KEY]
    return events.select(*others, F.inline(F.array_compact(F.array(once, *twins))))


def _twin(name: str, *, rank: Column | None = None, place: Column | None = None) -> Column:
    return F.struct(
        "epoch",
        "at",
        (F.col("rank") if rank is None else rank.cast("byte")).alias("rank"),
        (F.col("place") if place is None else place).alias("place"),
        (F.col("copy") + _LATE).alias("copy"),
        F.lit(name).alias("fault"),
    )


def _cut(events: DataFrame, plan: FaultPlan) -> DataFrame:
    """Rows alone in their message: the batcher groups by dispatch key, so they get one of their own."""
    if "batch-boundaries" not in plan.rates:
        return events
    chance = drawn(plan.seed, "batch-boundaries", F.col("slot"), F.col("commit_ts"), F.col("place"))
    hit = _is(Kind.ROW) & (chance < below(plan.rates["batch-boundaries"])) & F.col("fault").isNull()
    alone = F.concat(F.coalesce("dispatch_key", F.lit("")), F.lit("#"), F.hex("place"))
    return events.withColumns(
        {
            "dispatch_key": F.when(hit, alone).otherwise(F.col("dispatch_key")),
            "fault": F.when(hit, "batch-boundaries").otherwise(F.col("fault")),
        }
    )
