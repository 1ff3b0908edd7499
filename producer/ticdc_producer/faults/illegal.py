"""Illegal faults in the event stream: what TiCDC never does, once in each place that the plan names.

All of them look at the few events of their own stretches. Each fault has a condition that an event must meet
and an edit; of the events that meet it one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from ticdc_producer.faults.chance import drawn
from ticdc_producer.faults.plan import FaultPlan
from ticdc_producer.faults.table_facts import TableFacts
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.model.event import Kind, Op

DROPPED = 0
"""``kind`` of an event that a fault took away: it marks the place, and is not sent."""
_BEHIND = 100
_TABLE_AND_KINDS = 10
"""Bytes of ``place`` before the row key: table id, and the order of kinds twice."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """:param fits: which events it may happen to; ``changes`` are their new columns.
    :param adds: whether the changed event comes beside the event, not instead of it.
    :param several: whether it takes another partition to see it.
    """

    fits: Column
    changes: Mapping[str, Column]
    adds: bool = False
    several: bool = False


def illegal_faults(events: DataFrame, plan: FaultPlan, facts: TableFacts, partitions: int) -> DataFrame:
    """The events of illegal faults' stretches with one changed for each fault; those taken away stay as
    ``DROPPED``.

    :param events: event stream in any order with ``stretch``, of those stretches alone.
    :param partitions: of a topic.
    """
    spark = events.sparkSession
    owners = [(place, one.trap, one.number) for one in plan.single for place in one.stretches]
    owned = spark.createDataFrame(owners, "stretch long, trap string, number int")
    joined = (
        events.join(F.broadcast(owned), "stretch")
        .join(F.broadcast(facts.tables), "table_version", "left")
        .join(F.broadcast(facts.ddls), "ddl", "left")
        .withColumns({"table_name": F.coalesce("table_name", "ddl_table"), "partitions": F.lit(partitions)})
    )
    seen = _with_neighbours(joined)
    edits = {one.trap: _EDITS[one.trap]() for one in plan.single if one.trap in _EDITS}
    drawn_one = _picked(seen, edits, plan.seed)
    return _edited(drawn_one, edits, events.columns)


def _with_neighbours(events: DataFrame) -> DataFrame:
    """Adds what edits must know of the events before and behind in the same partition."""
    row = F.col("kind") == Kind.ROW
    image = F.when(F.col("op") == Op.DELETE, F.col("before")).otherwise(F.col("after"))
    keyed = events.withColumns(
        {
            "row_key": F.when(row, F.transform("handle_places", lambda place: F.get(image, place))),
            "pair": F.when(row, F.expr(f"substring(place, {_TABLE_AND_KINDS + 1})")),
        }
    )
    own = Window.partitionBy("trap", "number", "slot")
    by_key = own.partitionBy("trap", "number", "slot", "table_id", "row_key").orderBy(*DELIVERY_KEY)
    earlier = _before(own.partitionBy("trap", "number", "slot"))
    earlier_in_table = _before(own.partitionBy("trap", "number", "slot", "table_name"))
    deleted = F.max(F.when(F.col("op") == Op.DELETE, F.col("before"))).over(_one_update())
    return keyed.withColumns(
        {
            "next": F.lead(F.struct("epoch", "at", "rank", "place")).over(by_key),
            "row_at": F.max(F.when(row, F.struct("at", "epoch"))).over(earlier),
            "own_row_at": F.max(F.when(row, F.struct("at", "epoch"))).over(earlier_in_table),
            "again": F.lead("commit_ts").over(
                own.partitionBy("trap", "number", "slot", "kind").orderBy("at")
            ),
            "deleted": F.when(_half(), deleted),
        }
    )


def _before(group: WindowSpec) -> WindowSpec:
    return group.orderBy("at").rangeBetween(Window.unboundedPreceding, -1)


def _one_update() -> WindowSpec:
    """The two halves of an update that was split."""
    return Window.partitionBy("trap", "number", "commit_ts", "table_id", "pair")


def _half() -> Column:
    """Whether a row is the delete or the insert of one update; ``split`` wrote so into ``place``."""
    was_update = F.expr(f"substring(place, {_TABLE_AND_KINDS}, 1) = X'01'")
    return (F.col("kind") == Kind.ROW) & (F.col("op") != Op.UPDATE) & was_update


def _row(*ops: Op) -> Column:
    return (F.col("kind") == Kind.ROW) & F.col("op").isin([int(op) for op in ops or Op])


def _differs() -> Column:
    """Whether an update changes a column that is in no index."""
    return F.exists("loose_places", lambda place: ~F.get("before", place).eqNullSafe(F.get("after", place)))


def _taken_away(fits: Column, *, several: bool = False) -> _Edit:
    return _Edit(fits, {"kind": F.lit(DROPPED)}, several=several)


def _to_front(kind: Kind, row: str) -> _Edit:
    """In front of all rows of an earlier commit."""
    place = {"at": F.col(row)["at"], "epoch": F.col(row)["epoch"], "rank": F.lit(-1), "place": F.lit(b"")}
    return _Edit((F.col("kind") == kind) & F.col(row).isNotNull(), place)


def _reordered_key() -> _Edit:
    behind = {name: F.col("next")[name] for name in ("epoch", "at", "rank", "place")}
    later = F.col("next").isNotNull() & (F.col("next")["at"] > F.col("at"))
    return _Edit(_row() & (F.size("row_key") > 0) & later, {**behind, "copy": F.lit(_BEHIND)})


def _wrong_partition() -> _Edit:
    other = F.pmod(F.col("partition") + 1, F.col("partitions"))
    moved = {"partition": other, "slot": F.col("slot") - F.col("partition") + other}
    return _Edit(_row(), moved, several=True)


def _changed_duplicate() -> _Edit:
    return _Edit(_row(Op.UPDATE) & _differs(), {"after": F.col("before"), "copy": F.lit(_BEHIND)}, adds=True)


def _uncollapsed() -> _Edit:
    update = {"op": F.lit(int(Op.UPDATE)), "before": F.col("after"), "copy": F.lit(_BEHIND)}
    return _Edit(_row(Op.INSERT) & ~_half(), update, adds=True)


def _unsplit() -> _Edit:
    update = {"op": F.lit(int(Op.UPDATE)), "before": F.col("deleted")}
    return _Edit(_row(Op.INSERT) & F.col("deleted").isNotNull(), update)


_EDITS: Mapping[str, Callable[[], _Edit]] = {
    "lost-row": lambda: _taken_away(_row()),
    "reordered-key": _reordered_key,
    "wrong-partition": _wrong_partition,
    "early-resolved": lambda: _to_front(Kind.RESOLVED, "row_at"),
    # A later resolved event shows that the partition did not just end.
    "missing-resolved": lambda: _taken_away(
        (F.col("kind") == Kind.RESOLVED) & F.col("again").isNotNull(), several=True
    ),
    "missing-ddl": lambda: _taken_away(F.col("kind") == Kind.DDL, several=True),
    "ddl-before-its-rows": lambda: _to_front(Kind.DDL, "own_row_at"),
    "changed-duplicate": _changed_duplicate,
    "stale-before-image": lambda: _Edit(_row(Op.UPDATE) & _differs(), {"before": F.col("after")}),
    "uncollapsed": _uncollapsed,
    "unsplit": _unsplit,
    "schema-drift": lambda: _Edit(_row() & F.col("drifted").isNotNull(), {"table_version": F.col("drifted")}),
}


def _picked(events: DataFrame, edits: Mapping[str, _Edit], seed: int) -> DataFrame:
    """Adds ``hit``: whether it is this event; ``partner_hit``: whether the other half of its update is."""
    fits = F.lit(False)
    for name, edit in edits.items():
        enough = F.col("partitions") > (1 if edit.several else 0)
        fits = F.when(F.col("trap") == name, edit.fits & enough).otherwise(fits)
    draw = drawn(seed, "illegal", F.col("trap"), F.col("number"), F.col("slot"), F.col("at"), F.col("place"))
    fitting = events.withColumn("fits", F.coalesce(fits, F.lit(False)))
    in_turn = Window.partitionBy("trap", "number", "fits").orderBy(draw, *DELIVERY_KEY)
    hit = fitting.withColumn("hit", F.col("fits") & (F.row_number().over(in_turn) == 1))
    partner = (F.col("trap") == "unsplit") & _half() & (F.col("op") == Op.DELETE)
    return hit.withColumn("partner_hit", partner & F.max("hit").over(_one_update()))


def _edited(events: DataFrame, edits: Mapping[str, _Edit], columns: list[str]) -> DataFrame:
    """The events with the edits of those that are hit."""
    types = {name: events.schema[name].dataType for name in columns}

    def changed(name: str) -> Column:
        value = (
            F.when(F.col("partner_hit"), DROPPED).otherwise(F.col(name)) if name == "kind" else F.col(name)
        )
        for trap, edit in edits.items():
            if name in edit.changes:
                here = F.col("hit") & (F.col("trap") == trap)
                value = F.when(here, edit.changes[name].cast(types[name])).otherwise(value)
        if name == "fault":
            value = F.when(F.col("hit") | F.col("partner_hit"), F.col("trap")).otherwise(value)
        return value.cast(types[name]).alias(name)

    adding = [name for name, edit in edits.items() if edit.adds]
    added = F.col("hit") & F.col("trap").isin(adding)
    kept = F.when(added, F.struct(*columns))
    copies = F.array_compact(F.array(F.struct(*map(changed, columns)), kept))
    return events.select(F.inline(copies))
