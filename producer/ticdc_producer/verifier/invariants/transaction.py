"""Invariants of transactions: the rows of a table with the same commit-ts."""

from __future__ import annotations

import numpy as np

from ticdc_producer.model.event import Op
from ticdc_producer.verifier.batch_groups import BatchGroups
from ticdc_producer.verifier.events import EventKind, Rule
from ticdc_producer.verifier.fingerprint import Flags, Numbers
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.invariants.invariant import Invariant
from ticdc_producer.verifier.row_history import KeyChecks
from ticdc_producer.verifier.violations import EventPositions, Violations

FRAGMENT = 2048
"""Number of rows after which TiCDC may cut a transaction; rows are ordered within each fragment."""
_NEVER = np.iinfo(np.int64).max


def _check_collapse(checks: KeyChecks) -> Violations:
    """TiKV stores one mutation per row key; only the split of an update that leaves the handle unchanged
    makes two events of it.
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


def _positions_of(chosen: Flags, position: Numbers) -> Numbers:
    return np.where(chosen, position, _NEVER)


COLLAPSE = Invariant(
    id="INV-COLLAPSE",
    severity="error",
    statement="Per commit-ts, a row has one insert, update or delete, or a delete followed by an insert.",
    hint="the statements of a transaction were sent instead of their net change",
    by_key=_check_collapse,
    preconditions=preconditions.exact_commit_ts(preconditions.handle_key_rows),
)


def _check_txn_delete_first(groups: BatchGroups) -> Violations:
    """Table partitions are physical tables of their own. If rows do not name theirs, partitioned tables are
    not checked; if the partitioned tables are unknown, a violation is a warning.
    """
    options, (rows, starts) = groups.options, groups.transactions
    if not len(rows):
        return Violations.none()
    sizes = np.diff(starts, append=len(rows))
    inserted = np.minimum.reduceat(_positions_of(rows.op == Op.INSERT, rows.position), starts)
    deleted = np.maximum.reduceat(np.where(rows.op == Op.DELETE, rows.position, -1), starts)
    codes, tables = rows.tables
    partitioned = np.array([f"{'.'.join(table)}" in (options.partitioned or ()) for table in tables], bool)
    wrong = np.flatnonzero((inserted < deleted) & ~partitioned[codes[starts]])
    unverifiable = not options.fidelity.has_table_ids and options.partitioned is None
    uncertain = unverifiable | (rows.rule[starts] == Rule.UNKNOWN) | (sizes > FRAGMENT)
    at = starts[wrong]

    def detail(number: int) -> str:
        return f"the delete comes after an insert; both have commit-ts {rows.commit_ts[at[number]]}"

    return Violations(
        np.where(uncertain, "warning", "error")[wrong],
        rows.topics[0][at],
        rows.topics[1],
        tuple(EventPositions(rows.partition[at], found[wrong]) for found in (inserted, deleted)),
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
