"""A verdict as JUnit XML: a test case per invariant, and one each for the expected events and rows.

The form is that of JUnit's own reports as Jenkins and GitLab read them: ``failure`` and ``skipped`` under a
``testcase``, ``system-out`` behind them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from producer.report.subject import Subject
from producer.report.target import write_text
from producer.report.words import differences, finding_lines, gap_reason
from producer.verifier.comparison import Comparison
from producer.verifier.finding import Finding
from producer.verifier.table_state import StateComparison
from producer.verifier.verdict import Verdict

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, subject: Subject, verdict: Verdict) -> None:
    """Write the verdict as a JUnit report.

    :raises ReportError: if the file cannot be written.
    """
    write_text(path, junit_xml(subject, verdict))


def junit_xml(subject: Subject, verdict: Verdict) -> str:
    """The report's text. The same verdict gives the same text: it names no time and no machine."""
    suite = TestSuite(_xml(subject.name))
    suite.add_testcases(list(_cases(f"{subject.name}.{subject.protocol}", verdict)))
    report = JUnitXml("ticdc-producer")
    report.add_testsuite(suite)
    out = io.BytesIO()
    report.write(out)
    return out.getvalue().decode()


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
    """Failed if violated, else skipped if something of it was not checked, else passed."""
    case = _case(classname, name)
    errors = [one for one in findings if one.severity == "error"]
    gaps = [one for one in findings if one.severity == "not checked"]
    aside = [one for one in findings if one.severity in ("warning", "info")]
    if errors:
        _failed(case, errors[0].statement, [line for one in errors for line in finding_lines(one)])
        aside += gaps
    elif gaps:
        case.result = [Skipped(_xml("; ".join(gap_reason(one) for one in gaps)))]
    if aside:
        case.system_out = _xml("\n".join(line for one in aside for line in finding_lines(one)))
    return case


def _compared(classname: str, name: str, part: Comparison | StateComparison) -> TestCase:
    case = _case(classname, name)
    if not part.ok:
        _failed(case, differences(part), list(part.diff))
    if isinstance(part, StateComparison) and part.not_compared:
        case.system_out = _xml(f"not compared: {', '.join(part.not_compared)}")
    return case


def _case(classname: str, name: str) -> TestCase:
    return TestCase(name=_xml(name), classname=_xml(classname), time=0.0)


def _failed(case: TestCase, message: str, lines: list[str]) -> None:
    failure = Failure(_xml(message), "violated")
    failure.text = _xml("\n".join(lines))
    case.result = [failure]


def _xml(text: str) -> str:
    """Text without the characters that XML 1.0 has no form for; rows may hold any."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
