"""The JUnit report: a case per check, with the reason of each that did not pass."""

from __future__ import annotations

from pathlib import Path

from junitparser import Failure, JUnitXml, Skipped, TestCase

from tests.reports.verdicts import BANK, compared, event, finding, verdict
from ticdc_producer.reports.junit import junit_xml, write_junit
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict


def cases(result: Verdict) -> dict[str, TestCase]:
    """The cases of the JUnit report by name."""
    (suite,) = JUnitXml.fromstring(junit_xml(BANK, result).encode())
    return {str(case.name): case for case in suite}


def test_a_case_per_invariant_and_comparison() -> None:
    state = StateComparison(tables=1, rows=2, missing=0, unexpected=0, not_compared=("bank.old",))
    found = cases(verdict(comparison=compared(), state=state))
    assert list(found) == ["INV-FRAME", "expected-events", "expected-state"]
    assert all(case.is_passed for case in found.values())
    assert {case.classname for case in found.values()} == {"bank.open-protocol"}
    assert "bank.old" in str(found["expected-state"].system_out)


def test_without_a_scenario_no_comparison_is_reported() -> None:
    assert list(cases(verdict())) == ["INV-FRAME"]


def test_a_failure_has_its_examples() -> None:
    case = cases(verdict(finding("INV-RESOLVED", "error", 5, event(7), event(9))))["INV-RESOLVED"]
    (failure,) = case.result
    assert isinstance(failure, Failure)
    assert failure.message == "INV-RESOLVED must hold."
    for text in ("5 times", "one came too late", "bank/0@7[0]", "bank/0@9[0]", "the cause"):
        assert text in str(failure.text)


def test_a_difference_to_the_scenario_is_a_failure_with_examples() -> None:
    lines = ("- bank/0@3[0] update", "- bank/0@4[0] update")
    (failure,) = cases(verdict(comparison=compared(2, lines)))["expected-events"].result
    assert failure.message == "2 missing"
    assert failure.text == "\n".join(lines)


def test_what_was_not_checked_is_skipped_with_its_reason() -> None:
    unmet = [
        finding("INV-RESOLVED", "not checked", 0, hint="the protocol has no resolved events"),
        finding("INV-ORDER-KEY", "not checked", 12, hint="rows without handle key"),
    ]
    found = cases(verdict(*unmet))
    reasons = {name: found[name].result[0] for name in ("INV-RESOLVED", "INV-ORDER-KEY")}
    assert all(isinstance(reason, Skipped) for reason in reasons.values())
    assert reasons["INV-RESOLVED"].message == "the protocol has no resolved events"
    assert reasons["INV-ORDER-KEY"].message == "rows without handle key (12 rows)"


def test_an_error_is_not_hidden_by_what_was_not_checked() -> None:
    both = [
        finding("INV-ORDER-KEY", "error", 1, event(1)),
        finding("INV-ORDER-KEY", "not checked", 12, hint="rows without handle key"),
    ]
    case = cases(verdict(*both))["INV-ORDER-KEY"]
    assert isinstance(case.result[0], Failure)
    assert "rows without handle key" in str(case.system_out)


def test_a_warning_passes_and_is_in_the_output() -> None:
    case = cases(verdict(finding("INV-ORDER-TABLE", "warning", 1, event(4))))["INV-ORDER-TABLE"]
    assert case.is_passed
    assert "bank/0@4[0]" in str(case.system_out)


def test_the_suite_counts_its_cases() -> None:
    failed = verdict(finding("INV-RESOLVED"), finding("INV-COLLAPSE", "not checked", 0))
    (suite,) = JUnitXml.fromstring(junit_xml(BANK, failed).encode())
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (3, 1, 1, 0)


def test_characters_that_xml_does_not_allow_are_escaped() -> None:
    hostile = "id=\x00\x1b]]><failure>&\ufffe\ud800"
    (failure,) = cases(verdict(finding("INV-RESOLVED", "error", 1, event(1, hostile))))["INV-RESOLVED"].result
    assert r"id=\x00\x1b]]><failure>&\xfffe\xd800" in str(failure.text)


def test_the_file_is_utf_8_on_every_machine(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    write_junit(path, BANK, verdict(finding("INV-RESOLVED", "error", 1, event(1, "name=Žižek 雪"))))
    assert "name=Žižek 雪" in path.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [path]
