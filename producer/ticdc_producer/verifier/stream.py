"""The stream as the invariants see it: events reduced to what is compared, classified, and suspected.

``Stream.events`` has one row per decoded event and these columns:

* ``topic``, ``partition``, ``position`` (offset and index in one number, see :func:`position`);
* ``kind``, ``commit_ts``, ``schema``, ``table``, ``table_id``, ``op``;
* ``identity``: fingerprint that identical events share; ``first``: none came before in the partition;
* ``row_key``: fingerprint, NULL without handle key; ``old_row_key``: where an update changes columns of it;
* ``old``, ``new``: 64 bits of the images, NULL where they are not there or not whole; an old image of the
  updated columns alone is completed by those that did not change;
* ``shape``: 64 bits of names, types and flags of the columns, NULL where not all columns are there;
* ``odd_flags``: names of columns whose flags no TiDB gives; ``null_handle``: a handle column is NULL;
* ``rule``, ``hashes_handle``, ``dispatch_key``, ``certain``, ``rule_topic``: see ``routing``;
* ``ddl_effect``: see ``ddl_effect``; ``untraced``: nobody can follow the rows of the table;
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

from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.verifier import identity, routing
from ticdc_producer.verifier.column_flags import odd_flags
from ticdc_producer.verifier.ddl_effect import ddl_effect
from ticdc_producer.verifier.options import VerifyOptions

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
    :param links: broken links between a row's events, see ``row_history.broken_links``.
    """

    events: DataFrame
    decoded: DataFrame
    options: VerifyOptions
    topics: DataFrame
    links: DataFrame

    @property
    def batched_rows(self) -> DataFrame:
        """:attr:`rows` with ``batch_value``: what rows of a table must share for TiCDC's batcher to keep
        their order; -1 where that is the table alone. With :data:`TABLE_PART` it is the batch.
        """
        return self.rows.withColumn("batch_value", batch_value())

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


def batch_value() -> Column:
    """What beside the table rows must share to be in one batch; -1 where that is the table alone."""
    by_value = sf.col("rule").isin("index-value", "columns")
    shared = sf.when(by_value, sf.col("dispatch_key")).otherwise(sf.lit(-1))
    return sf.coalesce(shared, sf.lit(-1))


def classify(decoded: DataFrame, options: VerifyOptions) -> DataFrame:
    """The events to check. They are shuffled once, by Kafka partition, which all windows keep."""
    shuffled = _reduced(routing.routed(_named(decoded), options), options).repartition(*PARTITION)
    keys = {
        "row_key": identity.row_key(sf.col("handle")),
        "old_row_key": identity.row_key(sf.col("old_handle")),
        "null_handle": sf.exists("handle", lambda pair: pair.value.isNull()),
    }
    reduced = shuffled.withColumns(keys).drop("handle", "old_handle")
    by_identity = Window.partitionBy(*PARTITION, "identity").orderBy("position")
    first = (sf.row_number().over(by_identity) == 1) | (sf.col("kind") == "error")
    if not options.times_rows:  # a row may come back as it was, and reads as the same event then
        first |= sf.expr("kind = 'row' and commit_ts = 0")
    return _marked(reduced.withColumn("first", first), options)


def barred(options: VerifyOptions) -> str:
    """How the commit-ts of a row that should not come after a DDL compares with the DDL's.

    Of one millisecond nobody can tell which was first.
    """
    return "<=" if options.commit_ts == "exact" else "<"


_FALLS = "commit_ts < resolved_before.commit_ts"


def stalled(options: VerifyOptions) -> str:
    """Whether a resolved event comes too long after the newest before it."""
    if options.resolved_gap_ms is None:
        return "false"
    gap = "shiftright(commit_ts, 18) - shiftright(resolved_before.commit_ts, 18)"
    return f"coalesce({gap} > {options.resolved_gap_ms}, false)"


def _marked(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Adds what comes too late, judged by the newest events before it in the partition.

    ``newer_row``, ``resolved_before``, ``ddl_before``: such an event, NULL if it is not newer (the latter
    two: nor of the same commit-ts); ``after_insert``: a delete behind an insert that is as new.
    ``mixed_kind``, ``mixed_key``: see :func:`_mixed`.
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
        "resolved_before": "first and kind in ('row', 'ddl') and commit_ts <= resolved_before.commit_ts or "
        f"first and kind = 'resolved' and ({_FALLS} or {stalled(options)})",
        "ddl_before": f"{FIRST_ROW} and commit_ts {barred(options)} ddl_before.commit_ts or "
        "first and kind = 'ddl' and commit_ts < ddl_before.commit_ts",
    }
    after_insert = sf.expr(f"{FIRST_ROW} and op = 'delete' and commit_ts <= insert_ts")
    marks = {name: sf.when(sf.expr(condition), sf.col(name)) for name, condition in wrong.items()}
    marks |= {"after_insert": after_insert, **_mixed()}
    neighbour = Window.partitionBy(*PARTITION).orderBy("position")
    newest["neighbour"] = sf.lag(sf.struct("position", "kind", "batch")).over(neighbour)
    return (
        events.withColumn("batch", sf.when(sf.col("kind") == "row", _batch()))
        .withColumns(newest)
        .withColumns(marks)
        .drop("insert_ts", "neighbour", "batch")
    )


