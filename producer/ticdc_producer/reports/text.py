"""Findings, and differences between tables, as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from ticdc_producer.hints import counted
from ticdc_producer.model.event import Value
from ticdc_producer.model.event_line import to_json
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.consumer_state.canonical_value import UNREADABLE
from ticdc_producer.verifier.consumer_state.outcome import RowDifference, StateOutcome, TableOutcome
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.invariants.events import FRAME
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

_DIFFERENCES = ("missing", "unexpected", "different", "out_of_order")


def finding_lines(finding: Finding) -> Iterator[str]:
    """Yield a finding as lines: statement, examples with their events, hint."""
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    yield f"{finding.severity} {finding.id}{times}: {finding.statement}"
    for example in finding.examples:
        yield f"  {example.detail}"
        yield from (f"    {event}" for event in example.events)
    if finding.hint:
        yield f"  {finding.hint}"


def cause_of_damage(verdict: Verdict) -> str:
    """Return why most messages do not decode, for example the wrong protocol; empty if most decode."""
    decoded = sum(verdict.kinds.get(kind, 0) for kind in ("row", "ddl", "resolved"))
    if verdict.kinds.get("error", 0) <= decoded:
        return ""
    return next((finding.hint for finding in verdict.of_severity("error") if finding.id == FRAME.id), "")


_MAX_OF_REASON = 3


def grouped_by_reason(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings; more than three invariants that were not checked for one reason become one."""
    reasons = Counter(gap_reason(finding) for finding in findings if finding.severity == "not checked")
    grouped, common = list[Finding](), set[str]()
    for finding in findings:
        reason = gap_reason(finding)
        if finding.severity != "not checked" or reasons[reason] <= _MAX_OF_REASON:
            grouped.append(finding)
        elif reason not in common:
            common.add(reason)
            grouped.append(replace(finding, id=f"{reasons[reason]} invariants"))
    return grouped


def gap_reason(finding: Finding) -> str:
    """Return why an invariant was not checked, and for how many rows."""
    return f"{finding.hint} ({finding.count:,} rows)" if finding.count else finding.hint


def differences(part: Comparison | StateComparison) -> str:
    """Format the differences as ``2 missing, 1 unexpected, 1 injected fault``; empty without any."""
    counts = ((getattr(part, name, 0), name.replace("_", " ")) for name in _DIFFERENCES)
    parts = [f"{count:,} {name}" for count, name in counts if count]
    if injected := getattr(part, "injected", 0):
        parts.append(counted(injected, "injected fault"))
    return ", ".join(parts)


def tables_compared(state: StateComparison) -> str:
    """Format the number of tables as ``1 of 6 tables compared``."""
    tables = state.tables + len(state.not_compared)
    return f"{state.tables} of {tables} {'table' if tables == 1 else 'tables'} compared"


def why_not_compared(part: Comparison | StateComparison) -> str:
    """Format tables, or members of messages, as ``bank.a, bank.b (the reason)``, for each reason."""
    names: dict[str, list[str]] = {}
    for name, reason in part.not_compared.items():
        names.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(tables)} ({reason})" for reason, tables in names.items())


def not_looked_at(verdict: Verdict) -> str:
    """Return what was not compared: ``no rows``, ``neither events nor rows``; empty if both were."""
    missing = [
        what for what, part in (("events", verdict.comparison), ("rows", verdict.state)) if part is None
    ]
    return "neither events nor rows" if len(missing) > 1 else "".join(f"no {what}" for what in missing)


def invariants_checked(verdict: Verdict) -> str:
    """Format the number of invariants as ``31 invariants checked, none violated``."""
    violated = {finding.id for finding in verdict.of_severity("error", "warning")}
    return f"{counted(len(verdict.checked), 'invariant')} checked, {len(violated) or 'none'} violated"


def kinds(verdict: Verdict) -> str:
    """Format the numbers of events as ``7 row, 2 ddl, 6 resolved events``."""
    counts = ", ".join(f"{count:,} {kind}" for kind, count in verdict.kinds.items() if count)
    return f"{counts or 'no'} events"


def summary(verdict: Verdict, *, gaps: bool = True) -> str:
    """Format the verdict in one line: ``VIOLATED: 2 errors, 1 warning``; ``verified`` without findings.

    :param gaps: whether to count what was not checked.
    """
    severities = ("error", "warning", "info", *(("not checked",) if gaps else ()))
    counts = {name: len(verdict.of_severity(name)) for name in severities}
    parts = [
        counted(count, name) if name in ("error", "warning") else f"{count:,} {name}"
        for name, count in counts.items()
        if count
    ]
    compared = (
        ("events", verdict.comparison),
        ("rows", verdict.state),
        *((f"rows at {ts}", state) for ts, state in sorted(verdict.states.items())),
    )
    parts += [f"{what} differ" for what, part in compared if part is not None and not part.ok]
    label = "verified" if verdict.ok else "VIOLATED"
    return f"{label}: {', '.join(parts)}" if parts else label


