"""The report of a run, and a verdict, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.reports.text import (
    differences,
    gap_reason,
    kinds,
    not_looked_at,
    summary,
    tables_compared,
    why_not_compared,
)
from ticdc_producer.runs.run_report import RunReport, reporting_invariants
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.verdict import Verdict

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan", "not checked": "dim"}


def show_verdict(
    verdict: Verdict, console: Console | None = None, *, quiet: bool = False, way_out: str = ""
) -> None:
    """Print the verdict to stdout; its last line is the summary.

    :param quiet: print only errors and the summary.
    :param way_out: the option that compares the events and rows that are not compared.
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
    severity = max((len(finding.severity) for finding in findings), default=0)
    name = max((len(finding.id) for finding in findings), default=0)
    for finding in findings:
        head = Text(f"{finding.severity:<{severity}}  {finding.id:<{name}}", _COLOURS[finding.severity])
        if finding.severity == "not checked":
            console.print(head + Text(f"  {gap_reason(finding)}", "default"), soft_wrap=True)
        else:
            _finding(console, head, finding)


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
    lines = [] if verdict.engine is None else [("engine", str(verdict.engine))]
    lines += [("invariants", f"checked {len(verdict.checked)} on {kinds(verdict)}")]
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
    """Print as warnings the parts that were not compared."""
    lines = []
    state = verdict.state
    if state is not None and state.not_compared:
        why = why_not_compared(state)
        lines.append(("rows", f"{tables_compared(state)}; not derivable from the stream alone: {why}"))
    if missing := not_looked_at(verdict):
        lines.append(("compared", f"{missing}{way_out and ': '}{way_out}"))
    for title, line in lines:
        console.print(Text(f"{title:<10}  ", "bold") + Text(line, _COLOURS["warning"]), soft_wrap=True)


def show_report(report: RunReport, console: Console | None = None, *, quiet: bool = False) -> None:
    """Print the report to stdout.

    :param quiet: print only errors, the summary, and the address of a broker that is left running.
    """
    console = console or Console(highlight=False)
    if not quiet:
        _summary(console, report)
    if report.broker_pid:
        address = report.target.split("/")[2]
        console.print(f"the broker is left running at {address}; `kill {report.broker_pid}` ends it")
    if not quiet:
        _faults(console, report)
    if report.verdict is not None:
        show_verdict(report.verdict, console, quiet=quiet)
    if report.verdict is not None and report.ok and not report.verdict.ok:
        console.print("as requested: every illegal fault was detected, and no other violation was found")


def _summary(console: Console, report: RunReport) -> None:
    title = "dry run of" if report.dry_run else "ran"
    console.print(f"{title} {report.scenario}" + (f" into {report.target}" if report.target else ""))
    if report.engine is not None:
        console.print(f"engine {report.engine}")
    for line in report.warnings:
        console.print(f"warning: {line}", markup=False)
    console.print(_counts("kind", report.counts.by_kind()))
    console.print(_counts("partition", report.counts.by_partition()))
    for line in _explained_counts(report):
        console.print(line, markup=False, soft_wrap=True)
    _left_out(console, report)
    if report.preview:
        events = sum(report.counts.events.values())
        console.print(f"first {len(report.preview):,} of {events:,} events:")
        for line in report.preview:
            console.print(Text(line), soft_wrap=True)


def _explained_counts(report: RunReport) -> Iterator[str]:
    """Explain why a topic does not have one row event for each row change of the scenario."""
    events = report.counts.by_kind().get("row", {}).get("events", 0)
    if report.row_changes in (0, events):
        return
    reasons = ["a transaction has one event for all changes of a row", "an UPDATE of a key has two"]
    if report.faults.counts:
        reasons.append("traps add and remove events")
    if report.discarded or report.skipped:
        reasons.append("the changes below are not sent")
    yield f"{report.row_changes:,} row changes are {events:,} row events: {', '.join(reasons)}"


def _counts(title: str, counts: dict[str, dict[str, int]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title)
    for name in ("messages", "events", "bytes"):
        table.add_column(name, justify="right")
    for key, sums in counts.items():
        table.add_row(key, *(f"{sums[name]:,}" for name in ("messages", "events", "bytes")))
    return table


def _faults(console: Console, report: RunReport) -> None:
    """Print the injected faults, and whether the verdict detected them."""
    if not report.faults.counts:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("trap")
    table.add_column("places", justify="right")
    table.add_column("")
    for fault in report.faults.counts:
        table.add_row(fault["trap"], f"{fault['places']:,}", _detection(fault, report))
    console.print(table)


def _detection(fault: Mapping[str, Any], report: RunReport) -> str:
    if not fault["places"]:
        return f"not injected: it needs {trap(fault['trap']).requires or 'more events'}"
    if fault["legal"]:
        return "legal"
    if report.verdict is None:
        return "illegal"
    return ", ".join(reporting_invariants(fault["trap"], report.verdict)) or "NOT DETECTED"


def _left_out(console: Console, report: RunReport) -> None:
    for entry in report.discarded:
        what = entry["query"] if entry["kind"] == "ddl" else f"{entry['changes']} changes of {entry['table']}"
        console.print(f"not sent, as by TiCDC: {what} ({entry['reason']})", markup=False)
    for event in report.skipped:
        console.print(f"skipped: {event['table']} at {event['commit_ts']}: {event['error']}", markup=False)