def _batch() -> Column:
    """What rows of a message share; NULL where nobody knows.

    Values are dispatched by a hash alone, and rows of two tables may have the same.
    """
    by_value = sf.col("rule").isin("index-value", "columns", "ts")
    return sf.when(by_value, sf.col("dispatch_key")).otherwise(sf.xxhash64(*TABLE))


def _mixed() -> dict[str, Column]:
    """Events of another kind, or rows of another dispatch key, than the event before them in the message."""
    offset, before = (f"shiftright({one}, {_INDEX_BITS})" for one in ("position", "neighbour.position"))
    same = f"kind != 'error' and {offset} = {before}"
    kind = sf.expr(f"{same} and (kind != 'row' or neighbour.kind != 'row')")
    return {"mixed_kind": kind, "mixed_key": sf.expr(f"{same} and batch != neighbour.batch")}


def _named(decoded: DataFrame) -> DataFrame:
    """The events with '' and 0 where a protocol has no name or no table id, so that they compare."""
    plain = {name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table", "op")}
    return decoded.withColumns({**plain, "table_id": sf.coalesce(sf.col("table_id"), sf.lit(0))})


def _reduced(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Events without their images. Columns are NULL for DDL and resolved events, as ``columns`` is.

    The JVM does not compile methods above 8000 bytes, and all of this is one: what is used twice is a
    column of its own, what needs no image is left to later steps, and no text is rendered.
    """
    imaged = events.withColumns(
        {
            "key_image": identity.key_image(),
            "old_image": old_image(options),
            "old_print": identity.image_print(sf.col("before")),
            "new_print": identity.image_print(sf.col("after")),
            "key_change": _key_change(),
        }
    )
    prepared = imaged.withColumns(
        {"handle": identity.handle_entries(sf.col("key_image")), "hashed": routing.hashed_columns()}
    )
    prepared = prepared.withColumn("in_part", _in_part(options))
    keyed = prepared.withColumn("dispatch_key", routing.dispatch_key(sf.col("hashed"), options.hashed_types))
    return keyed.select(
        *PARTITION,
        position().alias("position"),
        "kind",
        "commit_ts",
        *TABLE,
        "table_id",
        "op",
        identity.identity(sf.col("old_print"), sf.col("new_print")).alias("identity"),
        "handle",
        sf.when(sf.size("key_change") > 0, identity.handle_entries(sf.col("old_image"))).alias("old_handle"),
        *_prints(options),
        _untraced(options).alias("untraced"),
        sf.when(sf.col("kind") == "ddl", ddl_effect()).alias("ddl_effect"),
        "rule",
        "rule_topic",
        sf.col("rule_columns").isNull().alias("hashes_handle"),
        "dispatch_key",
        routing.certain(sf.col("hashed")).alias("certain"),
        "key_change",
        *_MESSAGE,
    )


def old_image(options: VerifyOptions) -> Column:
    """The old image, completed by what did not change where only updated columns are sent."""
    before, after = sf.col("before"), sf.col("after")
    if options.old_columns == "all":
        return before
    others = sf.map_filter(after, lambda name, _: ~sf.map_contains_key(before, name))
    return sf.when(sf.col("op") == "update", sf.map_concat(before, others)).otherwise(before)


def _in_part(options: VerifyOptions) -> Column:
    """Whether an event shows its handle key alone: large rows may, and deletes if so configured."""
    large = sf.coalesce(sf.col("handle_key_only"), sf.lit(0)) != 0
    delete = sf.col("op") == "delete"
    keys = sf.forall("columns", lambda column: identity.has_flag(column.flag, ColumnFlag.HANDLE_KEY))
    return large | (delete & (keys if options.whole_deletes else sf.lit(True)))


def _prints(options: VerifyOptions) -> tuple[Column, ...]:
    """``old``, ``new``, ``shape``, ``odd_flags``: what is compared with other events of the row or table."""
    whole = ~sf.col("in_part")
    old = sf.col("old_print")
    if options.old_columns != "all":
        old = identity.image_print(sf.col("old_image"))
    odd = odd_flags() if options.flags else sf.lit(None).cast("array<string>")
    return (
        sf.when(whole, old["high"]).alias("old"),
        sf.when(whole, sf.col("new_print")["high"]).alias("new"),
        sf.when(whole & (sf.col("kind") == "row"), sf.xxhash64(sf.array_sort("columns"))).alias("shape"),
        odd.alias("odd_flags"),
    )


def _untraced(options: VerifyOptions) -> Column:
    if options.untraced is None:
        return sf.lit(True)
    return sf.concat("schema", sf.lit("."), "table").isin([*options.untraced])


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
