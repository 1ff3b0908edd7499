"""The verdict on a terminal: columns line up, the last line says it all, colour is optional."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reports.verdicts import compared, event, finding, verdict
from ticdc_producer.cli.report_text import show_verdict
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

ESCAPE = "\x1b["
MIXED = verdict(
    finding("INV-RESOLVED", "error", 5, event(7)),
    finding("INV-ORDER-TABLE", "warning"),
    finding("INV-ORDER-KEY", "not checked", 12, hint="rows without handle key"),
    comparison=compared(2, ("- bank/0@3[0]",)),
)


def printed(capsys: pytest.CaptureFixture[str], displayed: Verdict, *, quiet: bool = False) -> list[str]:
    show_verdict(displayed, quiet=quiet)
    return capsys.readouterr().out.splitlines()


def test_statements_stand_in_one_column(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, MIXED)
    statements = ("INV-RESOLVED must", "INV-ORDER-TABLE must", "rows without handle key")
    starts = [line.index(text) for line in lines for text in statements if text in line]
    assert len(starts) == 3
    assert len(set(starts)) == 1
    assert "    bank/0@7[0] update bank.accounts id=1" in lines[2]


def test_the_last_line_is_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, MIXED)[-1] == "VIOLATED: 1 error, 1 warning, 1 not checked, events differ"
    assert printed(capsys, verdict())[-1] == "verified"
    assert printed(capsys, verdict(finding("A", "warning"), finding("B", "warning")))[-1] == (
        "verified: 2 warnings"
    )


def test_the_wrong_protocol_is_the_first_line_and_hides_its_consequences(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cause = "the messages look like canal-json, and were decoded as open-protocol: set protocol=canal-json"
    gaps = [finding(f"INV-{n}", "not checked", 0, hint="the stream has no row events") for n in range(5)]
    undecoded = replace(
        verdict(
            finding("INV-FRAME", "error", 9, event(7), hint=cause),
            *gaps,
            finding("INV-OTHER", "not checked", 0, hint="another reason"),
            comparison=compared(2, ("- bank/0@3[0]",)),
        ),
        kinds={"error": 9},
    )
    lines = printed(capsys, undecoded)
    assert lines[0] == f"error  {cause}"
    assert sum(cause in line for line in lines) == 1
    assert [line for line in lines if line.startswith("not checked")] == [
        "not checked  5 invariants  the stream has no row events",
        "not checked  INV-OTHER     another reason",
    ]
    assert "  - bank/0@3[0]" not in lines
    assert lines[-1] == "VIOLATED: 1 error, 6 not checked, events differ"
    assert printed(capsys, undecoded, quiet=True)[0] == f"error  {cause}"


def test_the_number_of_violated_invariants_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert "stream      1 invariant checked, none violated (3 row, 1 ddl, 2 resolved events)" in (
        printed(capsys, verdict())
    )
    assert "stream      3 invariants checked, 2 violated (3 row, 1 ddl, 2 resolved events)" in (
        printed(capsys, MIXED)
    )


def test_the_last_line_is_that_of_the_faults_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    early = {"early-resolved": ("INV-RESOLVED",)}
    for requested, line in (
        (
            RequestedFaults(early, early),
            "verified, as requested: the checks report early-resolved by INV-RESOLVED, and no other error",
        ),
        (
            RequestedFaults(early | {"lost-row": ()}, early | {"lost-row": ("EXPECTED-EVENTS",)}),
            "FAILED: lost-row was injected, and no check reports it",
        ),
        (
            RequestedFaults({"poison": ("INV-FRAME",)}, {"poison": ("INV-FRAME",)}),
            "FAILED: INV-RESOLVED is violated, by no injected fault",
        ),
        (
            RequestedFaults(early, early, {"lost-row": "the stream lacks a row"}),
            "FAILED: lost-row was not injected, because the stream lacks a row",
        ),
    ):
        show_verdict(MIXED, requested=requested)
        assert capsys.readouterr().out.splitlines()[-1] == line


def test_quiet_leaves_errors_and_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(printed(capsys, MIXED, quiet=True))
    assert "INV-RESOLVED" in text
    assert "events differ from the expected ones: 2 missing" in text
    assert "INV-ORDER-TABLE" not in text
    assert "INV-ORDER-KEY" not in text
    assert printed(capsys, verdict(finding("INV-ORDER-TABLE", "warning")), quiet=True) == [
        "verified: 1 warning"
    ]


def test_what_was_not_compared_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_verdict(verdict(), way_out="give --scenario")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["compared    neither events nor rows: give --scenario", "verified"]
    show_verdict(verdict(comparison=compared()))
    assert capsys.readouterr().out.splitlines()[-2] == "compared    no rows"


def test_tables_that_were_not_compared_are_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = dict.fromkeys((f"bank.t{number}" for number in range(5)), "a reason")
    state = StateComparison(tables=1, rows=2, missing=0, unexpected=0, not_compared=reasons)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = "\n".join(printed(capsys, verdict(comparison=compared(), state=state)))
    assert "bank.t3, bank.t4 (a reason)" in text
    assert f"{ESCAPE}33m1 of 6 tables compared" in text.replace("1;33m", "33m"), "amber"


def test_an_injected_fault_is_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    faulty = replace(compared(), injected=2, diff=("! bank/0@3 lost-row at ts 5",))
    lines = printed(capsys, verdict(comparison=faulty))
    assert lines[:2] == [
        "error  events differ from the expected ones: 2 injected faults",
        "  ! bank/0@3 lost-row at ts 5",
    ]
    assert lines[-1] == "VIOLATED: events differ"


def test_colour_is_for_terminals_that_want_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert f"{ESCAPE}31m" in "\n".join(printed(capsys, MIXED)), "red"
    monkeypatch.setenv("NO_COLOR", "1")
    assert f"{ESCAPE}31m" not in "\n".join(printed(capsys, MIXED))
