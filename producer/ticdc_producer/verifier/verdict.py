"""The verdict on a stream: findings, comparisons, and the illegal faults that it must report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ticdc_producer.engine.choose import EngineChoice
from ticdc_producer.model.html_table import html_table
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.table_state import StateComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a verification.

    :param findings: violated invariants, the most severe first, and those that could not be checked.
    :param checked: ids of the invariants that were checked.
    :param kinds: events by kind, and duplicates among them.
    :param comparison: comparison with a scenario's expected events; None without a scenario.
    :param state: comparison with its expected rows; None without a scenario.
    :param states: the same at the requested time stamps (TSO).
    :param engine: which engine verified, and why; None: the engine of the run, which its report names.
    """

    findings: tuple[Finding, ...]
    checked: tuple[str, ...]
    kinds: dict[str, int]
    comparison: Comparison | None = None
    state: StateComparison | None = None
    states: Mapping[int, StateComparison] = field(default_factory=dict)
    engine: EngineChoice | None = None

    @property
    def ok(self) -> bool:
        """No finding of severity error, and no difference from the expected events and rows."""
        parts = (self.comparison, self.state, *self.states.values())
        results = [part.ok for part in parts if part is not None]
        return all(results) and not any(finding.severity == "error" for finding in self.findings)

    def of_severity(self, *severities: str) -> list[Finding]:
        """Return the findings of these severities."""
        return [finding for finding in self.findings if finding.severity in severities]

    def to_json(self) -> dict[str, object]:
        """Return the verdict with stable keys."""
        return {
            "ok": self.ok,
            "kinds": self.kinds,
            "checked": list(self.checked),
            "findings": [finding.to_json() for finding in self.of_severity("error", "warning", "info")],
            "not_checked": [finding.to_json() for finding in self.of_severity("not checked")],
            "comparison": None if self.comparison is None else self.comparison.to_json(),
            "state": None if self.state is None else self.state.to_json(),
            "states": [{"ts": ts, **state.to_json()} for ts, state in sorted(self.states.items())],
            "engine": None if self.engine is None else self.engine.to_json(),
        }

    def _repr_html_(self) -> str:
        """Return the result of each check as a table of a notebook."""
        return html_table(f"Verdict: {'ok' if self.ok else 'violated'}", ("check", "result"), self.html_rows)

    @property
    def html_rows(self) -> list[tuple[str, str]]:
        """The checks and their results."""
        rows = [("invariants", f"{len(self.checked)} checked")]
        rows += [(finding.id, f"{finding.severity}: {finding.count:,}") for finding in self.findings]
        if self.comparison is not None:
            rows.append(("events", f"{self.comparison.expected:,} expected, {_result(self.comparison.ok)}"))
        states = {"rows": self.state, **{f"rows at {ts}": state for ts, state in self.states.items()}}
        for name, state in states.items():
            if state is not None:
                size = f"{state.rows:,} in {state.tables} tables"
                rows.append((name, f"{size}, {_result(state.ok)}"))
        return rows


def _result(ok: bool) -> str:
    return "as expected" if ok else "different"


@dataclass(frozen=True)
class RequestedFaults:
    """The meaning of a run's faults for its verdict.

    :param reported_by: for each illegal trap the invariants by which the verdict reports it; none: it went
        unnoticed.
    :param may_cause: for each illegal trap the invariants that it may violate.
    :param not_injected: for each trap without an occurrence, legal or illegal, the reason.
    """

    reported_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    may_cause: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    not_injected: Mapping[str, str] = field(default_factory=dict)

    def causes(self, invariant: str) -> tuple[str, ...]:
        """Return the traps that may violate an invariant."""
        return tuple(name for name, invariants in self.may_cause.items() if invariant in invariants)

    def detected(self, verdict: Verdict) -> bool:
        """Return whether every fault was injected and is reported, and causes every error.

        Differences from the expected events and rows are the effect of illegal faults.
        """
        if self.not_injected:
            return False
        if not self.may_cause:
            return verdict.ok
        return not self.other_errors(verdict) and not self.unnoticed

    @property
    def unnoticed(self) -> list[str]:
        """The illegal faults that no check reports."""
        return [name for name, invariants in self.reported_by.items() if not invariants]

    def other_errors(self, verdict: Verdict) -> list[str]:
        """Return the invariants with errors that none of the illegal faults may cause."""
        errors = (finding.id for finding in verdict.of_severity("error"))
        return [invariant for invariant in errors if not self.causes(invariant)]
