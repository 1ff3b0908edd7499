"""Illegal faults in the event stream: defects that TiCDC must never produce.

Only the events of the segments that the plan reserves for them are looked at. Each fault has a condition
that an event must meet and an edit; one of the events that meet it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from ticdc_producer.faults.plan import FaultPlan
from ticdc_producer.faults.seeded_hash import seeded_hash
from ticdc_producer.faults.table_facts import TableFacts
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.model.event import Kind, Op

DROPPED = 0
"""``kind`` of an event that a fault removed: the row marks the position and is not sent."""
_AFTER_ORIGINAL = 100
"""``delivery_no`` that sorts an event directly after the one whose delivery key it copies."""
_TABLE_AND_KINDS = 10
"""Bytes of ``txn_order_key`` before the row key: table id (8), kind order after and before the split."""
_POSITION = ("restart_epoch", "deliver_after_ts", "kind_order", "txn_order_key")


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an illegal fault changes.

    :param fits: condition on the event.
    :param changes: new values of columns.
    :param adds: whether the changed event is added after the original instead of replacing it.
    :param several: whether the topic needs several partitions for the fault to be visible.
    """

    fits: Column
    changes: Mapping[str, Column]
    adds: bool = False
    several: bool = False


def illegal_faults(events: DataFrame, plan: FaultPlan, facts: TableFacts, partitions: int) -> DataFrame:
    """Inject each illegal fault into one event of its segments.

    Removed events remain, with the kind ``DROPPED``.

    :param events: the event stream in any order with ``segment``, limited to the reserved segments.
    :param partitions: number of partitions of a topic.
    """
    spark = events.sparkSession
    reserved = [(number, one.trap, one.number) for one in plan.illegal for number in one.segments]
    owners = spark.createDataFrame(reserved, "segment long, trap string, number int")
    joined = (
        events.join(F.broadcast(owners), "segment")
        .join(F.broadcast(facts.tables), "table_version", "left")
        .join(F.broadcast(facts.ddls), "ddl", "left")
        .withColumns({"table_name": F.coalesce("table_name", "ddl_table"), "partitions": F.lit(partitions)})
    )
    edits = {one.trap: _EDITS[one.trap]() for one in plan.illegal if one.trap in _EDITS}
    return _edited(_drawn(_with_neighbours(joined), edits, plan.seed), edits, events.columns)


def _with_neighbours(events: DataFrame) -> DataFrame:
    """Add what the edits need to know of the events before and after in the same partition."""
    row = F.col("kind") == Kind.ROW
    image = F.when(F.col("op") == Op.DELETE, F.col("before")).otherwise(F.col("after"))
    keyed = events.withColumns(
        {
            "row_key": F.when(row, F.transform("handle_indexes", lambda number: F.get(image, number))),
            "pair": F.when(row, F.expr(f"substring(txn_order_key, {_TABLE_AND_KINDS + 1})")),
        }
    )
    own = Window.partitionBy("trap", "number", "partition_index")
    by_key = own.partitionBy("trap", "number", "partition_index", "table_id", "row_key").orderBy(
        *DELIVERY_KEY
    )
    earlier = _before(own.partitionBy("trap", "number", "partition_index"))
    earlier_in_table = _before(own.partitionBy("trap", "number", "partition_index", "table_name"))
    by_kind = own.partitionBy("trap", "number", "partition_index", "kind").orderBy("deliver_after_ts")
    row_position = F.when(row, F.struct("deliver_after_ts", "restart_epoch"))
    deleted = F.max(F.when(F.col("op") == Op.DELETE, F.col("before"))).over(_one_update())
    return keyed.withColumns(
        {
            "next": F.lead(F.struct(*_POSITION)).over(by_key),
            "row_before": F.max(row_position).over(earlier),
            "table_row_before": F.max(row_position).over(earlier_in_table),
            "next_of_kind": F.lead("commit_ts").over(by_kind),
            "deleted": F.when(_is_split_half(), deleted),
        }
    )


def _before(group: WindowSpec) -> WindowSpec:
    return group.orderBy("deliver_after_ts").rangeBetween(Window.unboundedPreceding, -1)


def _one_update() -> WindowSpec:
    """The two halves of an update that was split."""
    return Window.partitionBy("trap", "number", "commit_ts", "table_id", "pair")


def _is_split_half() -> Column:
    """Whether a row is one half of a split update, which ``split`` encodes in ``txn_order_key``."""
    was_update = F.expr(f"substring(txn_order_key, {_TABLE_AND_KINDS}, 1) = X'01'")
    return (F.col("kind") == Kind.ROW) & (F.col("op") != Op.UPDATE) & was_update


def _row(*ops: Op) -> Column:
    return (F.col("kind") == Kind.ROW) & F.col("op").isin([int(op) for op in ops or Op])


