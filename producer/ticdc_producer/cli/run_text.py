"""A run's report as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ticdc_producer.cli.verdict_text import show as show_verdict
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.runs.run_report import RunReport, reporting_invariants


def show(report: RunReport, console: Console | None = None, *, quiet: bool = False) -> None:
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
    """Why a topic does not have one row event for each row change of the scenario."""
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
    """The injected faults, and whether the verdict detected them."""
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
    for entry in report.skipped:
        console.print(f"skipped: {entry['table']} at {entry['commit_ts']}: {entry['error']}", markup=False)
