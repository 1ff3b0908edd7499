"""Invariants of repeated rows: a restart repeats a suffix in its order, then new rows follow.

Source: docs/stream-semantics.md §9.
"""

from __future__ import annotations

from ticdc_producer.verifier.batch_groups import BatchGroups
from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.fingerprint import Flags, Numbers
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.invariants.invariant import Invariant
from ticdc_producer.verifier.violations import EventPositions, Violations


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
