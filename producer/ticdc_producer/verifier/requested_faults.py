"""Illegal faults that were injected on request, so that a verdict must report them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ticdc_producer.verifier.verdict import Verdict


@dataclass(frozen=True)
class RequestedFaults:
    """What the illegal faults of a run mean for its verdict.

    :param reported_by: for each trap the invariants by which the verdict reports it; none: it went unnoticed.
    :param may_cause: for each trap the invariants that it may violate.
    """

    reported_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    may_cause: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def causes(self, invariant: str) -> tuple[str, ...]:
        """The traps that may violate an invariant."""
        return tuple(name for name, found in self.may_cause.items() if invariant in found)

    def detected(self, verdict: Verdict) -> bool:
        """Whether every fault is reported, and every error is one that these faults may cause.

        Differences from the expected events and rows are what illegal faults make.
        """
        if not self.may_cause:
            return verdict.ok
        errors = [finding.id for finding in verdict.of_severity("error")]
        return all(self.causes(one) for one in errors) and all(self.reported_by.values())
