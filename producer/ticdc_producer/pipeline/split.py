"""Stage 3: updates of a handle or unique column become a delete and an insert, and all find their place.

The order inside a transaction: by physical table id; deletes, updates, inserts; row key. The halves of
a split update stand where a stable sort by kind puts them: after the true deletes, before the true
inserts. The new program does not sort again: the delete stands in the update's place, the insert behind
all rows of the table. ``place`` encodes just that, so no task needs to see its neighbours.

Source: tiflow ``TrySplitAndSortUpdateEvent``, sorter ``key.go``; ticdc ``pkg/common/event/dml_event.go``.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.model.profile import Profile
from ticdc_producer.pipeline.table_metadata import Facts, with_facts

_KIND_ORDER = {Op.DELETE: "00", Op.UPDATE: "01", Op.INSERT: "02"}
_BEHIND_ALL = "03"
_WHOLE, _DELETED, _INSERTED = 0, 1, 2


def split(
    mutations: DataFrame,
    facts: Facts,
    *,
    raw_change_event: bool = False,
    profile: Profile = "classic",
) -> DataFrame:
    """Split key-changing updates and add ``place``, the order inside the transaction.

    :param raw_change_event: TiCDC's ``output-raw-change-event``: nothing is split.
    """
    placed = mutations.withColumn("kind_before", F.col("op"))
    if facts.split_places and not raw_change_event:
        placed = _halved(placed, facts)
    kinds = _kinds if profile == "classic" else _kinds_unsorted
    place = F.concat(_eight_bytes(F.col("table_id")), kinds(), F.col("row_key"))
    return placed.withColumn("place", place).drop("kind_before", "row_key")


def _halved(mutations: DataFrame, facts: Facts) -> DataFrame:
    """Multiplied by numbers: an array of halves would copy the images of every row into it."""
    updates = with_facts(mutations, facts.frame, "split_places")
    places = [F.get("split_places", F.lit(number)) for number in range(facts.split_places)]
    differs = reduce(or_, (~_at("before", place).eqNullSafe(_at("after", place)) for place in places))
    parted = (F.col("op") == Op.UPDATE) & differs
    halves = F.when(parted, F.array(F.lit(_DELETED), F.lit(_INSERTED))).otherwise(F.array(F.lit(_WHOLE)))
    deleted, inserted = F.col("half") == _DELETED, F.col("half") == _INSERTED
    op = F.when(deleted, Op.DELETE).when(inserted, Op.INSERT).otherwise(F.col("op"))
    both = updates.withColumn("half", F.explode(halves)).withColumns({
        "op": op.cast("byte"),
        "before": F.when(~inserted, F.col("before")),
        "after": F.when(~deleted, F.col("after")),
    })  # fmt: skip
    return both.drop("half", "split_places")


def _at(image: str, place: Column) -> Column:
    return F.get(F.col(image), place)


def _kinds() -> Column:
    """Order of kinds after the second sort, then that before."""
    return F.concat(_kind_order("op"), _kind_order("kind_before"))


def _kinds_unsorted() -> Column:
    """Order of kinds where rows keep their places, but for the inserts of split updates."""
    moved = (F.col("op") == Op.INSERT) & (F.col("kind_before") == Op.UPDATE)
    return F.when(moved, F.unhex(F.lit(_BEHIND_ALL))).otherwise(_kind_order("kind_before"))


def _kind_order(column: str) -> Column:
    order = F.lit(None)
    for op, text in _KIND_ORDER.items():
        order = F.when(F.col(column) == op, F.unhex(F.lit(text))).otherwise(order)
    return order


def _eight_bytes(number: Column) -> Column:
    """A non-negative long as 8 bytes, big-endian."""
    return F.unhex(F.lpad(F.hex(number), 16, "0"))
