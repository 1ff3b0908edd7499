"""Tracks each row from event to event: whether it exists, and its last values.

The events of a row are ordered by commit-ts; within a transaction, deletes come before inserts. One window
compares each event with the previous one and finds all invalid transitions in one pass. They are few, and
the checks of the invariants read only them.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import FIRST_ROW, TABLE, Stream, Violation, event_ref
from ticdc_producer.verifier.table_epochs import EMPTY, with_epoch

_EVENT_COLUMNS = (
    "topic",
    "partition",
    "position",
    *TABLE,
    "row_key",
    "commit_ts",
    "rule",
    "hashes_handle",
    "untracked",
)
TRANSITION_ERRORS = ("wrong_state", "wrong_old", "wrong_copy", "wrong_partition")


def invalid_transitions(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """Events that contradict the previous event of the same row.

    Columns: :data:`_EVENT_COLUMNS`, ``op``, ``present`` (NULL: unknown), ``previous`` (``partition``,
    ``position``, ``commit_ts``, ``op``…) and the booleans of :data:`TRANSITION_ERRORS`.
    """
    per_row = Window.partitionBy("topic", "row_key").orderBy(*_order(options))
    before = ("partition", "position", "commit_ts", "op", "old", "new", "moves")
    linked = _steps(events).withColumn("previous", sf.lag(sf.struct(*before)).over(per_row))
    tracked = with_epoch(linked, events, options).withColumn("known", _known(options))
    checked = tracked.withColumn("present", _present(options)).withColumns(_transition_errors(options))
    return checked.where(" or ".join(TRANSITION_ERRORS)).select(
        *_EVENT_COLUMNS, "op", "present", "previous", *TRANSITION_ERRORS
    )


def _steps(events: DataFrame) -> DataFrame:
    """The changes of each row; an update of the handle key deletes one row and inserts another."""
    rows = events.where(f"{FIRST_ROW} and row_key is not null")
    moves = sf.expr("coalesce(old_row_key != row_key, false)")
    steps = rows.select(
        *_EVENT_COLUMNS,
        sf.when(moves, "insert").otherwise(sf.col("op")).alias("op"),
        sf.when(~moves, sf.col("old")).alias("old"),
        "new",
        moves.alias("moves"),
    )
    left = rows.where(moves).withColumns({"row_key": sf.col("old_row_key"), "op": sf.lit("delete")})
    ends = left.select(
        *_EVENT_COLUMNS, "op", "old", sf.lit(None).cast("long").alias("new"), sf.lit(True).alias("moves")
    )
    return steps.union(ends)


def _order(options: VerifyOptions) -> list[Column]:
    """The order of a row's events.

    If transactions of one millisecond cannot be distinguished, the position in the partition decides.
    """
    inside = sf.expr("case op when 'delete' then 0 when 'update' then 1 else 2 end")
    exact = options.commit_ts == "exact"
    return [sf.col("commit_ts"), *([inside] if exact else []), sf.col("position"), sf.col("partition")]


def _known(options: VerifyOptions) -> Column:
    """Whether the previous event determines the row: no DDL of the table is between the two.

    Two events of one transaction are checked by INV-COLLAPSE; events of one millisecond in two partitions
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


def _transition_errors(options: VerifyOptions) -> dict[str, Column]:
    """The contradictions between two events; the checks below describe them."""
    tracked = "not untracked"
    again = "op = 'insert' and present" if options.names_operation else "false"
    gone = "op != 'insert' and not present"
    stay = "not moves and not previous.moves"
    same = f"commit_ts = previous.commit_ts and op = previous.op and {stay}"
    differ = "not (old <=> previous.old and new <=> previous.new)"
    fixed = "coalesce(rule = 'table' or (rule = 'index-value' and hashes_handle), rule is null)"
    errors = {
        "wrong_state": f"{tracked} and ({again} or {gone})",
        "wrong_old": f"{tracked} and known and present and op != 'insert' and old != previous.new",
        "wrong_copy": f"{same} and (partition = previous.partition or {differ})",
        "wrong_partition": f"{fixed} and partition != previous.partition and {stay}",
    }
    if options.commit_ts != "exact":
        errors["wrong_copy"] = "false"
    return {name: sf.coalesce(sf.expr(wrong), sf.lit(False)) for name, wrong in errors.items()}


def count_invalid(transitions: DataFrame) -> dict[str, int]:
    """Number of invalid transitions by kind of error."""
    return (
        transitions.agg(*(sf.count_if(name).alias(name) for name in TRANSITION_ERRORS)).collect()[0].asDict()
    )


def _event_pair() -> tuple[Column, Column]:
    """References to the previous event and the event; in two partitions they have no order."""
    previous = sf.col("previous")
    return event_ref(previous["position"], previous["partition"]), event_ref()


def _severity(options: VerifyOptions) -> Column:
    return sf.lit("error" if options.from_beginning else "warning")


def check_row_state(stream: Stream) -> DataFrame:
    """INV-ROW-STATE: inserts of existing rows, updates and deletes of absent rows.

    At the start of a stream a row is unknown until its first event, unless the stream is
    ``from_beginning``. Otherwise this is a warning, because filters and the start-ts hide events.
    """
    existing = "insert of a row that exists since commit-ts %d; the delete of a split update may be missing"
    gone = "%s of a row that was deleted at commit-ts %d"
    before = sf.col("previous")["commit_ts"]
    detail = (
        sf.when(sf.col("present"), sf.format_string(existing, before))
        .when(sf.expr("known"), sf.format_string(gone, "op", before))
        .otherwise(sf.format_string("%s of a row that was never inserted", "op"))
    )
    transitions = stream.transitions.where("wrong_state").withColumn(
        "known", sf.expr("previous.op = 'delete'")
    )
    previous, event = _event_pair()
    example = sf.when(sf.col("previous").isNotNull(), previous)
    return transitions.select(*Violation(_severity(stream.options), (example, event), detail).found())


def check_dup_content(stream: Stream) -> DataFrame:
    """INV-DUP-CONTENT: events of one row, commit-ts and operation with different images."""
    detail = sf.format_string("two %ss with commit-ts %d differ", "op", "commit_ts")
    transitions = stream.transitions.where("wrong_copy")
    return transitions.select(*Violation(sf.lit("error"), _event_pair(), detail).found())


def check_key_partition(stream: Stream) -> DataFrame:
    """INV-KEY-PARTITION: rows whose next event is in another partition.

    Dispatch by ``ts`` or by columns other than the handle key does so by design; it is a warning if the
    rule is unknown.
    """
    severity = sf.when(sf.col("rule").isNull(), "warning").otherwise("error")
    previous = sf.col("previous")["partition"]
    detail = sf.format_string("the row is in partition %d, its previous event in %d", "partition", previous)
    transitions = stream.transitions.where("wrong_partition")
    return transitions.select(*Violation(severity, _event_pair(), detail).found())
