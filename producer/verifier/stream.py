"""The stream as the invariants see it: events reduced to what is compared, classified, and suspected.

``Stream.events`` has one row per decoded event and these columns:

* ``topic``, ``partition``, ``position`` (offset and index in one number, see :func:`position`);
* ``kind``, ``commit_ts``, ``schema``, ``table``, ``table_id``, ``op``;
* ``identity``: fingerprint that identical events share; ``first``: none came before in the partition;
* ``row_key``: fingerprint, NULL without handle key;
* ``rule``, ``hashes_handle``, ``dispatch_key``, ``certain``: see ``routing``;
* ``key_change``: names of the unique or handle columns that an update changes;
* ``events``, ``size``, ``error``, ``error_byte``, ``error_expected`` of the message;
* the marks of :func:`_marked`: what one pass over each partition finds wrong, or suspects.

An event that is late in any group of its partition is late in the partition. So one pass tells the few
groups that have to be looked at; where it suspects nothing, the invariants of all groups hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from producer.model.flags import ColumnFlag
from producer.verifier import identity, routing
from producer.verifier.options import VerifyOptions

PARTITION = ("topic", "partition")
PLACE = ("offset", "index")
TABLE = ("schema", "table")
TABLE_PART = (*TABLE, "table_id")
FIRST_ROW = "kind = 'row' and first"
_MESSAGE = ("events", "size", "error", "error_byte", "error_expected")
_INDEX_BITS = 20


@dataclass(frozen=True, slots=True)
class Stream:
    """Classified events, and what is known of them.

    :param decoded: the events as they were given.
    :param topics: one row per topic whose number of partitions is known, see ``census.topics``.
    """

    events: DataFrame
    decoded: DataFrame
    options: VerifyOptions
    topics: DataFrame

    @property
    def batched_rows(self) -> DataFrame:
        """:attr:`rows` with ``batch_value``: what rows of a table must share for TiCDC's batcher to keep
        their order; -1 where that is the table alone. With :data:`TABLE_PART` it is the batch.
        """
        by_value = sf.col("rule").isin("index-value", "columns")
        shared = sf.when(by_value, sf.col("dispatch_key")).otherwise(sf.lit(-1))
        return self.rows.withColumn("batch_value", sf.coalesce(shared, sf.lit(-1)))

    @property
    def rows(self) -> DataFrame:
        """First-time row events; duplicates are exempt from what they were judged by already."""
        return self.events.filter(FIRST_ROW)


@dataclass(frozen=True, slots=True)
class Violation:
    """How an event, or a group of events, breaks an invariant.

    :param events: references (:func:`place`) to the events concerned, in stream order; NULL is left out.
    :param wrong: whether it does.
    """

    severity: Column
    events: tuple[Column, ...]
    detail: Column
    wrong: Column | None = None

    def found(self) -> tuple[Column, ...]:
        """The columns ``severity``, ``events``, ``detail``."""
        events = sf.array_compact(sf.array(*self.events))
        return self.severity.alias("severity"), events.alias("events"), self.detail.alias("detail")


def classify(decoded: DataFrame, options: VerifyOptions) -> DataFrame:
    """The events to check. They are shuffled once, by Kafka partition, which all windows keep."""
    shuffled = _reduced(routing.routed(_named(decoded), options), options).repartition(*PARTITION)
    reduced = shuffled.withColumn("row_key", identity.row_key(sf.col("handle"))).drop("handle")
    by_identity = Window.partitionBy(*PARTITION, "identity").orderBy("position")
    first = (sf.row_number().over(by_identity) == 1) | (sf.col("kind") == "error")
    return _marked(reduced.withColumn("first", first), options)


def barred(options: VerifyOptions) -> str:
    """How the commit-ts of a row that should not come after a DDL compares with the DDL's.

    Of one millisecond nobody can tell which was first.
    """
    return "<=" if options.commit_ts == "exact" else "<"


def _marked(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Adds what comes too late, judged by the newest events before it in the partition.

    ``newer_row``, ``resolved_before``, ``ddl_before``: such an event, NULL if it is not newer (the latter
    two: nor of the same commit-ts); ``after_insert``: a delete behind an insert that is as new.
    """
    before = so_far()
    newest = {
        "newer_row": latest(sf.expr(FIRST_ROW)).over(before),
        "resolved_before": latest(sf.col("kind") == "resolved").over(before),
        "ddl_before": latest(sf.col("kind") == "ddl").over(before),
        "insert_ts": sf.max(sf.when(sf.expr(f"{FIRST_ROW} and op = 'insert'"), sf.col("commit_ts"))).over(
            before
        ),
    }
    wrong = {
        "newer_row": "first and kind in ('row', 'ddl') and commit_ts < newer_row.commit_ts",
        "resolved_before": "first and kind in ('row', 'ddl') and commit_ts <= resolved_before.commit_ts",
        "ddl_before": f"{FIRST_ROW} and commit_ts {barred(options)} ddl_before.commit_ts",
    }
    after_insert = sf.expr(f"{FIRST_ROW} and op = 'delete' and commit_ts <= insert_ts")
    marks = {name: sf.when(sf.expr(condition), sf.col(name)) for name, condition in wrong.items()}
    return events.withColumns(newest).withColumns({**marks, "after_insert": after_insert}).drop("insert_ts")