def run_summary(verdict: Verdict, requested: RequestedFaults | None, *, gaps: bool = True) -> str:
    """Format the result of a run in one line; with faults it says whether they behave as requested.

    :param requested: the faults of the run; None: it has none.
    :param gaps: whether to count what was not checked.
    """
    if requested is None or not (requested.may_cause or requested.not_injected):
        return summary(verdict, gaps=gaps)
    if requested.detected(verdict):
        reports = [f"{name} by {', '.join(ids)}" for name, ids in requested.reported_by.items()]
        return f"verified, as requested: the checks report {'; '.join(reports)}, and no other error"
    parts = [f"{name} was injected, and no check reports it" for name in requested.unnoticed]
    parts += [f"{name} is violated, by no injected fault" for name in requested.other_errors(verdict)]
    differs = not requested.may_cause and not verdict.ok
    parts += [summary(verdict, gaps=False)] if differs and not requested.other_errors(verdict) else []
    return failure((*uninjected(requested.not_injected), *parts))


def uninjected(reasons: Mapping[str, str]) -> list[str]:
    """Format each trap without an occurrence with the reason."""
    return [f"{name} was not injected, because {reason}" for name, reason in reasons.items()]


def failure(parts: Iterable[str]) -> str:
    """Format why a run with faults failed."""
    return f"FAILED: {'; '.join(parts)}"


_MAX_CHARS, _CONTEXT_CHARS = 48, 12
"""Displayed characters of a long value, and how many of them precede the first that differs."""


def state_lines(outcome: StateOutcome, *, quiet: bool = False) -> Iterator[str]:
    """Yield one line per table with its differences; the last line is the summary.

    :param quiet: only tables that differ, and the summary.
    """
    width = max((len(table.table) for table in outcome.tables), default=0)
    for table in outcome.tables:
        if not (quiet and table.ok):
            yield f"{'ok   ' if table.ok else 'error'}  {table.table:<{width}}  {_table_summary(table)}"
            yield from (f"  {line}" for line in table_lines(table))
    if outcome.ignored and not quiet:
        yield f"not compared: {', '.join(outcome.ignored)}"
    wrong = sum(not table.ok for table in outcome.tables)
    verb = "differs" if wrong == 1 else "differ"
    yield f"VIOLATED: {wrong} of {_tables(len(outcome.tables))} {verb}" if wrong else "verified"


def _tables(count: int) -> str:
    return "1 table" if count == 1 else f"{count} tables"


def _table_summary(table: TableOutcome) -> str:
    if not table.actual:
        return "there is no such table (a map SCHEMA.TABLE=NAME names it)"
    rows = "row" if table.expected_rows == 1 else "rows"
    head = f"{table.expected_rows:,} {rows} expected, {table.actual_rows:,} found in {table.actual}"
    counts = {"missing": table.missing, "extra": table.extra, "different": table.different}
    differences = ", ".join(f"{count:,} {label}" for label, count in counts.items() if count)
    return f"{head}: {differences}" if differences else head


def table_lines(table: TableOutcome) -> Iterator[str]:
    """Yield the differences of one table as aligned lines: columns, then rows."""
    if table.missing_columns:
        yield f"missing columns: {', '.join(table.missing_columns)}"
    if table.extra_columns:
        names = ", ".join(table.extra_columns)
        yield f"unexpected columns: {names} (columns can be ignored)"
    for kind, count in (("different", table.different), ("missing", table.missing), ("extra", table.extra)):
        examples = [example for example in table.examples if example.kind == kind]
        yield from _rows(kind, examples)
        if count > len(examples):
            yield f"{kind:<9}  … and {count - len(examples):,} more"


def _rows(kind: str, examples: Sequence[RowDifference]) -> Iterator[str]:
    if kind == "different":
        for example in examples:
            yield f"{kind:<9}  {' '.join(_named(example.key))}"
            yield from (f"    {line}" for line in _columns(example))
        return
    rows = [[*_named(example.key), *_named(example.expected or example.actual)] for example in examples]
    yield from (f"{kind:<9}  {line}" for line in _aligned(rows))


def _columns(difference: RowDifference) -> list[str]:
    return _aligned(
        [
            [
                name,
                f"expected {_literal(value, difference.actual[name])}",
                f"found {_literal(difference.actual[name], value)}",
            ]
            for name, value in difference.expected.items()
        ]
    )


def _named(values: Mapping[str, Value]) -> list[str]:
    return [f"{name}={_literal(value)}" for name, value in values.items()]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _literal(value: Value, other: Value = None) -> str:
    """Format a value as a literal; a long one is cut to the part around the first character that differs."""
    if value is None:
        return "NULL"
    if value.startswith(UNREADABLE):
        return f"{_cut(repr(_text(value.removeprefix(UNREADABLE))), 0)} (no value of this type)"
    if isinstance(to_json(value), dict):
        return f"x'{_cut(value.hex(), 2 * _common_prefix(value, other))}'"
    return f"'{_cut(_escaped(value.decode()), _common_prefix(value, other))}'"


def _escaped(text: str) -> str:
    return repr(text)[1:-1]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _common_prefix(value: bytes, other: Value) -> int:
    """Return the length of the common prefix in bytes."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(value, other or b"", strict=False)))


def _cut(text: str, differs: int) -> str:
    if len(text) <= _MAX_CHARS:
        return text
    start = max(0, min(differs - _CONTEXT_CHARS, len(text) - _MAX_CHARS))
    end = start + _MAX_CHARS
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
