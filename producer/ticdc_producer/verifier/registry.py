"""The registry of invariants, each with its id, sentence and check (docs/stream-semantics.md §11)."""

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
from ticdc_producer.verifier.preconditions import Preconditions, Unmet
from ticdc_producer.verifier.stream import Stream, Violation
from ticdc_producer.verifier.stream_stats import StreamStats


def _always(options: VerifyOptions) -> bool:  # noqa: ARG001 - one signature for all
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """One rule that every legal stream satisfies.

    :param severity: the usual severity; a check may report a milder one.
    :param statement: what must hold, as a sentence.
    :param hint: usual cause of a violation.
    :param preconditions: yields what cannot be checked, given the options and the stream's statistics.
    :param by_event: check of single marked events; all of these checks share one scan.
    :param by_stream: check across events; returns the columns of ``Violation.found``.
    :param candidates: number of events that may violate it, from the statistics; 0 means that it holds.
    :param enabled: whether the options enable it; a disabled invariant is not reported at all.
    :param without_row_commit_ts: it can be checked although rows carry no commit-ts.
    """

    id: str
    severity: Severity
    statement: str
    hint: str
    preconditions: Preconditions
    by_event: Callable[[VerifyOptions], Violation] | None = None
    by_stream: Callable[[Stream], DataFrame] | None = None
    candidates: Callable[[StreamStats], int] | None = None
    enabled: Callable[[VerifyOptions], bool] = _always
    without_row_commit_ts: bool = False

    def unmet(self, options: VerifyOptions, stats: StreamStats) -> Iterator[Unmet]:
        """The preconditions that this stream does not meet."""
        if not (self.without_row_commit_ts or options.rows_have_commit_ts):
            yield Unmet("the rows carry no commit-ts")
        else:
            yield from self.preconditions(options, stats)


def _late_rows(stats: StreamStats) -> int:
    return stats.rows("late")


def _invalid_transitions(what: str) -> Callable[[StreamStats], int]:
    return lambda stats: stats.transitions[what]


def _repeated_rows(stats: StreamStats) -> int:
    return stats.rows("duplicates")


