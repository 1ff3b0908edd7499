"""Findings from what was found in a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.finding import EventRef, Example, Finding
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.invariant import Invariant
from ticdc_producer.verifier.invariants.registry import invariants
from ticdc_producer.verifier.invariants.resolved import COMPLETE
from ticdc_producer.verifier.key_pass import KeyFindings
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.readable import event_summary
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.violations import EventID, ViolationCounts

_RANK = {"error": 0, "warning": 1, "info": 2, "not checked": 3}


def enabled_invariants(options: VerifyOptions) -> list[Invariant]:
    """The invariants that the options enable."""
    return [one for one in invariants() if one.enabled(options)]


def add_stream_violations(found: KeyFindings, options: VerifyOptions) -> None:
    """Add what shows only when the groups of the whole stream are together."""
    found.violations.add(row_state.SCHEMA.id, found.shapes.violations(options))
    found.violations.add(COMPLETE.id, found.uncovered.violations())


def kinds(facts: StreamFacts, found: KeyFindings) -> dict[str, int]:
    """Events by kind; ``duplicate`` counts the duplicates among them."""
    by_kind = (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED, EventKind.ERROR)
    return {kind.name.lower(): facts.count(kind) for kind in by_kind} | {"duplicate": found.duplicates}


def example_events(violations: ViolationCounts) -> set[EventID]:
    """The events that the examples name."""
    return {
        event for described in violations.examples.values() for events, _ in described for event in events
    }


def findings(
    violations: ViolationCounts, facts: StreamFacts, rows: dict[EventID, dict[str, Any]]
) -> list[Finding]:
    """The findings of a stream, the most severe first.

    :param rows: the decoded events that the examples name.
    """
    found = [
        *_violated(violations, facts, rows),
        *_not_checked(facts),
    ]
    return sorted(found, key=lambda finding: _RANK[finding.severity])


def _violated(
    violations: ViolationCounts, facts: StreamFacts, rows: dict[EventID, dict[str, Any]]
) -> Iterator[Finding]:
    for invariant in invariants():
        for severity in ("error", "warning", "info"):
            count = violations.counts[invariant.id, severity]
            if count and invariant.is_checked(facts):
                yield Finding(
                    id=invariant.id,
                    severity=severity,
                    count=count,
                    statement=invariant.statement,
                    hint=invariant.hint,
                    examples=tuple(
                        Example(_refs(events, rows), detail)
                        for events, detail in violations.examples[invariant.id, severity]
                    ),
                )


def _refs(events: Iterable[EventID], rows: dict[EventID, dict[str, Any]]) -> tuple[EventRef, ...]:
    return tuple(event_ref(event, rows[event]) for event in events if event in rows)


def _not_checked(facts: StreamFacts) -> Iterator[Finding]:
    for invariant in enabled_invariants(facts.options):
        for unmet in invariant.unmet(facts):
            yield Finding(
                id=invariant.id,
                severity="not checked",
                count=unmet.rows,
                statement=invariant.statement,
                hint=unmet.reason,
            )


def event_ref(event: EventID, row: dict[str, Any]) -> EventRef:
    """An event with what identifies it to a reader.

    :param row: the decoded event.
    """
    topic, partition, offset, index = event
    return EventRef(
        topic=topic,
        partition=partition,
        offset=offset,
        index=index,
        kind=row["kind"],
        commit_ts=row["commit_ts"],
        schema=row["schema"] or "",
        table=row["table"] or "",
        op=row["op"] or "",
        text=event_summary(row),
    )
