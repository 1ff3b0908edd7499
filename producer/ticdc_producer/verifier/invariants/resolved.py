"""Invariants of resolved events, and of events that belong in all partitions.

Source: docs/stream-semantics.md §7.1.
"""

from __future__ import annotations

import numpy as np

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.verifier.events import NOTHING, EventKind, Events
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.invariants.broadcasts import broadcast_violations, missing_in
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.violations import Invariant, Violations


def _check_resolved(checks: KeyChecks) -> Violations:
    """Report an equal ts as information, a lower one as an error."""
    events = checks.groups.events
    after = checks.groups.first_rows & (events.commit_ts <= events.resolved_ts)
    severity = np.where(events.commit_ts < events.resolved_ts, "error", "info")
    return _after_resolved(events, after, severity)


RESOLVED = Invariant(
    id="INV-RESOLVED",
    severity="error",
    statement="After resolved-ts R, no partition gets a new row with commit-ts < R.",
    hint="the checkpoint was advanced before the row was acknowledged; consumers have dropped this row",
    by_key=_check_resolved,
    preconditions=preconditions.events_of_kind(EventKind.ROW, EventKind.RESOLVED),
)


def _check_resolved_ddl(checks: KeyChecks) -> Violations:
    """Allow an equal ts, which is the rule at a barrier."""
    events = checks.groups.events
    after = checks.groups.first_of(EventKind.DDL) & (events.commit_ts < events.resolved_ts)
    return _after_resolved(events, after, "error")


RESOLVED_DDL = Invariant(
    id="INV-RESOLVED-DDL",
    severity="error",
    statement="After resolved-ts R, no partition gets a new DDL with ts < R.",
    hint="the checkpoint went past a DDL that was not executed yet",
    by_key=_check_resolved_ddl,
    preconditions=preconditions.events_of_kind(EventKind.DDL, EventKind.RESOLVED),
)


def _check_resolved_mono(checks: KeyChecks) -> Violations:
    """Report a warning: classic TiCDC may send lower resolved-ts after a restart."""
    events = checks.groups.events
    after = checks.groups.first_of(EventKind.RESOLVED) & (events.commit_ts < events.resolved_ts)
    return _after_resolved(events, after, "warning")


RESOLVED_MONO = Invariant(
    id="INV-RESOLVED-MONO",
    without_row_commit_ts=True,
    severity="warning",
    statement="In a partition, a new resolved-ts is never lower than an earlier one.",
    hint="legal after a restart of classic TiCDC; a consumer must use the highest resolved-ts so far",
    by_key=_check_resolved_mono,
    preconditions=preconditions.events_of_kind(EventKind.RESOLVED),
)


def _check_resolved_stall(checks: KeyChecks) -> Violations:
    events, limit = checks.groups.events, checks.groups.options.resolved_gap_ms or 0
    gap = (events.commit_ts >> 18) - (events.resolved_ts >> 18)
    follows = checks.groups.first_of(EventKind.RESOLVED) & (events.resolved_ts != NOTHING)
    return Violations.of_events(
        events,
        follows & (gap > limit),
        "info",
        lambda number: f"{gap[number]} ms after the previous resolved event; the limit is {limit} ms",
        after=events.resolved_position,
    )


RESOLVED_STALL = Invariant(
    id="INV-RESOLVED-STALL",
    without_row_commit_ts=True,
    severity="info",
    statement="In a partition, the next resolved event comes within `resolved-gap-ms`.",
    hint="the changefeed was paused or lagged, or a DDL took a long time",
    by_key=_check_resolved_stall,
    enabled=lambda options: options.resolved_gap_ms is not None,
    preconditions=preconditions.events_of_kind(EventKind.RESOLVED),
)


def _after_resolved(events: Events, wrong: Flags, severity: str | np.ndarray) -> Violations:
    def detail(number: int) -> str:
        ts, before = int(events.commit_ts[number]), int(events.resolved_ts[number])
        kind, later = EventKind(int(events.kind[number])).name.lower(), (before >> 18) - (ts >> 18)
        return f"{kind} with commit-ts {ts} comes after resolved-ts {before}, which is {later} ms later"

    return Violations.of_events(events, wrong, severity, detail, after=events.resolved_position)


def _check_resolved_broadcast(checks: KeyChecks) -> Violations:
    """Ignore the newest resolved-ts of a topic, which is in some partitions only if sending was interrupted.

    A partition that lacks older ones at its end is reported as information.
    """
    violations = []
    for event in checks.incomplete(EventKind.RESOLVED, to_all=True):
        newest = checks.groups.stats.newest(event.topic, EventKind.RESOLVED)
        if event.commit_ts < max(ts for ts, _ in newest.values()):
            violations += [
                missing_in(event, missing, newest, "resolved-ts", unless="info") for missing in event.missing
            ]
    return broadcast_violations(violations)


RESOLVED_BROADCAST = Invariant(
    id="INV-RESOLVED-BROADCAST",
    without_row_commit_ts=True,
    severity="error",
    statement="Every resolved-ts appears in all partitions of its topic; only the newest may be missing.",
    hint="resolved events were sent to some partitions only; a consumer's watermark, the minimum over "
    "all partitions, lags behind",
    by_key=_check_resolved_broadcast,
    preconditions=preconditions.partition_counts(EventKind.RESOLVED),
)

COMPLETE = Invariant(
    id="INV-COMPLETE",
    severity="info",
    statement="All rows are covered by a resolved-ts that all partitions have.",
    hint="the stream continues or was truncated; transactions at its end may lack rows",
    preconditions=preconditions.resolved_coverage,
)
"""Checked over all groups, see ``verifier.passes.key_pass``."""