INVARIANTS: tuple[Invariant, ...] = (
    Invariant(
        id="INV-FRAME",
        without_row_commit_ts=True,
        severity="error",
        statement="Every message decodes under the strict rules of the protocol.",
        hint="the protocol or its version is not the configured one, or the encoder has a bug",
        by_event=framing.check_frame,
        preconditions=preconditions.nothing,
    ),
    Invariant(
        id="INV-BATCH-SIZE",
        without_row_commit_ts=True,
        severity="error",
        statement="No message has more events than max-batch-size; no message with several events has more "
        "bytes than max-message-bytes.",
        hint="the batcher counts differently from TiCDC, or the limits given here are not the changefeed's",
        by_event=framing.check_batch_size,
        preconditions=preconditions.message_limits,
    ),
    Invariant(
        id="INV-BATCH-KIND",
        without_row_commit_ts=True,
        severity="warning",
        statement="A message holds events of one kind; a DDL or resolved event is alone in its message.",
        hint="rows and DDLs share a batcher; consumers that read only the first event miss the others",
        by_event=framing.check_batch_kind,
        preconditions=preconditions.events_of_kind("row"),
    ),
    Invariant(
        id="INV-BATCH-KEY",
        without_row_commit_ts=True,
        severity="warning",
        statement="All rows of a message share the dispatch key.",
        hint="batched by partition, as early versions did (batch-by=partition), or the dispatch rules differ",
        by_event=framing.check_batch_key,
        preconditions=preconditions.batch_keys,
    ),
    Invariant(
        id="INV-TS-SANE",
        severity="warning",
        statement="Every commit-ts and resolved-ts decodes to a plausible time.",
        hint="seconds, milliseconds or 0 were sent instead of a TSO (milliseconds << 18)",
        by_event=rows.check_ts_sane,
        preconditions=preconditions.any_events,
    ),
    Invariant(
        id="INV-ORDER-TABLE",
        severity="error",
        statement="In a partition, the commit-ts of a table's rows never decreases, except in duplicates.",
        hint="several producers sent rows of one table, or rows were reordered on the way to the partition; "
        "with a dispatch rule other than table, TiCDC's batching reorders them too",
        candidates=_late_rows,
        by_stream=order.check_order_table,
        preconditions=preconditions.events_of_kind("row"),
    ),
    Invariant(
        id="INV-ORDER-KEY",
        severity="error",
        statement="In a partition, the commit-ts of one row or dispatch key never decreases, except in "
        "duplicates.",
        hint="changes of one row were reordered; a consumer that applies them as they arrive ends with an "
        "old value",
        candidates=_late_rows,
        by_stream=order.check_order_key,
        preconditions=preconditions.handle_key_rows,
    ),
    Invariant(
        id="INV-RESOLVED",
        severity="error",
        statement="After resolved-ts R, no partition gets a new row with commit-ts < R.",
        hint="the checkpoint was advanced before the row was acknowledged; consumers have dropped this row",
        by_event=resolved.check_resolved,
        preconditions=preconditions.events_of_kind("row", "resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-DDL",
        severity="error",
        statement="After resolved-ts R, no partition gets a new DDL with ts < R.",
        hint="the checkpoint went past a DDL that was not executed yet",
        by_event=resolved.check_resolved_ddl,
        preconditions=preconditions.events_of_kind("ddl", "resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-MONO",
        without_row_commit_ts=True,
        severity="warning",
        statement="In a partition, a new resolved-ts is never lower than an earlier one.",
        hint="legal after a restart of classic TiCDC; a consumer must use the highest resolved-ts so far",
        by_event=resolved.check_resolved_mono,
        preconditions=preconditions.events_of_kind("resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-BROADCAST",
        without_row_commit_ts=True,
        severity="error",
        statement="Every resolved-ts appears in all partitions of its topic; only the newest may be missing.",
        hint="resolved events were sent to some partitions only; a consumer's watermark, the minimum over "
        "all partitions, lags behind",
        by_stream=resolved.check_resolved_broadcast,
        preconditions=preconditions.partition_counts("resolved"),
    ),
    Invariant(
        id="INV-RESOLVED-STALL",
        without_row_commit_ts=True,
        severity="info",
        statement="In a partition, the next resolved event comes within `--resolved-gap-ms`.",
        hint="the changefeed was paused or lagged, or a DDL took a long time",
        by_event=resolved.check_resolved_stall,
        enabled=lambda options: options.resolved_gap_ms is not None,
        preconditions=preconditions.events_of_kind("resolved"),
    ),
    Invariant(
        id="INV-COMPLETE",
        severity="info",
        statement="All rows are covered by a resolved-ts that all partitions have.",
        hint="the stream continues or was truncated; transactions at its end may lack rows",
        candidates=lambda stats: stats.uncovered,
        by_stream=resolved.check_complete,
        preconditions=preconditions.resolved_coverage,
    ),
    Invariant(
        id="INV-DDL-BROADCAST",
        without_row_commit_ts=True,
        severity="error",
        statement="Every DDL is in all partitions of its topic (Canal-JSON: in partition 0 only).",
        hint="the DDL was dispatched like a row, or the topic got more partitions",
        by_stream=ddl.check_ddl_broadcast,
        preconditions=preconditions.partition_counts("ddl"),
    ),
    Invariant(
        id="INV-DDL-SAME",
        without_row_commit_ts=True,
        severity="error",
        statement="All partitions have the same DDLs at a ts, with the same text and in the same order.",
        hint="a DDL was encoded separately for each partition, or DDLs of one ts were sent concurrently",
        by_stream=ddl.check_ddl_same,
        preconditions=preconditions.requires_option(
            lambda options: not options.ddl_broadcast,
            "the protocol sends a DDL to one partition only",
            preconditions.events_of_kind("ddl"),
        ),
    ),
    Invariant(
        id="INV-DDL-ORDER",
        without_row_commit_ts=True,
        severity="error",
        statement="In a partition, the ts of DDLs never decreases, except in duplicates.",
        hint="DDLs were sent concurrently instead of one at a time",
        by_event=ddl.check_ddl_order,
        preconditions=preconditions.events_of_kind("ddl"),
    ),
    Invariant(
        id="INV-DDL-BARRIER-BEFORE",
        severity="error",
        statement="After a DDL with ts x, no partition gets a new row with commit-ts ≤ x.",
        hint="the DDL was sent before all rows up to its ts were acknowledged; they have the old schema",
        candidates=lambda stats: stats.rows("after_ddl"),
        by_stream=ddl.check_ddl_barrier_before,
        preconditions=preconditions.events_of_kind("row", "ddl"),
    ),
    Invariant(
        id="INV-DDL-BARRIER-AFTER",
        severity="error",
        statement="Before the first copy of a DDL with ts x, no partition gets a row of its table with "
        "commit-ts > x.",
        hint="the table was not blocked until its DDL was sent; consumers do not know the row's schema yet",
        candidates=lambda stats: stats.sum("ddl", "late"),
        by_stream=ddl.check_ddl_barrier_after,
        preconditions=preconditions.events_of_kind("row", "ddl"),
    ),
    Invariant(
        id="INV-ROW-PARTITION",
        without_row_commit_ts=True,
        severity="error",
        statement="Every row is in the partition that its table's dispatch rule gives.",
        hint="the rule, name case or number of partitions differs from the configuration, or the old image "
        "was hashed",
        by_event=rows.check_row_partition,
        preconditions=preconditions.dispatch_rules,
    ),
    Invariant(
        id="INV-KEY-PARTITION",
        severity="error",
        statement="All events of one row are in one partition.",
        hint="the number of partitions changed, or another partitioner than TiCDC's chose the partition",
        candidates=_invalid_transitions("wrong_partition"),
        by_stream=row_history.check_key_partition,
        preconditions=preconditions.fixed_partition,
    ),
    Invariant(
        id="INV-TOPIC",
        without_row_commit_ts=True,
        severity="error",
        statement="Rows and DDLs are in the topic that their table's dispatch rule gives.",
        hint="the topic expression differs from the configuration, or characters of the name were replaced "
        "differently",
        by_event=rows.check_topic,
        preconditions=preconditions.topic_rules,
    ),
    Invariant(
        id="INV-HANDLE",
        without_row_commit_ts=True,
        severity="warning",
        statement="Every row has a handle key without NULL.",
        hint="force-replicate sends tables without handle key; otherwise the flags or the h field are wrong",
        by_event=rows.check_handle,
        preconditions=preconditions.handle_keys,
    ),
    Invariant(
        id="INV-COLLAPSE",
        severity="error",
        statement="Per commit-ts, a row has one insert, update or delete, or a delete followed by an insert.",
        hint="the statements of a transaction were sent instead of their net change",
        by_stream=transaction.check_collapse,
        preconditions=preconditions.exact_commit_ts(preconditions.handle_key_rows),
    ),
    Invariant(
        id="INV-KEY-UPDATE-SPLIT",
        without_row_commit_ts=True,
        severity="error",
        statement="No update changes a handle or unique column; such an update is sent as a delete and an "
        "insert.",
        hint="output-raw-change-event is on, or the producer is older than v6.5.3, v7.1.1",
        by_event=rows.check_key_update_split,
        preconditions=preconditions.key_update_split,
    ),
    Invariant(
        id="INV-TXN-DELETE-FIRST",
        severity="error",
        statement="Within a table, commit-ts and partition, deletes come before inserts.",
        hint="the halves of a split update were not sorted; a consumer gets a duplicate unique key",
        candidates=lambda stats: stats.rows("after_insert"),
        by_stream=transaction.check_txn_delete_first,
        preconditions=preconditions.exact_commit_ts(preconditions.events_of_kind("row")),
    ),
    Invariant(
        id="INV-DUP-CONTENT",
        severity="error",
        statement="Events of one row, commit-ts and operation have identical images.",
        hint="a repeated event was encoded again with another configuration or schema",
        candidates=_invalid_transitions("wrong_copy"),
        by_stream=row_history.check_dup_content,
        preconditions=preconditions.exact_commit_ts(preconditions.handle_key_rows),
    ),
    Invariant(
        id="INV-DUP-ORDER",
        severity="warning",
        statement="Repeated rows come in their original order, without gaps.",
        hint="a restart repeats a suffix of the rows sent before; here rows in the middle of it are missing",
        candidates=_repeated_rows,
        by_stream=duplicates.check_dup_order,
        preconditions=preconditions.exact_commit_ts(preconditions.events_of_kind("row")),
    ),
    Invariant(
        id="INV-DUP-COMPLETE",
        severity="warning",
        statement="A replay reaches the newest row sent before the restart; only then new rows come.",
        hint="the replay stopped early for this table or key; repeated rows at the end are missing",
        candidates=_repeated_rows,
        by_stream=duplicates.check_dup_complete,
        preconditions=preconditions.exact_commit_ts(preconditions.events_of_kind("row")),
    ),
    Invariant(
        id="INV-ROW-STATE",
        severity="warning",
        statement="Inserts target absent rows; updates and deletes target existing ones.",
        hint="an event is missing, or hidden by a filter or the start-ts; a consumer gets a duplicate key, "
        "or changes a row that does not exist",
        candidates=_invalid_transitions("wrong_state"),
        by_stream=row_history.check_row_state,
        preconditions=preconditions.row_states,
    ),
    Invariant(
        id="INV-OLD-IMAGE",
        severity="warning",
        statement="An old image has the values of the row's previous event.",
        hint="an event between the two is missing, or the old image was read at another commit-ts",
        candidates=_invalid_transitions("wrong_old"),
        by_stream=old_image.check_old_image,
        preconditions=preconditions.old_images,
    ),
    Invariant(
        id="INV-SCHEMA",
        severity="warning",
        statement="Between two DDLs of a table, its rows have the same columns, types and flags.",
        hint="a DDL is missing, or rows were encoded with another schema version",
        by_stream=table_shape.check_schema,
        preconditions=preconditions.tracked_tables(preconditions.events_of_kind("row")),
    ),
    Invariant(
        id="INV-FLAGS",
        without_row_commit_ts=True,
        severity="info",
        statement="The flags of a column are a combination that TiDB produces.",
        hint="messages that TiCDC did not write often have no flags",
        by_event=table_shape.check_flags,
        preconditions=preconditions.requires_option(
            lambda options: not options.flags,
            "the protocol has no column flags",
            preconditions.events_of_kind("row"),
        ),
    ),
)
