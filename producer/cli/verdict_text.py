"""A verdict for people: the failure message is the product."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from producer.verifier.finding import Finding
from producer.verifier.verdict import Verdict

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan", "not checked": "dim"}


def show(verdict: Verdict, console: Console | None = None) -> None:
    """Print the verdict to stdout."""
    console = console or Console(highlight=False)
    for finding in verdict.of_severity("error", "warning", "info", "not checked"):
        _finding(console, finding)
    _differences(console, verdict)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in verdict.kinds.items() if count)
    console.print(f"checked {len(verdict.checked)} invariants on {kinds or 'no'} events", soft_wrap=True)
    if verdict.comparison is not None and verdict.comparison.ok:
        console.print(f"all {verdict.comparison.expected:,} expected events came, in order")
    if verdict.state is not None and verdict.state.ok:
        tables = "1 table" if verdict.state.tables == 1 else f"{verdict.state.tables} tables"
        console.print(f"the rows of {tables}, {verdict.state.rows:,} in all, are as expected")
    if verdict.state is not None and verdict.state.not_compared:
        names = ", ".join(verdict.state.not_compared)
        console.print(
            f"not compared, since the stream alone does not tell their rows: {names}", soft_wrap=True
        )
    console.print(Text("verified", "bold green") if verdict.ok else Text("VIOLATED", "bold red"))


def _finding(console: Console, finding: Finding) -> None:
    head = Text(f"{finding.severity} {finding.id}", _COLOURS[finding.severity])
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    console.print(head + Text(f"{times}: {finding.statement}", "default"), soft_wrap=True)
    for witness in finding.witnesses:
        console.print(Text(f"  {witness.detail}"), soft_wrap=True)
        for event in witness.events:
            console.print(Text(f"    {event}"), soft_wrap=True)
    if finding.hint:
        console.print(Text(f"  {finding.hint}", "italic"), soft_wrap=True)


def _differences(console: Console, verdict: Verdict) -> None:
    for name, part in (("events", verdict.comparison), ("rows", verdict.state)):
        if part is None or part.ok:
            continue
        counts = [
            f"{getattr(part, what):,} {what.replace('_', ' ')}"
            for what in ("missing", "unexpected", "out_of_order")
            if getattr(part, what, 0)
        ]
        console.print(Text(f"error: {name} differ from the scenario: {', '.join(counts)}", "red"))
        for line in part.diff:
            console.print(Text(f"  {line}"), soft_wrap=True)
