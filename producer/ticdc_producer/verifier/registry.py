"""The invariants: each by its id, in the words of the field (stream-semantics §11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame

from ticdc_producer.verifier import (
    ddl,
    duplicates,
    framing,
    old_image,
    order,
    preconditions,
    resolved,
    row_history,
    rows,
    table_shape,
    transaction,
)
from ticdc_producer.verifier.finding import Severity
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.preconditions import Gap, Gaps
from ticdc_producer.verifier.stream import Stream, Violation
from ticdc_producer.verifier.stream_stats import Census


def _always(options: VerifyOptions) -> bool:  # noqa: ARG001 - one signature for all
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """One rule that a stream must keep.

    :param severity: the usual one; what is violated in a milder way says so itself.
    :param statement: what must hold, as a sentence.
    :param hint: usual cause of a violation.
    :param by_event: for invariants on one marked event; all of these share one scan.
    :param by_stream: for invariants across events: the columns of ``Violation.found``.
    :param suspects: how many events may break it, as far as one pass tells: where none does, it holds.
    :param gaps: what cannot be checked, given the options and what the stream holds.
    :param asked: whether the options ask for it; else nothing is said of it.
    :param timeless: whether it can be checked where rows do not tell their commit-ts.
    """

    id: str
    severity: Severity
    statement: str
    hint: str
    preconditions: Gaps
    by_event: Callable[[VerifyOptions], Violation] | None = None
    by_stream: Callable[[Stream], DataFrame] | None = None
    suspects: Callable[[Census], int] | None = None
    asked: Callable[[VerifyOptions], bool] = _always
    timeless: bool = False

    def missing(self, options: VerifyOptions, census: Census) -> Iterator[Gap]:
        """What cannot be checked in this stream."""
        if not (self.timeless or options.times_rows):
            yield Gap("rows do not tell their commit-ts")
        else:
            yield from self.preconditions(options, census)


def _late_rows(census: Census) -> int:
    return census.rows("late")


def _links(what: str) -> Callable[[Census], int]:
    return lambda census: census.links[what]


def _repeated_rows(census: Census) -> int:
    return census.rows("duplicates")


INVARIANTS: tuple[Invariant, ...] = (
    Invariant(
        id="INV-FRAME",
        timeless=True,
        severity="error",
        statement="Every message decodes under the strict rules of the protocol.",
        hint="another protocol or protocol version than configured, or an encoder at fault",
        by_event=framing.undecodable,
        preconditions=preconditions.always,
    ),
    Invariant(
        id="INV-BATCH-SIZE",
        timeless=True,
        severity="error",
        statement="No message has more events than max-batch-size, nor, with several events, more bytes than "
        "max-message-bytes.",
        hint="the batcher counts otherwise than TiCDC, or other limits are configured here",
        by_event=framing.oversized,
        preconditions=preconditions.limits,
    ),
    Invariant(
        id="INV-BATCH-KIND",
        timeless=True,
        severity="warning",
        statement="A message holds events of one kind; a DDL or resolved event stands alone.",
        hint="rows and DDLs share a batcher; consumers that look at the first event only miss the others",
        by_event=framing.mixed_kinds,
        preconditions=preconditions.needs("row"),
    ),
    Invariant(
        id="INV-BATCH-KEY",
        timeless=True,
        severity="warning",
        statement="All rows of a message share the dispatch key.",
        hint="batched by partition, as early versions did (batch-by=partition), or other dispatch rules",
        by_event=framing.mixed_keys,
        preconditions=preconditions.batches,
    ),
    Invariant(
        id="INV-TS-SANE",
        severity="warning",
        statement="Every commit-ts and resolved-ts is a TSO of a time that can be meant.",
        hint="seconds, milliseconds or 0 stand where a TSO (milliseconds << 18) belongs",
        by_event=rows.untimely,
        preconditions=preconditions.anything,
    ),
    Invariant(
        id="INV-ORDER-TABLE",
        severity="error",
        statement="In a partition, the commit-ts of a table's rows never falls, duplicates aside.",
        hint="rows of one table were sent by several producers, or reordered on the way to the partition; "
        "with a dispatch rule other than table, TiCDC's batching does so too",
        suspects=_late_rows,
        by_stream=order.table_order,
        preconditions=preconditions.needs("row"),
    ),
    Invariant(
        id="INV-ORDER-KEY",
        severity="error",
        statement="In a partition, the commit-ts of one row or dispatch key never falls, duplicates aside.",
        hint="changes of one row were reordered; a consumer that applies them in turn ends with an old value",
        suspects=_late_rows,
        by_stream=order.key_order,
        preconditions=preconditions.keyed,
    ),
    Invariant(
        id="INV-RESOLVED",
        severity="error",
        statement="After resolved-ts R, no partition gets a new row with commit-ts < R.",
        hint="the checkpoint was advanced before the row was acknowledged; consumers have dropped this row",
        by_event=resolved.rows_behind,
        preconditions=preconditions.needs("row", "resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-DDL",
        severity="error",
        statement="After resolved-ts R, no partition gets a new DDL with ts < R.",
        hint="the checkpoint went past a DDL that was not executed yet",
        by_event=resolved.ddls_behind,
        preconditions=preconditions.needs("ddl", "resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-MONO",
        timeless=True,
        severity="warning",
        statement="In a partition, a new resolved-ts is not lower than one before it.",
        hint="legal after a restart of classic TiCDC; a consumer must keep the highest it has seen",
        by_event=resolved.falling,
        preconditions=preconditions.needs("resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-BROADCAST",
        timeless=True,
        severity="error",
        statement="Every resolved-ts appears in all partitions of its topic; only the newest may be missing.",
        hint="resolved events were sent to some partitions only; a consumer's watermark, the minimum over "
        "all partitions, lags behind",
        by_stream=resolved.not_everywhere,
        preconditions=preconditions.everywhere("resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-STALL",
        timeless=True,
        severity="info",
        statement="In a partition, the next resolved event comes within `--resolved-gap-ms`.",
        hint="the changefeed was paused or lagged, or a DDL took long",
        by_event=resolved.stalling,
        asked=lambda options: options.resolved_gap_ms is not None,
        preconditions=preconditions.needs("resolved"),
    ),
    Invariant(
        id="INV-COMPLETE",
        severity="info",
        statement="All rows are covered by a resolved-ts that all partitions have.",
        hint="the stream goes on, or was cut short: transactions at its end may lack rows",
        suspects=lambda census: census.uncovered,
        by_stream=resolved.unfinished,
        preconditions=preconditions.covered,
    ),
    Invariant(
        id="INV-DDL-BROADCAST",
        timeless=True,
        severity="error",
        statement="Every DDL is in all partitions of its topic (Canal-JSON: in partition 0 only).",
        hint="the DDL was dispatched like a row, or the topic got more partitions",
        by_stream=ddl.misplaced,
        preconditions=preconditions.everywhere("ddl"),
    ),
    Invariant(
        id="INV-DDL-SAME",
        timeless=True,
        severity="error",
        statement="All partitions have the same DDLs at a ts, in the same words and order.",
        hint="a DDL was encoded anew for each partition, or several of one ts were sent side by side",
        by_stream=ddl.copies_differ,
        preconditions=preconditions.without(
            lambda options: not options.ddl_broadcast,
            "a DDL stands in one partition only",
            preconditions.needs("ddl"),
        ),
    ),
    Invariant(
        id="INV-DDL-ORDER",
        timeless=True,
        severity="error",
        statement="In a partition, the ts of DDLs never falls, duplicates aside.",
        hint="DDLs were sent side by side instead of one at a time",
        by_event=ddl.disordered,
        preconditions=preconditions.needs("ddl"),
    ),
    Invariant(
        id="INV-DDL-BARRIER-BEFORE",
        severity="error",
        statement="After a DDL with ts x, no partition gets a new row with commit-ts ≤ x.",
        hint="the DDL was sent before all rows up to its ts were acknowledged; they have the old schema",
        suspects=lambda census: census.rows("barred"),
        by_stream=ddl.rows_after,
        preconditions=preconditions.needs("row", "ddl"),
    ),
    Invariant(
        id="INV-DDL-BARRIER-AFTER",
        severity="error",
        statement="Before the first copy of a DDL with ts x, no partition gets a row of its table > x.",
        hint="the table was not held back until its DDL was sent; consumers do not know the row's schema yet",
        suspects=lambda census: census.sum("ddl", "late"),
        by_stream=ddl.rows_before,
        preconditions=preconditions.needs("row", "ddl"),
    ),
    Invariant(
        id="INV-ROW-PARTITION",
        timeless=True,
        severity="error",
        statement="Every row is in the partition that its table's dispatch rule gives.",
        hint="another rule, name case or partition number than configured, or placed by the old image",
        by_event=rows.strayed,
        preconditions=preconditions.routed,
    ),
    Invariant(
        id="INV-KEY-PARTITION",
        severity="error",
        statement="All events of one row are in one partition.",
        hint="the number of partitions changed, or a consumer group's own partitioner placed the row",
        suspects=_links("wrong_partition"),
        by_stream=row_history.scattered,
        preconditions=preconditions.stays,
    ),
    Invariant(
        id="INV-TOPIC",
        timeless=True,
        severity="error",
        statement="Rows and DDLs are in the topic that their table's dispatch rule gives.",
        hint="another topic expression than configured, or characters of the name replaced otherwise",
        by_event=rows.elsewhere,
        preconditions=preconditions.placed,
    ),
    Invariant(
        id="INV-HANDLE",
        timeless=True,
        severity="warning",
        statement="Every row has a handle key, and no NULL in it.",
        hint="force-replicate sends tables without handle key; else the flags or the h field are wrong",
        by_event=rows.unhandled,
        preconditions=preconditions.handles,
    ),
    Invariant(
        id="INV-COLLAPSE",
        severity="error",
        statement="Per commit-ts a row has one insert, update or delete, or a delete and then an insert.",
        hint="the statements of a transaction were sent instead of their net change",
        by_stream=transaction.uncollapsed,
        preconditions=preconditions.transactions(preconditions.keyed),
    ),
    Invariant(
        id="INV-KEY-UPDATE-SPLIT",
        timeless=True,
        severity="error",
        statement="No update changes a handle or unique column: it is sent as a delete and an insert.",
        hint="output-raw-change-event is on, or the producer is older than v6.5.3, v7.1.1",
        by_event=rows.unsplit,
        preconditions=preconditions.split,
    ),
    Invariant(
        id="INV-TXN-DELETE-FIRST",
        severity="error",
        statement="Of one table, commit-ts and partition, deletes come before inserts.",
        hint="a split update's halves were not sorted; a consumer meets a duplicate unique key",
        suspects=lambda census: census.rows("after_insert"),
        by_stream=transaction.inserts_first,
        preconditions=preconditions.transactions(preconditions.needs("row")),
    ),
    Invariant(
        id="INV-DUP-CONTENT",
        severity="error",
        statement="Events of one row, commit-ts and operation have identical images.",
        hint="a repeated event was made anew under another configuration or schema",
        suspects=_links("wrong_copy"),
        by_stream=row_history.copies_differ,
        preconditions=preconditions.transactions(preconditions.keyed),
    ),
    Invariant(
        id="INV-DUP-ORDER",
        severity="warning",
        statement="Repeated rows come in the order of the first time, without leaving out any on the way.",
        hint="a restart repeats a suffix of what was sent; here rows are missing in the middle of it",
        suspects=_repeated_rows,
        by_stream=duplicates.out_of_turn,
        preconditions=preconditions.transactions(preconditions.needs("row")),
    ),
    Invariant(
        id="INV-DUP-COMPLETE",
        severity="warning",
        statement="A repetition reaches the end of what was sent before new rows come.",
        hint="the restart took another table or key with it; repeated rows are missing at the end",
        suspects=_repeated_rows,
        by_stream=duplicates.cut_short,
        preconditions=preconditions.transactions(preconditions.needs("row")),
    ),
    Invariant(
        id="INV-ROW-STATE",
        severity="warning",
        statement="An insert is of a row that is not there, an update or delete of one that is.",
        hint="an event is missing, or hidden by a filter or the start-ts; a consumer meets a duplicate key, "
        "or a change of nothing",
        suspects=_links("wrong_state"),
        by_stream=row_history.state_broken,
        preconditions=preconditions.states,
    ),
    Invariant(
        id="INV-OLD-IMAGE",
        severity="warning",
        statement="An old image has the values that the event before it left.",
        hint="an event is missing between the two, or the old image was not read at the commit-ts before",
        suspects=_links("wrong_old"),
        by_stream=old_image.old_images_differ,
        preconditions=preconditions.old_images,
    ),
    Invariant(
        id="INV-SCHEMA",
        severity="warning",
        statement="Between two DDLs of a table its rows have the same columns, types and flags.",
        hint="a DDL is missing, or rows were encoded with another schema version",
        by_stream=table_shape.shapes_differ,
        preconditions=preconditions.traced(preconditions.needs("row")),
    ),
    Invariant(
        id="INV-FLAGS",
        timeless=True,
        severity="info",
        statement="Column flags go together as TiDB gives them.",
        hint="made-up messages often have no flags",
        by_event=table_shape.odd_columns,
        preconditions=preconditions.without(
            lambda options: not options.flags, "the protocol tells no flags", preconditions.needs("row")
        ),
    ),
)
