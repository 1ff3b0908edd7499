"""A verdict as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ticdc_producer.reports.labels import (
    differences,
    gap_reason,
    kinds,
    not_looked_at,
    summary,
    tables_compared,
    why_not_compared,
)
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.verdict import Verdict

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan", "not checked": "dim"}


def show(verdict: Verdict, console: Console | None = None, *, quiet: bool = False, way_out: str = "") -> None:
    """Print the verdict to stdout; its last line is the summary.

    :param quiet: print only errors and the summary.
    :param way_out: how to have events and rows compared that are not.
    """
    console = console or Console(highlight=False)
    severities = ("error",) if quiet else tuple(_COLOURS)
    _findings(console, verdict.of_severity(*severities))
    _differences(console, verdict)
    if not quiet:
        _checked(console, verdict)
        _not_compared(console, verdict, way_out)
    console.print(Text(summary(verdict), "bold green" if verdict.ok else "bold red"), soft_wrap=True)


def _findings(console: Console, findings: Sequence[Finding]) -> None:
    """Print findings, aligned by severity and id."""
    severity = max((len(one.severity) for one in findings), default=0)
    name = max((len(one.id) for one in findings), default=0)
    for one in findings:
        head = Text(f"{one.severity:<{severity}}  {one.id:<{name}}", _COLOURS[one.severity])
        if one.severity == "not checked":
            console.print(head + Text(f"  {gap_reason(one)}", "default"), soft_wrap=True)
        else:
            _finding(console, head, one)


def _finding(console: Console, head: Text, finding: Finding) -> None:
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    console.print(head + Text(f"  {finding.statement}{times}", "default"), soft_wrap=True)
    for example in finding.examples:
        console.print(Text(f"  {example.detail}"), soft_wrap=True)
        for event in example.events:
            console.print(Text(f"    {event}"), soft_wrap=True)
    if finding.hint:
        console.print(Text(f"  {finding.hint}", "italic"), soft_wrap=True)


def _differences(console: Console, verdict: Verdict) -> None:
    states = [(f"rows at {ts}", state) for ts, state in sorted(verdict.states.items())]
    for name, part in (("events", verdict.comparison), ("rows", verdict.state), *states):
        if part is None or part.ok:
            continue
        console.print(
            Text(f"error  {name} differ from the expected ones: {differences(part)}", "red"), soft_wrap=True
        )
        for line in part.diff:
            console.print(Text(f"  {line}"), soft_wrap=True)


def _checked(console: Console, verdict: Verdict) -> None:
    lines = [("invariants", f"checked {len(verdict.checked)} on {kinds(verdict)}")]
    if verdict.comparison is not None and verdict.comparison.ok:
        lines.append(("events", f"all {verdict.comparison.expected:,} expected events came, in order"))
    if verdict.state is not None and verdict.state.ok:
        tables = "1 table" if verdict.state.tables == 1 else f"{verdict.state.tables} tables"
        lines.append(("rows", f"the rows of {tables}, {verdict.state.rows:,} in all, are as expected"))
    if right := [ts for ts, state in sorted(verdict.states.items()) if state.ok]:
        lines.append(("rows", f"as expected at {', '.join(map(str, right))}, too"))
    for title, line in lines:
        console.print(Text(f"{title:<10}  ", "bold") + Text(line, "default"), soft_wrap=True)


def _not_compared(console: Console, verdict: Verdict, way_out: str) -> None:
    """Print, as warnings, what was not compared."""
    lines = []
    state = verdict.state
    if state is not None and state.not_compared:
        why = why_not_compared(state)
        lines.append(("rows", f"{tables_compared(state)}; not derivable from the stream alone: {why}"))
    if missing := not_looked_at(verdict):
        lines.append(("compared", f"{missing}{way_out and ': '}{way_out}"))
    for title, line in lines:
        console.print(Text(f"{title:<10}  ", "bold") + Text(line, _COLOURS["warning"]), soft_wrap=True)
