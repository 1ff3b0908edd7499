"""A verdict as JUnit XML: a test case per invariant, and one each for the expected events and rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from junitparser import TestCase

from ticdc_producer.reports.junit_suite import junit_text, passed_case, set_failed, set_output, set_skipped
from ticdc_producer.reports.labels import differences, finding_lines, gap_reason
from ticdc_producer.reports.subject import Subject
from ticdc_producer.reports.target import write_text
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict


def write_junit(path: Path, subject: Subject, verdict: Verdict) -> None:
    """Write the verdict as a JUnit report.

    :raises ReportError: if the file cannot be written.
    """
    write_text(path, junit_xml(subject, verdict))


def junit_xml(subject: Subject, verdict: Verdict) -> str:
    """The report's text. It contains no date and no host name, so the same verdict gives the same text."""
    return junit_text(subject.name, _cases(f"{subject.name}.{subject.protocol}", verdict))


def _cases(classname: str, verdict: Verdict) -> Iterator[TestCase]:
    ids = dict.fromkeys((*verdict.checked, *(finding.id for finding in verdict.findings)))
    for name in ids:
        yield _invariant(classname, name, [one for one in verdict.findings if one.id == name])
    if verdict.comparison is not None:
        yield _compared(classname, "expected-events", verdict.comparison)
    if verdict.state is not None:
        yield _compared(classname, "expected-state", verdict.state)
    for ts, state in sorted(verdict.states.items()):
        yield _compared(classname, f"expected-state@{ts}", state)


def _invariant(classname: str, name: str, findings: list[Finding]) -> TestCase:
    """Failed if violated, else skipped if it could not be checked completely, else passed."""
    case = passed_case(classname, name)
    errors = [one for one in findings if one.severity == "error"]
    not_checked = [one for one in findings if one.severity == "not checked"]
    remarks = [one for one in findings if one.severity in ("warning", "info")]
    if errors:
        set_failed(case, errors[0].statement, [line for one in errors for line in finding_lines(one)])
        remarks += not_checked
    elif not_checked:
        set_skipped(case, "; ".join(gap_reason(one) for one in not_checked))
    if remarks:
        set_output(case, (line for one in remarks for line in finding_lines(one)))
    return case


def _compared(classname: str, name: str, part: Comparison | StateComparison) -> TestCase:
    case = passed_case(classname, name)
    if not part.ok:
        set_failed(case, differences(part), list(part.diff))
    if isinstance(part, StateComparison) and part.not_compared:
        set_output(case, [f"not compared: {', '.join(part.not_compared)}"])
    return case