def _differs() -> Column:
    """Whether an update changes a column that is in no index."""
    return F.exists("unindexed", lambda number: ~F.get("before", number).eqNullSafe(F.get("after", number)))


def _removal(fits: Column, *, several: bool = False) -> _Edit:
    return _Edit(fits, {"kind": F.lit(DROPPED)}, several=several)


def _moved_before(kind: Kind, row: str) -> _Edit:
    """Move a DDL or resolved event before all rows of an earlier commit."""
    position = {
        "deliver_after_ts": F.col(row)["deliver_after_ts"],
        "restart_epoch": F.col(row)["restart_epoch"],
        "kind_order": F.lit(-1),
        "txn_order_key": F.lit(b""),
    }
    return _Edit((F.col("kind") == kind) & F.col(row).isNotNull(), position)


def _reordered_key() -> _Edit:
    after_next = {name: F.col("next")[name] for name in _POSITION}
    later = F.col("next").isNotNull() & (F.col("next")["deliver_after_ts"] > F.col("deliver_after_ts"))
    fits = _row() & (F.size("row_key") > 0) & later
    return _Edit(fits, {**after_next, "delivery_no": F.lit(_AFTER_ORIGINAL)})


def _wrong_partition() -> _Edit:
    other = F.pmod(F.col("partition") + 1, F.col("partitions"))
    moved = {
        "partition": other,
        "partition_index": F.col("partition_index") - F.col("partition") + other,
    }
    return _Edit(_row(), moved, several=True)


def _changed_duplicate() -> _Edit:
    changes = {"after": F.col("before"), "delivery_no": F.lit(_AFTER_ORIGINAL)}
    return _Edit(_row(Op.UPDATE) & _differs(), changes, adds=True)


def _uncollapsed() -> _Edit:
    update = {
        "op": F.lit(int(Op.UPDATE)),
        "before": F.col("after"),
        "delivery_no": F.lit(_AFTER_ORIGINAL),
    }
    return _Edit(_row(Op.INSERT) & ~_is_split_half(), update, adds=True)


def _unsplit() -> _Edit:
    update = {"op": F.lit(int(Op.UPDATE)), "before": F.col("deleted")}
    return _Edit(_row(Op.INSERT) & F.col("deleted").isNotNull(), update)


_EDITS: Mapping[str, Callable[[], _Edit]] = {
    "lost-row": lambda: _removal(_row()),
    "reordered-key": _reordered_key,
    "wrong-partition": _wrong_partition,
    "early-resolved": lambda: _moved_before(Kind.RESOLVED, "row_before"),
    # A later resolved event shows that the partition did not merely end.
    "missing-resolved": lambda: _removal(
        (F.col("kind") == Kind.RESOLVED) & F.col("next_of_kind").isNotNull(), several=True
    ),
    "missing-ddl": lambda: _removal(F.col("kind") == Kind.DDL, several=True),
    "ddl-before-its-rows": lambda: _moved_before(Kind.DDL, "table_row_before"),
    "changed-duplicate": _changed_duplicate,
    "stale-before-image": lambda: _Edit(_row(Op.UPDATE) & _differs(), {"before": F.col("after")}),
    "uncollapsed": _uncollapsed,
    "unsplit": _unsplit,
    "schema-drift": lambda: _Edit(
        _row() & F.col("drifted_version").isNotNull(), {"table_version": F.col("drifted_version")}
    ),
}


def _drawn(events: DataFrame, edits: Mapping[str, _Edit], seed: int) -> DataFrame:
    """Add ``hit``, whether the fault changes this event, and ``partner_hit``, whether it changes the other
    half of the event's update.
    """
    fits = F.lit(False)
    for name, edit in edits.items():
        enough = F.col("partitions") > (1 if edit.several else 0)
        fits = F.when(F.col("trap") == name, edit.fits & enough).otherwise(fits)
    order = seeded_hash(
        seed,
        "illegal",
        F.col("trap"),
        F.col("number"),
        F.col("partition_index"),
        F.col("deliver_after_ts"),
        F.col("txn_order_key"),
    )
    fitting = events.withColumn("fits", F.coalesce(fits, F.lit(False)))
    candidates = Window.partitionBy("trap", "number", "fits").orderBy(order, *DELIVERY_KEY)
    hit = fitting.withColumn("hit", F.col("fits") & (F.row_number().over(candidates) == 1))
    partner = (F.col("trap") == "unsplit") & _is_split_half() & (F.col("op") == Op.DELETE)
    return hit.withColumn("partner_hit", partner & F.max("hit").over(_one_update()))


def _edited(events: DataFrame, edits: Mapping[str, _Edit], columns: list[str]) -> DataFrame:
    """Apply the edits to the events that were drawn."""
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
    original = F.when(added, F.struct(*columns))
    copies = F.array_compact(F.array(F.struct(*map(changed, columns)), original))
    return events.select(F.inline(copies))
