"""The report of a run, and the callback for its status messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.fault_occurrences import FaultSummary
from ticdc_producer.runs.faults_detected import faults_detected, requested_faults
from ticdc_producer.verifier.requested_faults import RequestedFaults
from ticdc_producer.verifier.verdict import Verdict

OnStatus = Callable[[str], None]


def ignore_status(_line: str) -> None:
    """The default ``on_status``: does nothing."""


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The result of a run.

    :param target: ``kafka://HOST:PORT/TOPIC`` or the folder or storage; empty for a dry run.
    :param counts: messages, events and bytes by topic, partition and kind.
    :param discarded: DDLs and rows that TiCDC never passes to its sink, with reasons.
    :param skipped: events that TiCDC's encoder rejects, left out by ``on-error: skip``.
    :param preview: the first messages, printed as in docs/documentation-sample.md.
    :param verdict: None for a dry run.
    :param broker_pid: process id of an embedded broker that was left running, else 0.
    :param faults: the injected faults.
    """

    scenario: str
    target: str
    dry_run: bool
    counts: Counts
    discarded: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    preview: list[str] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    verdict: Verdict | None = None
    broker_pid: int = 0
    faults: FaultSummary = field(default_factory=FaultSummary)

    @property
    def ok(self) -> bool:
        """Whether the stream is correct; with injected illegal faults: whether just these were detected."""
        return self.verdict is None or faults_detected(self.verdict, self.faults.counts)

    @property
    def requested_faults(self) -> RequestedFaults | None:
        """What the injected illegal faults mean for the verdict; None without a verdict."""
        return None if self.verdict is None else requested_faults(self.verdict, self.faults.counts)

    def to_json(self) -> dict[str, Any]:
        """The report with stable keys."""
        return {
            "scenario": self.scenario,
            "target": self.target,
            "dry_run": self.dry_run,
            "kinds": self.counts.by_kind(),
            "partitions": self.counts.by_partition(),
            "discarded": self.discarded,
            "skipped": self.skipped,
            "warnings": list(self.warnings),
            "broker_pid": self.broker_pid,
            "faults": list(self.faults.counts),
            "fault_places": list(self.faults.occurrences),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }
