"""Labels and lines for findings, shared by all reports."""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict

_DIFFERENCES = ("missing", "unexpected", "out_of_order")


def finding_lines(finding: Finding) -> Iterator[str]:
    """A finding as lines: statement, examples with their events, hint."""
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    yield f"{finding.severity} {finding.id}{times}: {finding.statement}"
    for example in finding.examples:
        yield f"  {example.detail}"
        yield from (f"    {event}" for event in example.events)
    if finding.hint:
        yield f"  {finding.hint}"


def gap_reason(finding: Finding) -> str:
    """Why something was not checked, and for how many rows."""
    return f"{finding.hint} ({finding.count:,} rows)" if finding.count else finding.hint


def differences(part: Comparison | StateComparison) -> str:
    """``2 missing, 1 unexpected, 1 injected fault``; empty without differences."""
    counts = ((getattr(part, name, 0), name.replace("_", " ")) for name in _DIFFERENCES)
    found = [f"{count:,} {name}" for count, name in counts if count]
    if injected := getattr(part, "injected", 0):
        found.append(_counted(injected, "injected fault"))
    return ", ".join(found)


def tables_compared(state: StateComparison) -> str:
    """``1 of 6 tables compared``."""
    tables = state.tables + len(state.not_compared)
    return f"{state.tables} of {tables} {'table' if tables == 1 else 'tables'} compared"


def why_not_compared(state: StateComparison) -> str:
    """``bank.a, bank.b (the reason)``, for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in state.not_compared.items():
        names.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(tables)} ({reason})" for reason, tables in names.items())


def not_looked_at(verdict: Verdict) -> str:
    """What was compared, if not both events and rows were: ``neither events nor rows``; else empty."""
    missing = [
        what for what, part in (("events", verdict.comparison), ("rows", verdict.state)) if part is None
    ]
    return "neither events nor rows" if len(missing) > 1 else "".join(f"no {what}" for what in missing)


def kinds(verdict: Verdict) -> str:
    """``7 row, 2 ddl, 6 resolved events``."""
    counted = ", ".join(f"{count:,} {kind}" for kind, count in verdict.kinds.items() if count)
    return f"{counted or 'no'} events"


def summary(verdict: Verdict, *, gaps: bool = True) -> str:
    """The verdict in one line: ``VIOLATED: 2 errors, 1 warning``; ``verified`` without findings.

    :param gaps: whether to count what was not checked.
    """
    severities = ("error", "warning", "info", *(("not checked",) if gaps else ()))
    counts = {name: len(verdict.of_severity(name)) for name in severities}
    parts = [_counted(count, name) for name, count in counts.items() if count]
    compared = (
        ("events", verdict.comparison),
        ("rows", verdict.state),
        *((f"rows at {ts}", state) for ts, state in sorted(verdict.states.items())),
    )
    parts += [f"{what} differ" for what, part in compared if part is not None and not part.ok]
    label = "verified" if verdict.ok else "VIOLATED"
    return f"{label}: {', '.join(parts)}" if parts else label


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}" if count == 1 or name in ("info", "not checked") else f"{count:,} {name}s"
