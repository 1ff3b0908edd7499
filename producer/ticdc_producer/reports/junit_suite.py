"""JUnit XML in the format that Jenkins and GitLab read, for any kind of test cases.

``failure`` and ``skipped`` are children of a ``testcase``; ``system-out`` follows them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

_DIGITS = 6
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(suite_name: str, cases: Iterable[TestCase], seconds: float = 0.0) -> str:
    """A report of one suite. It contains no date and no host name, so the same cases give the same text.

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
    """A new case, without failure, skip or output."""
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
    """The text with characters that XML 1.0 does not allow escaped; values of rows may contain any."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
