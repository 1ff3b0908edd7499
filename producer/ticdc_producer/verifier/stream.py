"""The stream as the invariants read it: classified events without their images, with marks.

``Stream.events`` has one row per decoded event and these columns:

* ``topic``, ``partition``, ``position`` (offset and index in one number, see :func:`position`);
* ``kind``, ``commit_ts``, ``schema``, ``table``, ``table_id``, ``op``;
* ``identity``: fingerprint that identical events share; ``first_delivery``: no identical event came before in
  the partition;
* ``row_key``: fingerprint, NULL without handle key; ``old_row_key``: if an update changes columns of it;
* ``old``, ``new``: 64 bits of the images, NULL if absent or incomplete; an old image of the updated columns
  only is completed with the columns that did not change;
* ``shape``: 64 bits of names, types and flags of the columns, NULL if the event lacks columns;
* ``odd_flags``: names of columns with flags that TiDB never produces; ``null_handle``: a handle
  column is NULL;
* ``rule``, ``hashes_handle``, ``dispatch_key``, ``certain``, ``rule_topic``: see ``routing``;
* ``ddl_effect``: see ``ddl_effect``; ``untracked``: the rows of the table cannot be tracked;
* ``key_change``: names of the unique or handle columns that an update changes;
* ``events``, ``size``, ``error``, ``error_byte``, ``error_expected`` of the message;
* the marks of :func:`_marked`: violations, and candidates for them, that one pass per partition finds.

An event that is late in any group of its partition is late in the partition. One pass over the partitions
therefore finds the few groups that need a closer check; if it finds none, the invariants of all groups hold.
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
OFFSET_INDEX = ("offset", "index")
TABLE = ("schema", "table")
TABLE_PART = (*TABLE, "table_id")
FIRST_ROW = "kind = 'row' and first_delivery"
_MESSAGE = ("events", "size", "error", "error_byte", "error_expected")
_INDEX_BITS = 20


@dataclass(frozen=True, slots=True)
class Stream:
    """Classified events and the data that the checks derive from them.

    :param decoded: the decoded events with their images.
    :param topics: one row per topic whose number of partitions is known, see ``stream_stats.topics``.
    :param transitions: the invalid transitions of rows, see ``row_history.invalid_transitions``.
    """

    events: DataFrame
    decoded: DataFrame
    options: VerifyOptions
    topics: DataFrame
    transitions: DataFrame

    @property
    def batched_rows(self) -> DataFrame:
        """:attr:`rows` with ``batch_value``, see :func:`batch_value`.

        TiCDC's batcher preserves the order of rows with equal :data:`TABLE_PART` and ``batch_value``.
        """
        return self.rows.withColumn("batch_value", batch_value())

    @property
    def rows(self) -> DataFrame:
        """First-time row events; their duplicates are not checked again."""
        return self.events.filter(FIRST_ROW)


@dataclass(frozen=True, slots=True)
class Violation:
    """How an event or a group of events violates an invariant, as Spark expressions.

    :param events: references (:func:`event_ref`) to the events concerned, in stream order; NULLs are dropped.
    :param wrong: whether the event violates the invariant; None: every row of the DataFrame does.
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
    """The value that rows of a table must share to be in one batch; -1 if the table alone decides."""
    by_value = sf.col("rule").isin("index-value", "columns")
    shared = sf.when(by_value, sf.col("dispatch_key")).otherwise(sf.lit(-1))
    return sf.coalesce(shared, sf.lit(-1))


def classify(decoded: DataFrame, options: VerifyOptions) -> DataFrame:
    """The events to check, shuffled once by Kafka partition, which all windows use."""
    shuffled = _reduced(routing.with_rules(_named(decoded), options), options).repartition(*PARTITION)
    keys = {
        "row_key": identity.row_key(sf.col("handle")),
        "old_row_key": identity.row_key(sf.col("old_handle")),
        "null_handle": sf.exists("handle", lambda pair: pair.value.isNull()),
    }
    reduced = shuffled.withColumns(keys).drop("handle", "old_handle")
    by_identity = Window.partitionBy(*PARTITION, "identity").orderBy("position")
    first = (sf.row_number().over(by_identity) == 1) | (sf.col("kind") == "error")
    if not options.rows_have_commit_ts:  # a row deleted and inserted again reads as the same event
        first |= sf.expr("kind = 'row' and commit_ts = 0")
    return _marked(reduced.withColumn("first_delivery", first), options)