def _named(decoded: DataFrame) -> DataFrame:
    """The events with '' and 0 where a protocol has no name or no table id, so that they compare."""
    plain = {name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table", "op")}
    return decoded.withColumns({**plain, "table_id": sf.coalesce(sf.col("table_id"), sf.lit(0))})


def _reduced(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Events without their images. Columns are NULL for DDL and resolved events, as ``columns`` is.

    The JVM does not compile methods above 8000 bytes, and all of this is one: what is used twice is a
    column of its own, what needs no image is left to later steps, and no text is rendered.
    """
    imaged = events.withColumn("key_image", identity.key_image())
    prepared = imaged.withColumns(
        {"handle": identity.handle_entries(sf.col("key_image")), "hashed": routing.hashed_columns()}
    )
    keyed = prepared.withColumn("dispatch_key", routing.dispatch_key(sf.col("hashed"), options.hashed_types))
    return keyed.select(
        *PARTITION,
        position().alias("position"),
        "kind",
        "commit_ts",
        *TABLE,
        "table_id",
        "op",
        identity.identity().alias("identity"),
        "handle",
        "rule",
        sf.col("rule_columns").isNull().alias("hashes_handle"),
        "dispatch_key",
        routing.certain(sf.col("hashed")).alias("certain"),
        _key_change().alias("key_change"),
        *_MESSAGE,
    )


def _key_change() -> Column:
    """Names of the handle and unique columns that differ between an update's images.

    An old image reduced to the updated columns lacks the others: those did not change.
    """
    before, after = sf.col("before"), sf.col("after")
    keys = ColumnFlag.HANDLE_KEY | ColumnFlag.UNIQUE_KEY

    def changed(column: Column) -> Column:
        name = column["name"]
        both = sf.map_contains_key(before, name) & sf.map_contains_key(after, name)
        same = sf.try_element_at(before, name).eqNullSafe(sf.try_element_at(after, name))
        return identity.has_flag(column.flag, keys) & both & ~same

    return sf.transform(sf.filter("columns", changed), lambda column: column["name"])


def position() -> Column:
    """Offset and index in a message as one number, which sorts and hashes as fast as any.

    It holds a million events per message and 2^43 messages per partition.
    """
    return sf.shiftleft(sf.col("offset"), _INDEX_BITS) + sf.col("index")


def place(position: Column | None = None, partition: Column | None = None) -> Column:
    """Reference to this event, or to the one at a position of its topic and its or another partition."""
    at = sf.col("position") if position is None else position
    return sf.struct(
        sf.col("topic"),
        (sf.col("partition") if partition is None else partition).alias("partition"),
        sf.shiftright(at, _INDEX_BITS).alias("offset"),
        at.bitwiseAND(sf.lit((1 << _INDEX_BITS) - 1)).cast("int").alias("index"),
    )


def so_far(*group: str) -> WindowSpec:
    """All events before this one in its partition, of the same group."""
    before = Window.partitionBy(*PARTITION, *group).orderBy("position")
    return before.rowsBetween(Window.unboundedPreceding, -1)


def latest(condition: Column) -> Column:
    """Aggregate: commit-ts and position of the newest event among those that meet the condition."""
    return sf.max(sf.when(condition, sf.struct("commit_ts", "position")))
