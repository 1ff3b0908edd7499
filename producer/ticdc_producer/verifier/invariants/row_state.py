"""Invariants of the history of a row: its partition, its copies, whether it exists, its old images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import NOTHING, EventKind, Rule
from ticdc_producer.verifier.invariants import preconditions
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.row_history import PRESENT, KeyChecks, RowHistory
from ticdc_producer.verifier.violations import EventPositions, Invariant, Violations


def history_severity(options: VerifyOptions) -> str:
    """Return ``warning`` where filters or the start-ts may hide events, otherwise ``error``."""
    return "error" if options.from_beginning else "warning"


def _violations(
    history: RowHistory, wrong: Flags, severity: str | np.ndarray, detail: Callable[[int], str]
) -> Violations:
    changes = history.changes
    rows = np.flatnonzero(wrong)
    before = np.where(history.has_previous, history.previous(changes.position), NOTHING)
    return Violations(
        severity if isinstance(severity, str) else severity[rows],
        changes.topics[0][rows],
        changes.topics[1],
        (
            EventPositions(history.previous(changes.partition)[rows], before[rows]),
            EventPositions(changes.partition[rows], changes.position[rows]),
        ),
        lambda number: detail(int(rows[number])),
    )


def _check_row_state(checks: KeyChecks) -> Violations:
    """Check that inserts target absent rows, and updates and deletes existing ones.

    At the start of a stream a row is unknown until its first event, unless the stream is
    ``from_beginning``.
    """
    history = checks.history
    changes, before = history.changes, history.previous(history.changes.commit_ts)
    deleted = history.has_previous & (history.previous(changes.op) == Op.DELETE)

    def detail(number: int) -> str:
        op = Op(int(changes.op[number])).label
        if history.state[number] == PRESENT:
            return (
                f"insert of a row that exists since commit-ts {before[number]}; the delete of a split update "
                "may be missing"
            )
        if deleted[number]:
            return f"{op} of a row that was deleted at commit-ts {before[number]}"
        return f"{op} of a row that was never inserted"

    return _violations(history, history.wrong_state, history_severity(checks.groups.options), detail)


ROW_STATE = Invariant(
    id="INV-ROW-STATE",
    severity="warning",
    statement="Inserts target absent rows; updates and deletes target existing ones.",
    hint="an event is missing, or hidden by a filter or the start-ts; a consumer gets a duplicate key, "
    "or changes a row that does not exist",
    by_key=_check_row_state,
    preconditions=preconditions.row_states,
)


def _check_dup_content(checks: KeyChecks) -> Violations:
    changes = checks.history.changes

    def detail(number: int) -> str:
        return f"two {Op(int(changes.op[number])).label}s with commit-ts {changes.commit_ts[number]} differ"

    return _violations(checks.history, checks.history.wrong_copy, "error", detail)


DUP_CONTENT = Invariant(
    id="INV-DUP-CONTENT",
    severity="error",
    statement="Events of one row, commit-ts and operation have identical images.",
    hint="a repeated event was encoded again with another configuration or schema",
    by_key=_check_dup_content,
    preconditions=preconditions.exact_commit_ts(preconditions.handle_key_rows),
)


def _check_key_partition(checks: KeyChecks) -> Violations:
    """Check that the partition of a row stays; it is a warning if the dispatch rule is unknown.

    Dispatch by ``ts`` or by columns other than the handle key changes partitions by design.
    """
    changes = checks.history.changes
    before = checks.history.previous(changes.partition)

    def detail(number: int) -> str:
        return f"the row is in partition {changes.partition[number]}, its previous event in {before[number]}"

    severity = np.where(changes.rule == Rule.UNKNOWN, "warning", "error")
    return _violations(checks.history, checks.history.wrong_partition, severity, detail)


KEY_PARTITION = Invariant(
    id="INV-KEY-PARTITION",
    severity="error",
    statement="All events of one row are in one partition.",
    hint="the number of partitions changed, or another partitioner than TiCDC's chose the partition",
    by_key=_check_key_partition,
    preconditions=preconditions.fixed_partition,
)

OLD_IMAGE = Invariant(
    id="INV-OLD-IMAGE",
    severity="warning",
    statement="An old image has the values of the row's previous event.",
    hint="an event between the two is missing, or the old image was read at another commit-ts",
    preconditions=preconditions.old_images,
)
"""Checked with the images of the suspected events, see ``verifier.passes.old_image``."""

SCHEMA = Invariant(
    id="INV-SCHEMA",
    severity="warning",
    statement="Between two DDLs of a table, its rows have the same columns, types and flags.",
    hint="a DDL is missing, or rows were encoded with another schema version",
    preconditions=preconditions.tracked_tables(preconditions.events_of_kind(EventKind.ROW)),
)
"""Checked over all groups, see ``verifier.passes.key_pass``."""
