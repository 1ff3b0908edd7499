"""Invariants of DDL events: their partitions, order and barriers (docs/stream-semantics.md §7.2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ticdc_producer.model.column_functions import sorted_groups
from ticdc_producer.verifier.events import NOTHING, EventKind
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.invariants.broadcasts import (
    BroadcastViolation,
    broadcast_violations,
    missing_in,
    violation_text,
)
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.violations import Invariant, Violations


def _check_ddl_broadcast(checks: KeyChecks) -> Violations:
    """Report an error for a partition that continued without the DDL.

    Without later events the partition may be truncated, which is a warning.
    """
    violations = []
    for event in checks.incomplete(EventKind.DDL, to_all=checks.groups.options.ddl_broadcast):
        newest = checks.groups.stats.newest(event.topic, EventKind.ROW, EventKind.DDL, EventKind.RESOLVED)
        violations += [
            missing_in(event, missing, newest, "DDL with ts", unless="warning") for missing in event.missing
        ]
        for partition in event.unexpected:
            what = f"DDL with ts {event.commit_ts} does not belong in"
            detail = violation_text(event, what, partition)
            violations.append(BroadcastViolation(event, partition, "error", NOTHING, detail))
    return broadcast_violations(violations)


DDL_BROADCAST = Invariant(
    id="INV-DDL-BROADCAST",
    without_row_commit_ts=True,
    severity="error",
    statement="Every DDL is in all partitions of its topic (Canal-JSON: in partition 0 only).",
    hint="the DDL was dispatched like a row, or the topic got more partitions",
    by_key=_check_ddl_broadcast,
    preconditions=preconditions.partition_counts(EventKind.DDL),
)


def _check_ddl_same(checks: KeyChecks) -> Violations:
    """Compare the partitions with equally many DDLs at a ts; the others violate INV-DDL-BROADCAST.

    >>> from ticdc_producer.verifier.events import Events
    >>> from ticdc_producer.verifier.options import VerifyOptions
    >>> from ticdc_producer.verifier.passes.key_groups import KeyGroups
    >>> from ticdc_producer.verifier.stream_stats import StreamStats
    >>> columns = {"partition": [0, 1, 2], "commit_ts": 5, "identity": [7, 7, 8]}
    >>> events, options = Events.with_columns(3, kind=EventKind.DDL, **columns), VerifyOptions()
    >>> violations = _check_ddl_same(KeyChecks(KeyGroups(events, options, StreamStats(options))))
    >>> [violations.detail(number) for number in range(len(violations))]
    ['copies of the DDL with ts 5 differ between partitions']
    """
    groups = checks.groups
    ddls = groups.events.take(groups.first_of(EventKind.DDL))
    codes, topics = ddls.topics
    order, starts = sorted_groups((codes, ddls.commit_ts, ddls.partition), ddls.position)
    # By topic, ts and number of DDLs: the contents of the partitions, each with its first DDL.
    versions: dict[tuple[int, int, int], dict[tuple[int, ...], tuple[int, int]]] = {}
    for start, end in pairwise([*np.flatnonzero(starts).tolist(), len(order)]):
        rows = order[start:end]
        name = int(codes[rows[0]]), int(ddls.commit_ts[rows[0]]), len(rows)
        content = tuple(ddls.identity[rows].tolist())
        example = int(ddls.partition[rows[0]]), int(ddls.position[rows[0]])
        copies = versions.setdefault(name, {})
        copies[content] = min(example, copies.get(content, example))
    differing = [(name, sorted(copies.values())) for name, copies in versions.items() if len(copies) > 1]
    return Violations.of_positions(
        "error",
        [topics[name[0]] for name, _ in differing],
        [copies[:2] for _, copies in differing],
        lambda number: f"copies of the DDL with ts {differing[number][0][1]} differ between partitions",
    )


DDL_SAME = Invariant(
    id="INV-DDL-SAME",
    without_row_commit_ts=True,
    severity="error",
    statement="All partitions have the same DDLs at a ts, with the same text and in the same order.",
    hint="a DDL was encoded separately for each partition, or DDLs of one ts were sent concurrently",
    by_key=_check_ddl_same,
    preconditions=preconditions.requires_option(
        lambda options: not options.ddl_broadcast,
        "the protocol sends a DDL to one partition only",
        preconditions.events_of_kind(EventKind.DDL),
    ),
)


def _check_ddl_order(checks: KeyChecks) -> Violations:
    """Allow equal ts, which a DDL of several tables gives."""
    events = checks.groups.events
    return Violations.of_events(
        events,
        checks.groups.first_of(EventKind.DDL) & (events.commit_ts < events.ddl_ts),
        "error" if checks.groups.options.fidelity.commit_ts == "exact" else "warning",
        lambda number: (
            f"DDL with ts {events.commit_ts[number]} comes after a DDL with ts {events.ddl_ts[number]}"
        ),
        after=events.ddl_position,
    )


DDL_ORDER = Invariant(
    id="INV-DDL-ORDER",
    without_row_commit_ts=True,
    severity="error",
    statement="In a partition, the ts of DDLs never decreases, except in duplicates.",
    hint="DDLs were sent concurrently instead of one at a time",
    by_key=_check_ddl_order,
    preconditions=preconditions.events_of_kind(EventKind.DDL),
)


def _check_ddl_barrier_before(checks: KeyChecks) -> Violations:
    """Report an error for the DDL's own tables, and a warning for other tables.

    Only classic TiCDC holds back the rows of every table.

    Within one millisecond the order of row and DDL is unknown.

    >>> from ticdc_producer.verifier.events import Events
    >>> from ticdc_producer.verifier.options import VerifyOptions
    >>> from ticdc_producer.verifier.passes.key_groups import KeyGroups
    >>> from ticdc_producer.verifier.stream_stats import StreamStats
    >>> columns = {"identity": [0, 1, 2], "commit_ts": [5, 6, 9], "ddl_ts": 7, "own_ddl_ts": [7, NOTHING, 7]}
    >>> events, options = Events.with_columns(3, kind=EventKind.ROW, **columns), VerifyOptions()
    >>> violations = _check_ddl_barrier_before(KeyChecks(KeyGroups(events, options, StreamStats(options))))
    >>> [violations.detail(number) for number in range(len(violations))]
    ['row with commit-ts 5 comes after a DDL with ts 7', 'row with commit-ts 6 comes after a DDL with ts 7']
    >>> violations.severity.tolist()
    ['error', 'warning']
    """
    events, exact = checks.groups.events, checks.groups.options.fidelity.commit_ts == "exact"
    limit = 0 if exact else 1
    own = events.commit_ts + limit <= events.own_ddl_ts
    after = checks.groups.first_rows & (events.commit_ts + limit <= events.ddl_ts)
    barrier = np.where(own, events.own_ddl_ts, events.ddl_ts)
    return Violations.of_events(
        events,
        after,
        np.where(own, "error", "warning"),
        lambda number: (
            f"row with commit-ts {events.commit_ts[number]} comes after a DDL with ts {barrier[number]}"
        ),
        after=np.where(own, events.own_ddl_position, events.ddl_position),
    )


DDL_BARRIER_BEFORE = Invariant(
    id="INV-DDL-BARRIER-BEFORE",
    severity="error",
    statement="After a DDL with ts x, no partition gets a new row with commit-ts ≤ x.",
    hint="the DDL was sent before all rows up to its ts were acknowledged; they have the old schema",
    by_key=_check_ddl_barrier_before,
    preconditions=preconditions.events_of_kind(EventKind.ROW, EventKind.DDL),
)


def _check_ddl_barrier_after(checks: KeyChecks) -> Violations:
    """Report one violation per DDL; its example is the newest row before it."""
    events = checks.groups.events
    return Violations.of_events(
        events,
        checks.groups.first_of(EventKind.DDL) & (events.commit_ts < events.table_ts),
        "error",
        lambda number: (
            f"row with commit-ts {events.table_ts[number]} comes before the DDL with ts "
            f"{events.commit_ts[number]}"
        ),
        after=events.table_position,
    )


DDL_BARRIER_AFTER = Invariant(
    id="INV-DDL-BARRIER-AFTER",
    severity="error",
    statement="Before the first copy of a DDL with ts x, no partition gets a row of its table with "
    "commit-ts > x.",
    hint="the table was not blocked until its DDL was sent; consumers do not know the row's schema yet",
    by_key=_check_ddl_barrier_after,
    preconditions=preconditions.events_of_kind(EventKind.ROW, EventKind.DDL),
)
