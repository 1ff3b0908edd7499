"""Whether a verdict reports exactly the illegal faults that were injected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ticdc_producer.faults.catalogue import EXPECTED_EVENTS, trap
from ticdc_producer.verifier.requested_faults import RequestedFaults
from ticdc_producer.verifier.verdict import Verdict


def reporting_invariants(name: str, verdict: Verdict) -> tuple[str, ...]:
    """The invariants by which a verdict reports an illegal trap; empty: the trap went unnoticed.

    :param name: id of the trap.
    """
    found = {finding.id for finding in verdict.of_severity("error", "warning")}
    if verdict.comparison is not None and not verdict.comparison.ok:
        found.add(EXPECTED_EVENTS)
    wanted = trap(name).violates
    unchecked = {finding.id for finding in verdict.of_severity("not checked")}
    if all(invariant in unchecked for invariant in wanted):
        wanted = (EXPECTED_EVENTS,)  # the protocol does not carry what the trap changes
    return tuple(invariant for invariant in wanted if invariant in found)


def requested_faults(verdict: Verdict, faults: Iterable[Mapping[str, Any]]) -> RequestedFaults:
    """What the illegal faults of a run mean for its verdict.

    :param faults: the counts of ``fault_occurrences.FaultSummary``.
    """
    injected = [fault["trap"] for fault in faults if fault["places"] and not fault["legal"]]
    return RequestedFaults(
        reported_by={name: reporting_invariants(name, verdict) for name in injected},
        may_cause={name: (*trap(name).violates, *trap(name).may_report) for name in injected},
    )


def faults_detected(verdict: Verdict, faults: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a run's verdict is as requested: ok, or violated exactly by the injected illegal faults.

    :param faults: the counts of ``fault_occurrences.FaultSummary``.
    """
    return requested_faults(verdict, faults).detected(verdict)