def ddl_barrier_operator(options: VerifyOptions) -> str:
    """The comparison of a row's commit-ts with the ts of an earlier DDL that makes the row a violation.

    Within one millisecond the order of the two is unknown.
    """
    return "<=" if options.commit_ts == "exact" else "<"


_RESOLVED_DECREASES = "commit_ts < resolved_before.commit_ts"


def stall_condition(options: VerifyOptions) -> str:
    """Condition: a resolved event comes too long after the newest one before it."""
    if options.resolved_gap_ms is None:
        return "false"
    gap = "shiftright(commit_ts, 18) - shiftright(resolved_before.commit_ts, 18)"
    return f"coalesce({gap} > {options.resolved_gap_ms}, false)"


def _marked(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Adds marks of late events, found by comparison with the newest earlier events of the partition.

    ``newer_row``, ``resolved_before``, ``ddl_before``: the newest such event before, NULL if it is not newer
    (the latter two: nor of equal commit-ts); ``after_insert``: a delete after an insert that is at least as
    new. ``mixed_kind``, ``mixed_key``: see :func:`_mixed`.
    """
    before = preceding_events()
    newest = {
        "newer_row": latest(sf.expr(FIRST_ROW)).over(before),
        "resolved_before": latest(sf.col("kind") == "resolved").over(before),
        "ddl_before": latest(sf.col("kind") == "ddl").over(before),
        "insert_ts": sf.max(sf.when(sf.expr(f"{FIRST_ROW} and op = 'insert'"), sf.col("commit_ts"))).over(
            before
        ),
    }
    wrong = {
        "newer_row": "first_delivery and kind in ('row', 'ddl') and commit_ts < newer_row.commit_ts",
        "resolved_before": "first_delivery and kind in ('row', 'ddl') "
        "and commit_ts <= resolved_before.commit_ts or "
        f"first_delivery and kind = 'resolved' and ({_RESOLVED_DECREASES} or {stall_condition(options)})",
        "ddl_before": f"{FIRST_ROW} and commit_ts {ddl_barrier_operator(options)} ddl_before.commit_ts or "
        "first_delivery and kind = 'ddl' and commit_ts < ddl_before.commit_ts",
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
    """The value that rows of a message share; NULL if unknown.

    Rules by value dispatch by the hash alone, and rows of two tables may have the same hash.
    """
    by_value = sf.col("rule").isin("index-value", "columns", "ts")
    return sf.when(by_value, sf.col("dispatch_key")).otherwise(sf.xxhash64(*TABLE))


def _mixed() -> dict[str, Column]:
    """Events whose kind or dispatch key differs from that of the previous event in the message."""
    offset, before = (f"shiftright({one}, {_INDEX_BITS})" for one in ("position", "neighbour.position"))
    same = f"kind != 'error' and {offset} = {before}"
    kind = sf.expr(f"{same} and (kind != 'row' or neighbour.kind != 'row')")
    return {"mixed_kind": kind, "mixed_key": sf.expr(f"{same} and batch != neighbour.batch")}


def _named(decoded: DataFrame) -> DataFrame:
    """The events with '' for missing names and 0 for missing table ids, so that they compare."""
    plain = {name: sf.coalesce(sf.col(name), sf.lit("")) for name in ("schema", "table", "op")}
    return decoded.withColumns({**plain, "table_id": sf.coalesce(sf.col("table_id"), sf.lit(0))})


def _reduced(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Events without their images. ``columns`` and what depends on it are NULL for DDL and resolved events.

    Spark compiles this projection to one method, and the JVM does not compile methods above 8000 bytes.
    Therefore shared expressions are columns of their own, expressions without images are left to later
    steps, and no text is rendered.
    """
    with_images = events.withColumns(
        {
            "key_image": identity.key_image(),
            "old_image": old_image(options),
            "old_fingerprint": identity.image_fingerprint(sf.col("before")),
            "new_fingerprint": identity.image_fingerprint(sf.col("after")),
            "key_change": _key_change(),
        }
    )
    prepared = with_images.withColumns(
        {"handle": identity.handle_entries(sf.col("key_image")), "hashed": routing.hashed_columns()}
    )
    prepared = prepared.withColumn("key_columns_only", _key_columns_only(options))
    keyed = prepared.withColumn("dispatch_key", routing.dispatch_key(sf.col("hashed"), options.hashed_types))
    return keyed.select(
        *PARTITION,
        position().alias("position"),
        "kind",
        "commit_ts",
        *TABLE,
        "table_id",
        "op",
        identity.identity(sf.col("old_fingerprint"), sf.col("new_fingerprint")).alias("identity"),
        "handle",
        sf.when(sf.size("key_change") > 0, identity.handle_entries(sf.col("old_image"))).alias("old_handle"),
        *_fingerprints(options),
        _untracked(options).alias("untracked"),
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
    """The old image; completed with the unchanged columns if only updated columns are sent."""
    before, after = sf.col("before"), sf.col("after")
    if options.old_columns == "all":
        return before
    others = sf.map_filter(after, lambda name, _: ~sf.map_contains_key(before, name))
    return sf.when(sf.col("op") == "update", sf.map_concat(before, others)).otherwise(before)


def _key_columns_only(options: VerifyOptions) -> Column:
    """Whether an event has the handle key columns only: large rows may, and deletes if configured."""
    large = sf.coalesce(sf.col("handle_key_only"), sf.lit(0)) != 0
    delete = sf.col("op") == "delete"
    keys = sf.forall("columns", lambda column: identity.has_flag(column.flag, ColumnFlag.HANDLE_KEY))
    return large | (delete & (keys if options.whole_deletes else sf.lit(True)))


def _fingerprints(options: VerifyOptions) -> tuple[Column, ...]:
    """``old``, ``new``, ``shape``, ``odd_flags``: compared with other events of the row or table."""
    whole = ~sf.col("key_columns_only")
    old = sf.col("old_fingerprint")
    if options.old_columns != "all":
        old = identity.image_fingerprint(sf.col("old_image"))
    odd = odd_flags() if options.flags else sf.lit(None).cast("array<string>")
    return (
        sf.when(whole, old["high"]).alias("old"),
        sf.when(whole, sf.col("new_fingerprint")["high"]).alias("new"),
        sf.when(whole & (sf.col("kind") == "row"), sf.xxhash64(sf.array_sort("columns"))).alias("shape"),
        odd.alias("odd_flags"),
    )


def _untracked(options: VerifyOptions) -> Column:
    if options.untracked is None:
        return sf.lit(True)
    return sf.concat("schema", sf.lit("."), "table").isin([*options.untracked])


def _key_change() -> Column:
    """Names of the handle and unique columns that differ between an update's images.

    An old image of the updated columns lacks the other columns, which did not change.
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
    """Offset and index in the message as one number, which sorts and hashes fast.

    The range is a million events per message and 2^43 messages per partition.
    """
    return sf.shiftleft(sf.col("offset"), _INDEX_BITS) + sf.col("index")


def event_ref(position: Column | None = None, partition: Column | None = None) -> Column:
    """Reference to an event as a struct of topic, partition, offset and index.

    :param position: position of the event; None: of this event.
    :param partition: partition of the event; None: of this event.
    """
    number = sf.col("position") if position is None else position
    return sf.struct(
        sf.col("topic"),
        (sf.col("partition") if partition is None else partition).alias("partition"),
        sf.shiftright(number, _INDEX_BITS).alias("offset"),
        number.bitwiseAND(sf.lit((1 << _INDEX_BITS) - 1)).cast("int").alias("index"),
    )


def preceding_events(*group: str) -> WindowSpec:
    """Window: the earlier events of the same partition and group."""
    before = Window.partitionBy(*PARTITION, *group).orderBy("position")
    return before.rowsBetween(Window.unboundedPreceding, -1)


def latest(condition: Column) -> Column:
    """Aggregate: commit-ts and position of the newest event among those that meet the condition."""
    return sf.max(sf.when(condition, sf.struct("commit_ts", "position")))
