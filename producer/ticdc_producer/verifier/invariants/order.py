"""Invariants of commit-ts order, of repeated rows and of transactions (docs/stream-semantics.md §11).

Source: docs/stream-semantics.md §9.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import EventColumns, EventKind, Rule
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.batch_groups import BatchGroups
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.violations import EventPositions, Invariant, Violations


def _check_order_table(checks: KeyChecks) -> Violations:
    """Report errors where TiCDC guarantees the order: under table dispatch, in one physical table.

    Batching by dispatch key may reorder the rows of a table. Each partition of a table has a dispatcher, so
    rows of two of them have no common order.
    """
    events, options = checks.groups.events, checks.groups.options
    in_order = (events.rule == Rule.TABLE) & ~_may_be_partitioned(events, options)
    guaranteed = options.strict_table_order | in_order
    return Violations.of_events(
        events,
        checks.groups.first_rows & (events.commit_ts < events.table_ts),
        np.where(guaranteed, "error", "warning"),
        _comes_after(events, events.table_ts),
        after=events.table_position,
    )


def _may_be_partitioned(rows: EventColumns, options: VerifyOptions) -> Flags:
    """Return which rows may be of a partitioned table, but do not name its physical table."""
    if options.fidelity.has_table_ids:
        return np.zeros(len(rows.commit_ts), bool)
    codes, tables = rows.tables
    known = options.partitioned
    return np.array([known is None or ".".join(table) in known for table in tables], bool)[codes]


ORDER_TABLE = Invariant(
    id="INV-ORDER-TABLE",
    severity="error",
    statement="In a partition, the commit-ts of a table's rows never decreases, except in duplicates.",
    hint="several producers sent rows of one table, or rows were reordered on the way to the partition; "
    "TiCDC itself reorders those of different table partitions, and all under a dispatch rule other than "
    "table",
    by_key=_check_order_table,
    preconditions=preconditions.events_of_kind(EventKind.ROW),
)


def _check_row_order(checks: KeyChecks) -> Violations:
    """Report a warning where batching may swap changes of a row, which have different dispatch keys then."""
    events = checks.groups.events
    late, ts, position = checks.groups.late_in_key
    several_keys = np.isin(events.rule, (Rule.TS, Rule.COLUMNS))
    severity = np.where(several_keys & checks.groups.options.batched, "warning", "error")
    return Violations.of_events(events, late, severity, _comes_after(events, ts), after=position)


def _check_dispatch_key_order(groups: BatchGroups) -> Violations:
    rows = groups.rows
    late, ts, position = groups.late
    return Violations.of_events(rows, late, "error", _comes_after(rows, ts), after=position)


ORDER_KEY = Invariant(
    id="INV-ORDER-KEY",
    severity="error",
    statement="In a partition, the commit-ts of one row or dispatch key never decreases, except in "
    "duplicates.",
    hint="changes of one row were reordered; a consumer that applies them as they arrive ends with an "
    "old value",
    by_key=_check_row_order,
    by_batch=_check_dispatch_key_order,
    preconditions=preconditions.handle_key_rows,
)


def _comes_after(events: EventColumns, newest: Numbers) -> Callable[[int], str]:
    def detail(number: int) -> str:
        ts, before = int(events.commit_ts[number]), int(newest[number])
        later = (before >> 18) - (ts >> 18)
        return f"commit-ts {ts} comes after {before}, which is {later} ms later"

    return detail


def _check_dup_order(groups: BatchGroups) -> Violations:
    runs = groups.runs_after_replay
    lacking = runs.step - runs.last_step_before - 1
    text = "the replay continues with commit-ts {}; {} commit-ts before it were left out"
    return _violations(groups, ~runs.first_delivery & (lacking > 0), text, lacking)


DUP_ORDER = Invariant(
    id="INV-DUP-ORDER",
    severity="warning",
    statement="Repeated rows come in their original order, without gaps.",
    hint="a restart repeats a suffix of the rows sent before; here rows in the middle of it are missing",
    by_batch=_check_dup_order,
    preconditions=preconditions.exact_commit_ts(preconditions.events_of_kind(EventKind.ROW)),
)


def _check_dup_complete(groups: BatchGroups) -> Violations:
    runs = groups.runs_after_replay
    lacking = runs.reached - runs.last_step_before
    text = "new row with commit-ts {}; the replay before it lacks the last {} commit-ts"
    return _violations(groups, runs.first_delivery & (lacking > 0), text, lacking)


DUP_COMPLETE = Invariant(
    id="INV-DUP-COMPLETE",
    severity="warning",
    statement="A replay reaches the newest row sent before the restart; only then new rows come.",
    hint="the replay stopped early for this table or key; repeated rows at the end are missing",
    by_batch=_check_dup_complete,
    preconditions=preconditions.exact_commit_ts(preconditions.events_of_kind(EventKind.ROW)),
)


def _violations(groups: BatchGroups, wrong: Flags, text: str, lacking: Numbers) -> Violations:
    runs = groups.runs_after_replay
    return Violations(
        "warning",
        runs.topic[wrong],
        runs.topics,
        (
            EventPositions(runs.partition[wrong], runs.last_position_before[wrong]),
            EventPositions(runs.partition[wrong], runs.position[wrong]),
        ),
        lambda number: text.format(runs.commit_ts[wrong][number], lacking[wrong][number]),
    )


FRAGMENT = 2048
"""Number of rows after which TiCDC may cut a transaction; rows are ordered within each fragment."""
_NEVER = np.iinfo(np.int64).max


def _check_collapse(checks: KeyChecks) -> Violations:
    """Check that a commit-ts has one event of a row.

    TiKV stores one mutation per row key. Only the split of an update that leaves the handle unchanged makes
    two events of it.

    >>> from ticdc_producer.verifier.events import Events
    >>> from ticdc_producer.verifier.passes.key_groups import KeyGroups
    >>> from ticdc_producer.verifier.stream_stats import StreamStats
    >>> op, options = [Op.UPDATE, Op.INSERT, Op.DELETE], VerifyOptions()
    >>> columns = {"kind": EventKind.ROW, "keyed": True, "identity": [0, 1, 2], "commit_ts": [5, 5, 9]}
    >>> events = Events.with_columns(3, op=op, **columns)
    >>> violations = _check_collapse(KeyChecks(KeyGroups(events, options, StreamStats(options))))
    >>> [violations.detail(number) for number in range(len(violations))]
    ['2 events (insert, update) of one row with commit-ts 5']
    """
    events = checks.groups.events
    order, starts = checks.groups.transactions()
    if not len(order):
        return Violations.none()
    sizes = np.diff(starts, append=len(order))
    rows = events.take(order)
    deleted = np.minimum.reduceat(_positions_of(rows.op == Op.DELETE, rows.position), starts)
    inserted = np.minimum.reduceat(_positions_of(rows.op == Op.INSERT, rows.position), starts)
    last = starts + sizes - 1
    in_two_partitions = rows.partition[starts] != rows.partition[last]
    # Events in two partitions have no common order.
    both = (deleted != _NEVER) & (inserted != _NEVER)
    pair = (sizes == 2) & both & (in_two_partitions | (deleted < inserted))
    wrong = np.flatnonzero((sizes > 1) & ~pair)

    def detail(number: int) -> str:
        start, size = int(starts[wrong[number]]), int(sizes[wrong[number]])
        ops = sorted({Op(op).label for op in rows.op[start : start + size].tolist()})
        return f"{size} events ({', '.join(ops)}) of one row with commit-ts {rows.commit_ts[start]}"

    return Violations(
        "error",
        rows.topics[0][starts[wrong]],
        rows.topics[1],
        tuple(EventPositions(rows.partition[at], rows.position[at]) for at in (starts[wrong], last[wrong])),
        detail,
    )


def _positions_of(flags: Flags, position: Numbers) -> Numbers:
    return np.where(flags, position, _NEVER)


COLLAPSE = Invariant(
    id="INV-COLLAPSE",
    severity="error",
    statement="Per commit-ts, a row has one insert, update or delete, or a delete followed by an insert.",
    hint="the statements of a transaction were sent instead of their net change",
    by_key=_check_collapse,
    preconditions=preconditions.exact_commit_ts(preconditions.handle_key_rows),
)


def _check_txn_delete_first(groups: BatchGroups) -> Violations:
    """Check that the deletes of a transaction come before its inserts.

    Table partitions are physical tables of their own. If rows do not name theirs, partitioned tables are
    not checked; if the partitioned tables are unknown, a violation is a warning.

    >>> from ticdc_producer.verifier.passes.batch_groups import GroupedRows
    >>> op = [Op.DELETE, Op.INSERT, Op.INSERT, Op.DELETE]
    >>> rows = GroupedRows.with_columns(4, position=[0, 1, 2, 3], commit_ts=[5, 5, 9, 9], op=op)
    >>> groups = BatchGroups(rows, np.ones(4, bool), np.zeros(4, bool), VerifyOptions())
    >>> violations = _check_txn_delete_first(groups)
    >>> [violations.detail(number) for number in range(len(violations))]
    ['the delete comes after an insert; both have commit-ts 9']
    """
    options, (rows, starts) = groups.options, groups.transactions
    if not len(rows):
        return Violations.none()
    sizes = np.diff(starts, append=len(rows))
    inserted = np.minimum.reduceat(_positions_of(rows.op == Op.INSERT, rows.position), starts)
    deleted = np.maximum.reduceat(np.where(rows.op == Op.DELETE, rows.position, -1), starts)
    may_be_partitioned = _may_be_partitioned(rows, options)[starts]
    unknown = may_be_partitioned & (options.partitioned is None)
    wrong = np.flatnonzero((inserted < deleted) & (unknown | ~may_be_partitioned))
    uncertain = unknown | (rows.rule[starts] == Rule.UNKNOWN) | (sizes > FRAGMENT)
    at = starts[wrong]

    def detail(number: int) -> str:
        return f"the delete comes after an insert; both have commit-ts {rows.commit_ts[at[number]]}"

    return Violations(
        np.where(uncertain, "warning", "error")[wrong],
        rows.topics[0][at],
        rows.topics[1],
        tuple(EventPositions(rows.partition[at], positions[wrong]) for positions in (inserted, deleted)),
        detail,
    )


TXN_DELETE_FIRST = Invariant(
    id="INV-TXN-DELETE-FIRST",
    severity="error",
    statement="Within a table, commit-ts and partition, deletes come before inserts.",
    hint="the halves of a split update were not sorted; a consumer gets a duplicate unique key",
    by_batch=_check_txn_delete_first,
    preconditions=preconditions.exact_commit_ts(preconditions.events_of_kind(EventKind.ROW)),
)
