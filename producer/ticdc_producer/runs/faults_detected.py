"""Whether a verdict says of a stream with illegal faults what was planted, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ticdc_producer.faults.catalogue import EXPECTED_EVENTS, trap
from ticdc_producer.verifier.verdict import Verdict


def named_by(name: str, verdict: Verdict) -> tuple[str, ...]:
    """What of a verdict names an illegal trap; without any of it the trap went unnoticed.

    :param name: id of the trap.
    """
    found = {finding.id for finding in verdict.of_severity("error", "warning")}
    if verdict.comparison is not None and not verdict.comparison.ok:
        found.add(EXPECTED_EVENTS)
    wanted = trap(name).breaks
    unchecked = {finding.id for finding in verdict.of_severity("not checked")}
    if all(invariant in unchecked for invariant in wanted):
        wanted = (EXPECTED_EVENTS,)  # the protocol does not show what the trap breaks
    return tuple(invariant for invariant in wanted if invariant in found)


def as_planted(verdict: Verdict, faults: Iterable[Mapping[str, Any]]) -> bool:
    """Whether every illegal fault is named, and no error but of what such a fault may break.

    :param faults: the counts of ``fault_places.Faults``.
    """
    planted = [fault["trap"] for fault in faults if fault["places"] and not fault["legal"]]
    if not planted:
        return verdict.ok
    breaks = {invariant for name in planted for invariant in (*trap(name).breaks, *trap(name).also)}
    errors = {finding.id for finding in verdict.of_severity("error")}
    return errors <= breaks and all(named_by(name, verdict) for name in planted)
