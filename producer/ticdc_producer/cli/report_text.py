"""The report of a run, what to do next, and a verdict, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ticdc_producer.hints import counted
from ticdc_producer.reports.text import (
    cause_of_damage,
    differences,
    failure,
    gap_reason,
    grouped_by_reason,
    invariants_checked,
    kinds,
    not_looked_at,
    run_summary,
    tables_compared,
    uninjected,
    why_not_compared,
)
from ticdc_producer.runs.run_report import RunReport, reporting_invariants
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan", "not checked": "dim"}


def show_verdict(
    verdict: Verdict,
    console: Console | None = None,
    *,
    quiet: bool = False,
    way_out: str = "",
    requested: RequestedFaults | None = None,
) -> None:
    """Print the verdict to stdout; its last line is the summary.

    :param quiet: print only errors and the summary.
    :param way_out: the option that compares the events and rows that are not compared.
    :param requested: the faults of the run, which decide whether it succeeded; None: it has none.
    """
    console = console or Console(highlight=False)
    severities = ("error",) if quiet else tuple(_COLOURS)
    cause = cause_of_damage(verdict)
    if cause:
        console.print(Text(f"error  {cause}", _COLOURS["error"]), soft_wrap=True)
    _findings(console, verdict.of_severity(*severities), cause)
    _differences(console, verdict, examples=not cause)
    if not quiet:
        _checked(console, verdict)
        _not_compared(console, verdict, way_out)
    ok = verdict.ok if requested is None else requested.detected(verdict)
    console.print(Text(run_summary(verdict, requested), "bold green" if ok else "bold red"), soft_wrap=True)


def _findings(console: Console, findings: Sequence[Finding], cause: str) -> None:
    """Print findings, aligned by severity and id.

    :param cause: a hint that is printed already.
    """
    findings = grouped_by_reason(findings)
    severity = max((len(finding.severity) for finding in findings), default=0)
    name = max((len(finding.id) for finding in findings), default=0)
    for finding in findings:
        head = Text(f"{finding.severity:<{severity}}  {finding.id:<{name}}", _COLOURS[finding.severity])
        if finding.severity == "not checked":
            console.print(head + Text(f"  {gap_reason(finding)}", "default"), soft_wrap=True)
        else:
            _finding(console, head, finding, cause)


def _finding(console: Console, head: Text, finding: Finding, cause: str) -> None:
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    console.print(head + Text(f"  {finding.statement}{times}", "default"), soft_wrap=True)
    for example in finding.examples:
        console.print(Text(f"  {example.detail}"), soft_wrap=True)
        for event in example.events:
            console.print(Text(f"    {event}"), soft_wrap=True)
    if finding.hint not in ("", cause):
        console.print(Text(f"  {finding.hint}", "italic"), soft_wrap=True)


def _differences(console: Console, verdict: Verdict, *, examples: bool) -> None:
    states = [(f"rows at {ts}", state) for ts, state in sorted(verdict.states.items())]
    for name, part in (("events", verdict.comparison), ("rows", verdict.state), *states):
        if part is None or part.ok:
            continue
        console.print(
            Text(f"error  {name} differ from the expected ones: {differences(part)}", "red"), soft_wrap=True
        )
        for line in part.diff if examples else ():
            console.print(Text(f"  {line}"), soft_wrap=True)


def _checked(console: Console, verdict: Verdict) -> None:
    lines = [] if verdict.engine is None else [("engine", str(verdict.engine))]
    lines += [("stream", f"{invariants_checked(verdict)} ({kinds(verdict)})")]
    if verdict.comparison is not None and verdict.comparison.ok:
        lines.append(("events", f"all {verdict.comparison.expected:,} expected events came, in order"))
    if verdict.state is not None and verdict.state.ok and verdict.state.tables:
        tables = "1 table" if verdict.state.tables == 1 else f"{verdict.state.tables} tables"
        lines.append(("rows", f"the rows of {tables}, {verdict.state.rows:,} in all, are as expected"))
    if right := [ts for ts, state in sorted(verdict.states.items()) if state.ok and state.tables]:
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
    for ts, earlier in sorted(verdict.states.items()):
        if earlier.not_compared and earlier.not_compared != (state and state.not_compared):
            why = why_not_compared(earlier)
            lines.append(
                ("rows", f"at {ts} {tables_compared(earlier)}; not derivable from the stream: {why}")
            )
    if verdict.comparison is not None and verdict.comparison.not_compared:
        lines.append(("bytes", f"not compared: {why_not_compared(verdict.comparison)}"))
    if missing := not_looked_at(verdict):
        lines.append(("compared", f"{missing}{way_out and ': '}{way_out}"))
    for title, line in lines:
        console.print(Text(f"{title:<10}  ", "bold") + Text(line, _COLOURS["warning"]), soft_wrap=True)


def show_report(
    report: RunReport, console: Console | None = None, *, quiet: bool = False, log: bool = False
) -> None:
    """Print the report to stdout.

    :param quiet: print only errors, the summary, and the address of a broker that is left running.
    :param log: print the first messages in the form of docs/documentation-sample.md.
    """
    console = console or Console(highlight=False)
    if not quiet:
        _summary(console, report, log)
    if report.broker_pid:
        address = report.target.split("/")[2]
        console.print(f"the broker is left running at {address}; `kill {report.broker_pid}` ends it")
    if not quiet:
        _faults(console, report)
    if report.verdict is not None:
        show_verdict(report.verdict, console, quiet=quiet, requested=report.requested_faults)
    elif not report.ok:
        console.print(Text(failure(uninjected(report.not_injected)), "bold red"), soft_wrap=True)


def _summary(console: Console, report: RunReport, log: bool) -> None:
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
    for line in _first_log_lines(report) if log else _first_events(report):
        console.print(Text(line), soft_wrap=True)


def _first_events(report: RunReport) -> Iterator[str]:
    """Yield the first events as ``decode`` prints them."""
    first, total = report.first_events, sum(report.counts.events.values())
    if first.lines:
        whole = first.events >= total
        yield f"all {first.events:,} events:" if whole else f"first {first.events:,} of {total:,} events:"
        yield from first.lines


def _first_log_lines(report: RunReport) -> Iterator[str]:
    """Yield the first messages in the form of docs/documentation-sample.md."""
    if report.preview:
        yield f"first {len(report.preview):,} of {sum(report.counts.events.values()):,} events:"
        yield from report.preview
    elif report.verdict is not None:
        yield "warning: only messages of Open Protocol are printed with --preview log"


def _explained_counts(report: RunReport) -> Iterator[str]:
    """Explain why a topic does not have one row event for each row change of the scenario."""
    events = report.counts.by_kind().get("row", {}).get("events", 0)
    if report.row_changes in (0, events):
        return
    reasons = ["a transaction has one event for all changes of a row", "an UPDATE of a key has two"]
    if report.traps:
        reasons.append("traps add and remove events")
    if report.discarded or report.skipped:
        reasons.append("the changes below are not sent")
    verb = "is" if report.row_changes == 1 else "are"
    numbers = f"{counted(report.row_changes, 'row change')} {verb} {counted(events, 'row event')}"
    yield f"{numbers}: {', '.join(reasons)}"


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
    unmet = report.faults.unmet
    if unmet.count:
        first = ", ".join(f"{trap} of {origin}" for trap, origin in unmet.examples)
        more = ", …" if unmet.count > len(unmet.examples) else ""
        count = counted(unmet.count, "recorded fault")
        console.print(f"{count} without an event in this stream: {first}{more}", markup=False, soft_wrap=True)
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
        return "NOT INJECTED"
    if fault["legal"]:
        return "legal"
    if report.verdict is None:
        return "illegal"
    return ", ".join(reporting_invariants(fault["trap"], report.verdict)) or "NOT DETECTED"


def not_sent(entry: Mapping[str, object]) -> str:
    """Return a line about a DDL, or the rows of a table, that TiCDC never passes to its sink.

    :param entry: of ``RunReport.discarded``.
    """
    changes = entry.get("changes")
    what = f"{counted(changes, 'change')} of {entry['table']}" if isinstance(changes, int) else entry["query"]
    return f"not sent, as by TiCDC: {what} ({entry['reason']})"


def _left_out(console: Console, report: RunReport) -> None:
    for entry in report.discarded:
        console.print(not_sent(entry), markup=False, soft_wrap=True)
    for event in report.skipped:
        console.print(f"skipped: {event['table']} at {event['commit_ts']}: {event['error']}", markup=False)


def next_steps(
    target: str, *, ended: bool = False, golden: bool, page: bool, rows: bool = True
) -> Iterator[str]:
    """Yield lines about the target of a run that has verified, or was not verified.

    :param target: as its report names it; empty after a dry run.
    :param ended: whether its topics have ended with their Kafka.
    :param golden: whether the run wrote a golden folder.
    :param page: whether it wrote an HTML page.
    :param rows: whether a golden folder has the expected rows, unlike one with messages alone.
    """
    source = quote(target.removeprefix("file://"))
    also = "" if page else "; `run --html PATH` draws them as a page"
    if ended:
        yield "next: this Kafka has ended; --keep leaves it running, --out DIR writes messages and final rows"
        also = "" if page else "; --html PATH writes a page of this run"
        yield f"      `ticdc-producer broker start` starts a Kafka for any number of runs{also}"
    elif target.startswith("kafka://"):
        yield f"next: `ticdc-producer decode --sink-uri {source}` prints all events{also}"
        yield "      run your consumer on the topic; --out DIR also writes the rows that it must end up with"
    elif target and (golden or target.startswith(("file://", "/"))):
        yield f"next: `ticdc-producer decode {source}` prints all events{also}"
        if golden and rows:
            yield f"      `ticdc-producer verify state --expected {source} --actual URL` compares your tables"
