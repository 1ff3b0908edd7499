"""Verdicts and timelines for tests."""

from __future__ import annotations

from ticdc_producer.page.timeline import Bucket, PartitionCount, Timeline
from ticdc_producer.reports.report import Subject
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import EventRef, Example, Finding, Severity
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict

BANK = Subject(name="bank", protocol="open-protocol")
START = 429918007904436226
KINDS = {"row": 3, "ddl": 1, "resolved": 2, "error": 0, "duplicate": 0}


def event(offset: int, text: str = "id=1", table: str = "accounts", topic: str = "bank") -> EventRef:
    return EventRef(
        topic=topic,
        partition=0,
        offset=offset,
        index=0,
        kind="row",
        commit_ts=START + (offset << 18),
        schema="bank",
        table=table,
        op="update",
        text=text,
    )


def finding(
    name: str, severity: Severity = "error", count: int = 1, *events: EventRef, hint: str = "the cause"
) -> Finding:
    examples = (Example(events, "one came too late"),) if events else ()
    return Finding(
        id=name,
        severity=severity,
        count=count,
        statement=f"{name} must hold.",
        hint=hint,
        examples=examples,
    )


def verdict(
    *findings: Finding, comparison: Comparison | None = None, state: StateComparison | None = None
) -> Verdict:
    """A verdict that checked INV-FRAME and the invariants that the findings violate."""
    violated = [finding.id for finding in findings if finding.severity != "not checked"]
    return Verdict(
        findings=findings,
        checked=("INV-FRAME", *dict.fromkeys(violated)),
        kinds=KINDS,
        comparison=comparison,
        state=state,
    )


def compared(missing: int = 0, diff: tuple[str, ...] = ()) -> Comparison:
    return Comparison(expected=6, missing=missing, unexpected=0, duplicates=0, out_of_order=0, diff=diff)


def timeline(partitions: int = 1, buckets: int = 3, topic: str = "bank") -> Timeline:
    """Partitions whose rows and resolved-ts grow from bucket to bucket, the first with a DDL."""
    course = tuple(
        Bucket(
            first=number * 1000,
            lowest=START + (number * 997 << 18),
            highest=START + (number * 1009 + 17 << 18),
            ddl_offset=number * 1000 if number == 0 else None,
            resolved=(START + (number * 991 << 18), number * 1000 + 999),
            error_offset=None,
        )
        for number in range(buckets)
    )
    counts = tuple(
        PartitionCount(
            topic=topic,
            partition=number,
            first=0,
            last=buckets * 1000 - 1,
            messages=buckets * 1000,
            size=buckets * 100_000,
            rows=buckets * 998,
            ddls=1,
            resolved=buckets,
            errors=0,
        )
        for number in range(partitions)
    )
    return Timeline(
        partitions=counts,
        buckets={(topic, number): course for number in range(min(partitions, 64))},
        sizes={7: 20, 8: 3000, 12: 1},
    )
