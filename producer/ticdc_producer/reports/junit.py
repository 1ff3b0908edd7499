"""Verdicts and comparisons of a consumer's tables as JUnit XML that Jenkins and GitLab read.

``failure`` and ``skipped`` are children of a ``testcase``; ``system-out`` follows them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from ticdc_producer.reports.report import Subject, write_text
from ticdc_producer.reports.text import (
    differences,
    finding_lines,
    gap_reason,
    table_lines,
    tables_compared,
    why_not_compared,
)
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.consumer_state.outcome import StateOutcome, TableOutcome
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

_DIGITS = 6
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(suite_name: str, cases: Iterable[TestCase], seconds: float = 0.0) -> str:
    """Return a report of one suite. It has no date and no host name, so the same cases give the same text.

    :param seconds: time of all cases together, which they share equally: one pass over the data checks all.
    """
    cases = list(cases)
    share = round(seconds / max(1, len(cases)), _DIGITS)
    for case in cases:
        case.time = share
    suite = TestSuite(xml_text(suite_name))
    suite.add_testcases(cases)
    suite.time = round(seconds, _DIGITS)
    report = JUnitXml("ticdc-producer")
    report.add_testsuite(suite)
    report.time = suite.time
    out = io.BytesIO()
    report.write(out)
    return out.getvalue().decode()


def passed_case(classname: str, name: str) -> TestCase:
    """Return a new case, without failure, skip or output."""
    return TestCase(name=xml_text(name), classname=xml_text(classname), time=0.0)


def set_failed(case: TestCase, message: str, lines: Iterable[str]) -> None:
    """Mark a case as failed, with details."""
    failure = Failure(xml_text(message), "violated")
    failure.text = xml_text("\n".join(lines))
    case.result = [failure]


def set_skipped(case: TestCase, reason: str) -> None:
    """Mark a case as skipped."""
    case.result = [Skipped(xml_text(reason))]


def set_output(case: TestCase, lines: Iterable[str]) -> None:
    """Set the case's output."""
    case.system_out = xml_text("\n".join(lines))


def xml_text(text: str) -> str:
    """Escape the characters that XML 1.0 does not allow; values of rows may contain any."""
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def write_junit(
    path: Path, subject: Subject, verdict: Verdict, requested: RequestedFaults | None = None
) -> None:
    """Write the verdict as a JUnit report.

    :param requested: the faults of the run, of which the verdict must report the illegal ones.
    :raises ReportError: if the file cannot be written.
    """
    write_text(path, junit_xml(subject, verdict, requested))


def junit_xml(subject: Subject, verdict: Verdict, requested: RequestedFaults | None = None) -> str:
    """Return the report's text. It contains no date and no host name.

    It has a failure exactly if the verdict is not ok; with requested faults, if one of them was not injected,
    if the verdict does not report each illegal one, or if it reports an error that none of them may cause.
    """
    cases = _cases(f"{subject.name}.{subject.protocol}", verdict, requested or RequestedFaults())
    return junit_text(subject.name, cases, subject.seconds)


def _cases(classname: str, verdict: Verdict, requested: RequestedFaults) -> Iterator[TestCase]:
    ids = dict.fromkeys((*verdict.checked, *(finding.id for finding in verdict.findings)))
    for name in ids:
        findings = [finding for finding in verdict.findings if finding.id == name]
        yield _invariant(classname, name, findings, requested.causes(name))
    injected = tuple(requested.may_cause)
    if verdict.comparison is not None:
        yield _compared(classname, "expected-events", verdict.comparison, injected)
    if verdict.state is not None:
        yield _compared(classname, "expected-state", verdict.state, injected)
    for ts, state in sorted(verdict.states.items()):
        yield _compared(classname, f"expected-state@{ts}", state, injected)
    for name, invariants in requested.reported_by.items():
        yield _fault(classname, name, invariants)
    for name, reason in requested.not_injected.items():
        case = passed_case(classname, f"fault:{name}")
        set_failed(case, f"not injected: {reason}", [])
        yield case


def _invariant(classname: str, name: str, findings: list[Finding], causes: Sequence[str]) -> TestCase:
    """Return a failed case if violated, else a skipped one if not checked completely, else a passed one.

    :param causes: requested faults that may violate it: then an error is what was requested, and it passes.
    """
    case = passed_case(classname, name)
    errors = [finding for finding in findings if finding.severity == "error"]
    not_checked = [finding for finding in findings if finding.severity == "not checked"]
    remarks = [finding for finding in findings if finding.severity in ("warning", "info")]
    lines = [line for finding in errors for line in finding_lines(finding)]
    if errors:
        remarks += not_checked
    if errors and not causes:
        set_failed(case, errors[0].statement, lines)
    elif not_checked and not errors:
        set_skipped(case, "; ".join(gap_reason(finding) for finding in not_checked))
    output = [_as_injected(causes), *lines] if errors and causes else []
    output += [line for finding in remarks for line in finding_lines(finding)]
    if output:
        set_output(case, output)
    return case


def _compared(
    classname: str, name: str, part: Comparison | StateComparison, injected: Sequence[str]
) -> TestCase:
    """Return a case that failed if events or rows differ, except for requested faults."""
    case, output = passed_case(classname, name), list[str]()
    if not part.ok and injected:
        output = [_as_injected(injected), differences(part), *part.diff]
    elif not part.ok:
        set_failed(case, differences(part), list(part.diff))
    if part.not_compared:
        tables = f"{tables_compared(part)}; " if isinstance(part, StateComparison) else ""
        output.append(f"{tables}not compared: {why_not_compared(part)}")
    if output:
        set_output(case, output)
    return case


def _fault(classname: str, name: str, invariants: Sequence[str]) -> TestCase:
    """Return a case that passed if the verdict reports the fault."""
    case = passed_case(classname, f"fault:{name}")
    if invariants:
        set_output(case, [f"reported by {', '.join(invariants)}"])
    else:
        set_failed(case, "this fault was injected, and no check reports it", [])
    return case


def _as_injected(names: Sequence[str]) -> str:
    return f"reported, as injected: {', '.join(names)}"


def write_state_junit(path: Path, name: str, outcome: StateOutcome) -> None:
    """Write the report.

    :param name: name of the suite.
    :raises ReportError: if the file cannot be written.
    """
    cases = [_case(f"{name}.{outcome.protocol}", table) for table in outcome.tables]
    write_text(path, junit_text(name, cases))


def _case(classname: str, table: TableOutcome) -> TestCase:
    case = passed_case(classname, f"state:{table.table}")
    if not table.ok:
        counts = f"{table.missing} missing, {table.extra} extra, {table.different} different rows"
        set_failed(case, counts if table.actual else "there is no such table", list(table_lines(table)))
    return case
