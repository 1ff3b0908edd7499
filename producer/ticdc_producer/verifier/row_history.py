"""What is known of a row when its next event comes: whether it is there, and its last values.

The events of a row stand in one line, by commit-ts and, inside a transaction, deletes before inserts. One
window compares each with the one before it. All that can be wrong between two neighbours is found in this
one pass; what is found is little, and the invariants look at that alone.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import FIRST_ROW, TABLE, Stream, Violation, place
from ticdc_producer.verifier.table_epochs import EMPTY, with_epoch

_KEPT = (
    "topic",
    "partition",
    "position",
    *TABLE,
    "row_key",
    "commit_ts",
    "rule",
    "hashes_handle",
    "untraced",
)
BROKEN = ("wrong_state", "wrong_old", "wrong_copy", "wrong_partition")


def broken_links(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Events that do not go with the event before them of the same row.

    Columns: those of :data:`_KEPT`, ``op``, ``present`` (NULL: unknown), ``previous`` (``partition``,
    ``position``, ``commit_ts``, ``op``…) and, true where it is wrong, :data:`BROKEN`.
    """
    per_row = Window.partitionBy("topic", "row_key").orderBy(*_order(options))
    before = ("partition", "position", "commit_ts", "op", "old", "new", "moves")
    linked = _steps(events).withColumn("previous", sf.lag(sf.struct(*before)).over(per_row))
    told = with_epoch(linked, events, options).withColumn("known", _known(options))
    judged = told.withColumn("present", _present(options)).withColumns(_broken(options))
    return judged.where(" or ".join(BROKEN)).select(*_KEPT, "op", "present", "previous", *BROKEN)


def _steps(events: DataFrame) -> DataFrame:
    """What happens to each row; an update of the handle key ends one row and begins another."""
    rows = events.where(f"{FIRST_ROW} and row_key is not null")
    moves = sf.expr("coalesce(old_row_key != row_key, false)")
    steps = rows.select(
        *_KEPT,
        sf.when(moves, "insert").otherwise(sf.col("op")).alias("op"),
        sf.when(~moves, sf.col("old")).alias("old"),
        "new",
        moves.alias("moves"),
    )
    left = rows.where(moves).withColumns({"row_key": sf.col("old_row_key"), "op": sf.lit("delete")})
    ends = left.select(
        *_KEPT, "op", "old", sf.lit(None).cast("long").alias("new"), sf.lit(True).alias("moves")
    )
    return steps.union(ends)


def _order(options: VerifyOptions) -> list[Column]:
    """Where transactions of one millisecond cannot be told apart, the order in the partition decides."""
    inside = sf.expr("case op when 'delete' then 0 when 'update' then 1 else 2 end")
    exact = options.commit_ts == "exact"
    return [sf.col("commit_ts"), *([inside] if exact else []), sf.col("position"), sf.col("partition")]


def _known(options: VerifyOptions) -> Column:
    """Whether the event before tells what the row is like: none of the table's DDLs is between them.

    Two events of one transaction are left to INV-COLLAPSE; those of one millisecond in two partitions
    have no order.
    """
    apart = "commit_ts > previous.commit_ts"
    if options.commit_ts != "exact":
        apart += " or partition = previous.partition"
    since = "(epoch is null or previous.commit_ts > epoch.commit_ts)"
    return sf.expr(f"previous is not null and {since} and ({apart})")


def _present(options: VerifyOptions) -> Column:
    emptied = sf.expr(f"epoch.leaves = '{EMPTY}' and commit_ts > epoch.commit_ts")
    fresh = sf.expr("previous is null or previous.commit_ts <= epoch.commit_ts")
    present = sf.when(sf.col("known"), sf.expr("previous.op != 'delete'")).when(
        emptied & fresh, sf.lit(False)
    )
    if options.from_beginning:
        present = present.when(sf.expr("epoch is null and previous is null"), sf.lit(False))
    return present


def _broken(options: VerifyOptions) -> dict[str, Column]:
    """Why the two do not go together; see the functions of the same invariants below."""
    traced = "not untraced"
    again = "op = 'insert' and present" if options.names_operation else "false"
    gone = "op != 'insert' and not present"
    stay = "not moves and not previous.moves"
    same = f"commit_ts = previous.commit_ts and op = previous.op and {stay}"
    differ = "not (old <=> previous.old and new <=> previous.new)"
    fixed = "coalesce(rule = 'table' or (rule = 'index-value' and hashes_handle), rule is null)"
    broken = {
        "wrong_state": f"{traced} and ({again} or {gone})",
        "wrong_old": f"{traced} and known and present and op != 'insert' and old != previous.new",
        "wrong_copy": f"{same} and (partition = previous.partition or {differ})",
        "wrong_partition": f"{fixed} and partition != previous.partition and {stay}",
    }
    if options.commit_ts != "exact":
        broken["wrong_copy"] = "false"
    return {name: sf.coalesce(sf.expr(wrong), sf.lit(False)) for name, wrong in broken.items()}


def suspect(links: DataFrame) -> dict[str, int]:
    """How many links are broken in each way."""
    return links.agg(*(sf.count_if(name).alias(name) for name in BROKEN)).collect()[0].asDict()


def _both() -> tuple[Column, Column]:
    """The event before and the event, which need not stand in this order if partitions differ."""
    previous = sf.col("previous")
    return place(previous["position"], previous["partition"]), place()


def _severity(options: VerifyOptions) -> Column:
    return sf.lit("error" if options.from_beginning else "warning")


def state_broken(stream: Stream) -> DataFrame:
    """INV-ROW-STATE: inserts of a row that is there, updates and deletes of one that is not.

    At the start of a stream nothing is known of a row until its first event, unless the stream is one
    ``from_beginning``. Filters and the start-ts hide events, so that elsewhere this is a warning.
    """
    there = "insert of a row that is there since commit-ts %d; the delete of a split update may be missing"
    gone = "%s of a row that was deleted at commit-ts %d"
    before = sf.col("previous")["commit_ts"]
    detail = (
        sf.when(sf.col("present"), sf.format_string(there, before))
        .when(sf.expr("known"), sf.format_string(gone, "op", before))
        .otherwise(sf.format_string("%s of a row that was never inserted", "op"))
    )
    links = stream.links.where("wrong_state").withColumn("known", sf.expr("previous.op = 'delete'"))
    previous, event = _both()
    shown = sf.when(sf.col("previous").isNotNull(), previous)
    return links.select(*Violation(_severity(stream.options), (shown, event), detail).found())


def copies_differ(stream: Stream) -> DataFrame:
    """INV-DUP-CONTENT: events of one row, commit-ts and operation with different images."""
    detail = sf.format_string("two %ss with commit-ts %d differ", "op", "commit_ts")
    links = stream.links.where("wrong_copy")
    return links.select(*Violation(sf.lit("error"), _both(), detail).found())


def scattered(stream: Stream) -> DataFrame:
    """INV-KEY-PARTITION: a row that goes on in another partition.

    Dispatch by ``ts`` or by columns that are not the handle key does so by design; where the rule is
    unknown it is a warning.
    """
    severity = sf.when(sf.col("rule").isNull(), "warning").otherwise("error")
    previous = sf.col("previous")["partition"]
    detail = sf.format_string("the row goes on in partition %d, it was in %d", "partition", previous)
    links = stream.links.where("wrong_partition")
    return links.select(*Violation(severity, _both(), detail).found())
