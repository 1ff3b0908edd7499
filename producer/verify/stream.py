"""The stream as the invariants see it: events reduced to what is compared, classified and marked.

``Stream.events`` has one row per decoded event and these columns:

* place: ``topic``, ``partition``, ``offset``, ``index``;
* ``kind``, ``commit_ts``, ``schema``, ``table``, ``table_id``, ``op``, ``text`` (for humans);
* ``identity``: fingerprint that identical events share; ``first``: none came before in the partition;
* ``row_key``: fingerprint, NULL without handle key; ``batch_key``: of the rows that are batched in order;
* ``rule``, ``dispatch_key``, ``expected``, ``certain``: see ``routing``;
* ``key_change``: the unique or handle columns an update changes, as text, NULL if none;
* ``events``, ``size``, ``error``, ``error_byte``, ``error_expected`` of the message;
* one column per :class:`Mark`.

All windows run in one pass over the stream, before it is kept; most invariants then are a condition on
one event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from producer.model.flags import ColumnFlag
from producer.verify import identity, routing
from producer.verify.options import VerifyOptions

PARTITION = ("topic", "partition")
PLACE = ("offset", "index")
TABLE = ("schema", "table")
FIRST_ROW = "kind = 'row' and first"
_MESSAGE = ("events", "size", "error", "error_byte", "error_expected")


@dataclass(frozen=True, slots=True)
class Mark:
    """An earlier event of the partition that an event should not come after.

    :param event: the window that finds it, made of :func:`latest` and :func:`so_far`.
    :param wrong: SQL condition on the event and the mark (by its name) under which it is kept.
    """

    name: str
    event: Column
    wrong: str


@dataclass(frozen=True, slots=True)
class Violation:
    """How one event breaks an invariant.

    :param wrong: whether it does.
    :param events: references (:func:`place`) to the events concerned, in stream order; NULL is left out.
    """

    wrong: Column
    severity: Column
    events: tuple[Column, ...]
    detail: Column

    def found(self) -> tuple[Column, ...]:
        """The columns ``severity``, ``events``, ``detail``."""
        events = sf.array_compact(sf.array(*self.events))
        return self.severity.alias("severity"), events.alias("events"), self.detail.alias("detail")


@dataclass(frozen=True, slots=True)
class Stream:
    """Classified events, and what is known of them.

    :param topics: one row per topic whose number of partitions is known, see ``census.topics``.
    """

    events: DataFrame
    options: VerifyOptions
    topics: DataFrame

    @property
    def rows(self) -> DataFrame:
        """First-time row events; duplicates are exempt from what they were judged by already."""
        return self.events.filter(FIRST_ROW)


def classify(decoded: DataFrame, options: VerifyOptions, marks: Sequence[Mark]) -> DataFrame:
    """The events to check. They are shuffled once, by Kafka partition, which every window keeps."""
    reduced = _reduced(routing.routed(_named(decoded), options), options).repartition(*PARTITION)
    by_identity = Window.partitionBy(*PARTITION, "identity").orderBy(*PLACE)
    first = (sf.row_number().over(by_identity) == 1) | (sf.col("kind") == "error")
    marked = reduced.withColumn("first", first).withColumns({mark.name: mark.event for mark in marks})
    return marked.withColumns({mark.name: sf.when(sf.expr(mark.wrong), sf.col(mark.name)) for mark in marks})


def _named(decoded: DataFrame) -> DataFrame:
    """The events with '' and 0 where a protocol has no name or no table id, so that they compare."""
    plain = {name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table", "op")}
    return decoded.withColumns({**plain, "table_id": sf.coalesce(sf.col("table_id"), sf.lit(0))})


def _reduced(events: DataFrame, options: VerifyOptions) -> DataFrame:
    row = sf.col("kind") == "row"
    prepared = events.withColumns(
        {
            "handle": sf.when(row, identity.handle_entries()),
            "hashed": sf.when(row & sf.col("rule").isNotNull(), routing.hashed_columns()),
        }
    )
    keyed = prepared.withColumn("dispatch_key", sf.when(row, routing.dispatch_key(sf.col("hashed"))))
    return keyed.select(
        *PARTITION,
        *PLACE,
        "kind",
        "commit_ts",
        *TABLE,
        "table_id",
        "op",
        _text().alias("text"),
        identity.identity().alias("identity"),
        sf.when(row, identity.row_key(sf.col("handle"))).alias("row_key"),
        "rule",
        "dispatch_key",
        _batch_key().alias("batch_key"),
        routing.expected_partition(sf.col("dispatch_key"), options.partitions).alias("expected"),
        routing.certain(sf.col("hashed")).alias("certain"),
        _key_change().alias("key_change"),
        *_MESSAGE,
    )


def _text() -> Column:
    return (
        sf.when(sf.col("kind") == "row", identity.readable_entries(sf.col("handle")))
        .when(sf.col("kind") == "ddl", sf.substring("query", 1, 120))
        .otherwise(sf.coalesce(sf.col("error"), sf.lit("")))
    )


def _batch_key() -> Column:
    """What TiCDC's batcher groups rows by: the table, and its dispatch key where that is finer."""
    by_value = sf.col("rule").isin("index-value", "columns")
    finer = sf.when(by_value, sf.col("dispatch_key")).otherwise(sf.lit(-1))
    return identity.fingerprint(sf.col("schema"), sf.col("table"), sf.col("table_id"), finer)


def _key_change() -> Column:
    """Handle and unique columns that differ between the images; NULL if none, or if no image tells.

    An old image reduced to the updated columns lacks the others: those did not change.
    """
    before, after = sf.col("before"), sf.col("after")
    keys = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY

    def changed(column: Column) -> Column:
        name = column["name"]
        both = sf.map_contains_key(before, name) & sf.map_contains_key(after, name)
        same = sf.try_element_at(before, name).eqNullSafe(sf.try_element_at(after, name))
        return identity.has_flag(column.flag, keys) & both & ~same

    def shown(column: Column) -> Column:
        old, new = (identity.readable(sf.try_element_at(image, column["name"])) for image in (before, after))
        return sf.concat(column["name"], sf.lit(": "), old, sf.lit(" → "), new)

    changes = sf.filter("columns", changed)
    update = (sf.col("op") == "update") & before.isNotNull()
    return sf.when(update & (sf.size(changes) > 0), sf.array_join(sf.transform(changes, shown), ", "))


def so_far(*group: str) -> WindowSpec:
    """All events before this one in its partition, of the same group."""
    return Window.partitionBy(*PARTITION, *group).orderBy(*PLACE).rowsBetween(Window.unboundedPreceding, -1)


def latest(condition: Column) -> Column:
    """Aggregate: the event with the highest commit-ts among those that meet the condition."""
    return sf.max(sf.when(condition, sf.struct("commit_ts", *PLACE)))


def place(event: Column | None = None) -> Column:
    """Reference to this event, or to another one of its partition, given by its offset and index."""
    names = (sf.col(name) if event is None else event[name] for name in PLACE)
    return sf.struct(*PARTITION, *(part.alias(name) for name, part in zip(PLACE, names, strict=True)))
