"""Findings from the violations of a stream, and the events that are their examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ticdc_producer.model.event import TOMBSTONE
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.verifier.events import EventID, EventKind
from ticdc_producer.verifier.finding import EventRef, Example, Finding, Severity, event_summary
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.registry import enabled_invariants, invariants
from ticdc_producer.verifier.invariants.resolved import COMPLETE
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_pass import KeyFindings
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.violations import ViolationCounts

_VIOLATED: tuple[Severity, ...] = ("error", "warning", "info")
_RANK = {severity: rank for rank, severity in enumerate((*_VIOLATED, "not checked"))}


def add_stream_violations(key_findings: KeyFindings, options: VerifyOptions) -> None:
    """Add the violations that show only when the groups of the whole stream are together."""
    key_findings.violations.add(row_state.SCHEMA.id, key_findings.shapes.violations(options))
    key_findings.violations.add(COMPLETE.id, key_findings.uncovered.violations())


def kinds(stats: StreamStats, key_findings: KeyFindings) -> dict[str, int]:
    """Return the number of events by kind; ``duplicate`` counts the duplicates among them."""
    return event_counts(stats) | {"duplicate": key_findings.duplicates}


def event_counts(stats: StreamStats) -> dict[str, int]:
    """Return the number of events by kind.

    ``tombstone`` is present if there are messages without value and event.
    """
    by_kind = (EventKind.ROW, EventKind.DDL, EventKind.RESOLVED, EventKind.ERROR)
    counts = {kind.name.lower(): stats.count(kind) for kind in by_kind}
    return counts | ({TOMBSTONE: stats.tombstones} if stats.tombstones else {})


def example_events(violations: ViolationCounts) -> set[EventID]:
    """Return the events that the examples name."""
    return {
        event for described in violations.examples.values() for events, _ in described for event in events
    }


def findings(
    violations: ViolationCounts, stats: StreamStats, rows: dict[EventID, DecodedRow]
) -> list[Finding]:
    """Return the findings of a stream, the most severe first.

    :param rows: the decoded events that the examples name.
    """
    all_findings = [
        *_violated(violations, stats, rows),
        *_not_checked(stats),
    ]
    return sorted(all_findings, key=lambda finding: _RANK[finding.severity])


def _violated(
    violations: ViolationCounts, stats: StreamStats, rows: dict[EventID, DecodedRow]
) -> Iterator[Finding]:
    for invariant in invariants():
        for severity in _VIOLATED:
            count = violations.counts[invariant.id, severity]
            if count and invariant.is_checked(stats):
                examples = violations.examples[invariant.id, severity]
                refs = (Example(_refs(events, rows), detail) for events, detail in examples)
                yield invariant.finding(severity, count, refs)


def _refs(events: Iterable[EventID], rows: dict[EventID, DecodedRow]) -> tuple[EventRef, ...]:
    return tuple(event_ref(event, rows[event]) for event in events if event in rows)


def _not_checked(stats: StreamStats) -> Iterator[Finding]:
    for invariant in enabled_invariants(stats.options):
        for unmet in invariant.unmet(stats):
            yield invariant.finding("not checked", unmet.rows, hint=unmet.reason)


def event_ref(event: EventID, row: DecodedRow) -> EventRef:
    """Return an event with what identifies it to a reader.

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
