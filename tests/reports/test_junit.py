"""The JUnit report: a case per check, with the reason of each that did not pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from junitparser import Failure, JUnitXml, Skipped, TestCase

from tests.reports.verdicts import BANK, compared, event, finding, verdict
from ticdc_producer.reports.junit import junit_xml, write_junit
from ticdc_producer.reports.report import Subject
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict


def cases(result: Verdict, requested: RequestedFaults | None = None) -> dict[str, TestCase]:
    """The cases of the JUnit report by name."""
    (suite,) = JUnitXml.fromstring(junit_xml(BANK, result, requested).encode())
    return {str(case.name): case for case in suite}


def test_a_case_per_invariant_and_comparison() -> None:
    state = StateComparison(tables=1, rows=2, missing=0, unexpected=0, not_compared={"bank.old": "no key"})
    by_name = cases(verdict(comparison=compared(), state=state))
    assert list(by_name) == ["INV-FRAME", "expected-events", "expected-state"]
    assert all(case.is_passed for case in by_name.values())
    assert {case.classname for case in by_name.values()} == {"bank.open-protocol"}
    assert by_name["expected-state"].system_out == "1 of 2 tables compared; not compared: bank.old (no key)"


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
    by_name = cases(verdict(*unmet))
    reasons = {name: by_name[name].result[0] for name in ("INV-RESOLVED", "INV-ORDER-KEY")}
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


LOST, EARLY = {"lost-row": ("EXPECTED-EVENTS", "INV-ROW-STATE")}, {"early-resolved": ("INV-RESOLVED",)}


def test_a_violation_by_a_requested_fault_passes_with_a_text() -> None:
    violation = finding("INV-RESOLVED", "error", 5, event(7))
    requested = RequestedFaults(reported_by=EARLY, may_cause=EARLY)
    result = verdict(violation, comparison=compared(2, ("- bank/0@3[0] update",)))
    by_name = cases(result, requested)
    assert all(case.is_passed for case in by_name.values())
    for text in ("reported, as injected: early-resolved", "INV-RESOLVED must hold.", "bank/0@7[0]"):
        assert text in str(by_name["INV-RESOLVED"].system_out)
    assert "reported, as injected: early-resolved" in str(by_name["expected-events"].system_out)
    assert by_name["fault:early-resolved"].system_out == "reported by INV-RESOLVED"


FINDINGS = {
    "none": (),
    "caused": (finding("INV-RESOLVED", "error", 1, event(1)),),
    "not caused": (finding("INV-FRAME", "error", 1, event(1)),),
    "warned": (finding("INV-RESOLVED", "warning", 1, event(1)),),
    "not checked": (finding("INV-RESOLVED", "not checked", 0),),
    "both": (finding("INV-RESOLVED", "error", 1, event(1)), finding("INV-RESOLVED", "not checked", 2)),
}
REQUESTED = {
    "nothing": RequestedFaults(),
    "reported": RequestedFaults(reported_by=EARLY, may_cause=EARLY),
    "unnoticed": RequestedFaults(reported_by={"lost-row": ()}, may_cause=LOST),
    "two": RequestedFaults(reported_by=EARLY | {"lost-row": ()}, may_cause=EARLY | LOST),
    "not injected": RequestedFaults(not_injected={"lost-row": "the stream lacks a row"}),
    "one of two": RequestedFaults(EARLY, EARLY, {"lost-row": "the stream lacks a row"}),
}


@pytest.mark.parametrize("findings", FINDINGS)
@pytest.mark.parametrize("requested", REQUESTED)
@pytest.mark.parametrize("missing", [0, 1])
def test_a_failure_means_that_the_verdict_is_not_as_requested(
    findings: str, requested: str, missing: int
) -> None:
    result, faults = verdict(*FINDINGS[findings], comparison=compared(missing)), REQUESTED[requested]
    failures = [name for name, case in cases(result, faults).items() if case.is_failure]
    assert bool(failures) == (not faults.detected(result))


def test_the_time_of_the_verification_is_shared_out() -> None:
    subject = Subject(name="bank", protocol="open-protocol", seconds=1.5)
    text = junit_xml(subject, verdict(finding("INV-RESOLVED"), comparison=compared()))
    report = JUnitXml.fromstring(text.encode())
    (suite,) = report
    assert (report.time, suite.time) == (1.5, 1.5)
    assert [case.time for case in suite] == [0.5, 0.5, 0.5]


def test_characters_that_xml_does_not_allow_are_escaped() -> None:
    hostile = "id=\x00\x1b]]><failure>&\ufffe\ud800"
    (failure,) = cases(verdict(finding("INV-RESOLVED", "error", 1, event(1, hostile))))["INV-RESOLVED"].result
    assert r"id=\x00\x1b]]><failure>&\xfffe\xd800" in str(failure.text)


def test_the_file_is_utf_8_on_every_machine(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    write_junit(path, BANK, verdict(finding("INV-RESOLVED", "error", 1, event(1, "name=Žižek 雪"))))
    assert "name=Žižek 雪" in path.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [path]
