"""What a run tells: while it works, and at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ticdc_producer.runs.counts import Counts
from ticdc_producer.runs.fault_occurrences import Faults
from ticdc_producer.runs.faults_detected import as_planted
from ticdc_producer.verifier.verdict import Verdict

Say = Callable[[str], None]


def silent(_line: str) -> None:
    """The default listener of a run."""


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What a run did.

    :param target: ``kafka://HOST:PORT/TOPIC`` or the folder; empty for a dry run.
    :param counts: messages, events and bytes by topic, partition and kind.
    :param discarded: what TiCDC never hands to its sink.
    :param skipped: what its encoder refuses, with ``on-error: skip``.
    :param log: the first messages, printed as the seed documents print theirs.
    :param verdict: None for a dry run.
    :param broker_pid: process id of an embedded broker that was left running, else 0.
    :param faults: what went wrong on purpose.
    """

    scenario: str
    target: str
    dry_run: bool
    counts: Counts
    discarded: list[dict[str, Any]]
    skipped: list[dict[str, Any]]
    log: list[str] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    verdict: Verdict | None = None
    broker_pid: int = 0
    faults: Faults = field(default_factory=Faults)

    @property
    def ok(self) -> bool:
        """Whether the stream is right; where illegal faults were asked for: whether it is wrong just so."""
        return self.verdict is None or as_planted(self.verdict, self.faults.counts)

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
            "fault_places": list(self.faults.places),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }
