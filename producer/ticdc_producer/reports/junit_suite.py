"""The form of JUnit's reports as Jenkins and GitLab read them, whatever the cases are of.

``failure`` and ``skipped`` stand under a ``testcase``, ``system-out`` behind them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(suite_name: str, cases: Iterable[TestCase]) -> str:
    """A report of one suite. The same cases give the same text: it names no time and no machine."""
    suite = TestSuite(xml_text(suite_name))
    suite.add_testcases(list(cases))
    report = JUnitXml("ticdc-producer")
    report.add_testsuite(suite)
    out = io.BytesIO()
    report.write(out)
    return out.getvalue().decode()


def passed_case(classname: str, name: str) -> TestCase:
    """A case of which nothing else is said yet."""
    return TestCase(name=xml_text(name), classname=xml_text(classname), time=0.0)


def set_failed(case: TestCase, message: str, lines: Iterable[str]) -> None:
    """Make a case a failed one, with details."""
    failure = Failure(xml_text(message), "violated")
    failure.text = xml_text("\n".join(lines))
    case.result = [failure]


def set_skipped(case: TestCase, reason: str) -> None:
    """Make a case a skipped one."""
    case.result = [Skipped(xml_text(reason))]


def set_output(case: TestCase, lines: Iterable[str]) -> None:
    """What else there is to say of a case."""
    case.system_out = xml_text("\n".join(lines))


def xml_text(text: str) -> str:
    """Text without the characters that XML 1.0 has no form for; rows may hold any."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
