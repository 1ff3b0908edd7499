"""The invariants: each by its id, in the words of the field (stream-semantics §11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from producer.verifier import ddl, framing, gaps, order, resolved, rows, transaction
from producer.verifier.census import Census
from producer.verifier.finding import Severity
from producer.verifier.gaps import Gaps
from producer.verifier.options import VerifyOptions
from producer.verifier.stream import Stream, Violation


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
    """

    id: str
    severity: Severity
    statement: str
    hint: str
    gaps: Gaps
    by_event: Callable[[VerifyOptions], Violation] | None = None
    by_stream: Callable[[Stream], DataFrame] | None = None
    suspects: Callable[[Census], int] | None = None


def _late_rows(census: Census) -> int:
    return census.rows("late")


INVARIANTS: tuple[Invariant, ...] = (
    Invariant(
        id="INV-FRAME",
        severity="error",
        statement="Every message decodes under the strict rules of the protocol.",
        hint="another protocol or protocol version than configured, or an encoder at fault",
        by_event=framing.undecodable,
        gaps=gaps.always,
    ),
    Invariant(
        id="INV-BATCH-SIZE",
        severity="error",
        statement="No message has more events than max-batch-size, nor, with several events, more bytes than "
        "max-message-bytes.",
        hint="the batcher counts otherwise than TiCDC, or other limits are configured here",
        by_event=framing.oversized,
        gaps=gaps.limits,
    ),
    Invariant(
        id="INV-ORDER-TABLE",
        severity="error",
        statement="In a partition, the commit-ts of a table's rows never falls, duplicates aside.",
        hint="rows of one table were sent by several producers, or reordered on the way to the partition; "
        "with a dispatch rule other than table, TiCDC's batching does so too",
        suspects=_late_rows,
        by_stream=order.table_order,
        gaps=gaps.needs("row"),
    ),
    Invariant(
        id="INV-ORDER-KEY",
        severity="error",
        statement="In a partition, the commit-ts of one row or dispatch key never falls, duplicates aside.",
        hint="changes of one row were reordered; a consumer that applies them in turn ends with an old value",
        suspects=_late_rows,
        by_stream=order.key_order,
        gaps=gaps.keyed,
    ),
    Invariant(
        id="INV-RESOLVED",
        severity="error",
        statement="After resolved-ts R, no partition gets a new row with commit-ts < R.",
        hint="the checkpoint was advanced before the row was acknowledged; consumers have dropped this row",
        by_event=resolved.rows_behind,
        gaps=gaps.needs("row", "resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-DDL",
        severity="error",
        statement="After resolved-ts R, no partition gets a new DDL with ts < R.",
        hint="the checkpoint went past a DDL that was not executed yet",
        by_event=resolved.ddls_behind,
        gaps=gaps.needs("ddl", "resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-BROADCAST",
        severity="error",
        statement="Every resolved-ts appears in all partitions of its topic; only the newest may be missing.",
        hint="resolved events were sent to some partitions only; a consumer's watermark, the minimum over "
        "all partitions, lags behind",
        by_stream=resolved.not_everywhere,
        gaps=gaps.everywhere("resolved"),
    ),
    Invariant(
        id="INV-DDL-BROADCAST",
        severity="error",
        statement="Every DDL is in all partitions of its topic (Canal-JSON: in partition 0 only).",
        hint="the DDL was dispatched like a row, or the topic got more partitions",
        by_stream=ddl.misplaced,
        gaps=gaps.everywhere("ddl"),
    ),
    Invariant(
        id="INV-DDL-BARRIER-BEFORE",
        severity="error",
        statement="After a DDL with ts x, no partition gets a new row with commit-ts ≤ x.",
        hint="the DDL was sent before all rows up to its ts were acknowledged; they have the old schema",
        suspects=lambda census: census.rows("barred"),
        by_stream=ddl.rows_after,
        gaps=gaps.needs("row", "ddl"),
    ),
    Invariant(
        id="INV-DDL-BARRIER-AFTER",
        severity="error",
        statement="Before the first copy of a DDL with ts x, no partition gets a row of its table > x.",
        hint="the table was not held back until its DDL was sent; consumers do not know the row's schema yet",
        suspects=lambda census: census.sum("ddl", "late"),
        by_stream=ddl.rows_before,
        gaps=gaps.needs("row", "ddl"),
    ),
    Invariant(
        id="INV-ROW-PARTITION",
        severity="error",
        statement="Every row is in the partition that its table's dispatch rule gives.",
        hint="another rule, name case or partition number than configured, or placed by the old image",
        by_event=rows.strayed,
        gaps=gaps.routed,
    ),
    Invariant(
        id="INV-COLLAPSE",
        severity="error",
        statement="Per commit-ts a row has one insert, update or delete, or a delete and then an insert.",
        hint="the statements of a transaction were sent instead of their net change",
        by_stream=transaction.uncollapsed,
        gaps=gaps.transactions(gaps.keyed),
    ),
    Invariant(
        id="INV-KEY-UPDATE-SPLIT",
        severity="error",
        statement="No update changes a handle or unique column: it is sent as a delete and an insert.",
        hint="output-raw-change-event is on, or the producer is older than v6.5.3, v7.1.1",
        by_event=rows.unsplit,
        gaps=gaps.split,
    ),
    Invariant(
        id="INV-TXN-DELETE-FIRST",
        severity="error",
        statement="Of one table, commit-ts and partition, deletes come before inserts.",
        hint="a split update's halves were not sorted; a consumer meets a duplicate unique key",
        suspects=lambda census: census.rows("after_insert"),
        by_stream=transaction.inserts_first,
        gaps=gaps.transactions(gaps.needs("row")),
    ),
)
