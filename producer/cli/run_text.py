"""A run's report for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from producer.cli.verdict_text import show as show_verdict
from producer.jobs.run_report import RunReport


def show(report: RunReport, *, quiet: bool = False) -> None:
    """Print the report to stdout.

    :param quiet: errors and the summary only, and of a broker that goes on where it is.
    """
    console = Console(highlight=False)
    if not quiet:
        _course(console, report)
    if report.broker_pid:
        address = report.target.split("/")[2]
        console.print(f"the broker is left running at {address}; `kill {report.broker_pid}` ends it")
    if report.verdict is not None:
        show_verdict(report.verdict, console, quiet=quiet)


def _course(console: Console, report: RunReport) -> None:
    title = "dry run of" if report.dry_run else "ran"
    console.print(f"{title} {report.scenario}" + (f" into {report.target}" if report.target else ""))
    for line in report.warnings:
        console.print(f"warning: {line}", markup=False)
    console.print(_counts("kind", report.counts.by_kind()))
    console.print(_counts("partition", report.counts.by_partition()))
    _left_out(console, report)
    if report.log:
        console.print("first messages:")
        for line in report.log:
            console.print(Text(line), soft_wrap=True)


def _counts(title: str, counts: dict[str, dict[str, int]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title)
    for name in ("messages", "events", "bytes"):
        table.add_column(name, justify="right")
    for key, sums in counts.items():
        table.add_row(key, *(f"{sums[name]:,}" for name in ("messages", "events", "bytes")))
    return table


def _left_out(console: Console, report: RunReport) -> None:
    for entry in report.discarded:
        what = entry["query"] if entry["kind"] == "ddl" else f"{entry['changes']} changes of {entry['table']}"
        console.print(f"not sent, as TiCDC would not: {what} ({entry['reason']})", markup=False)
    for entry in report.skipped:
        console.print(f"skipped: {entry['table']} at {entry['commit_ts']}: {entry['error']}", markup=False)
