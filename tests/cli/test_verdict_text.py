"""The verdict on a terminal: columns line up, the last line says it all, colour is optional."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reports.verdicts import compared, event, finding, verdict
from ticdc_producer.cli.report_text import show_verdict
from ticdc_producer.verifier.table_state import StateComparison
from ticdc_producer.verifier.verdict import Verdict

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
