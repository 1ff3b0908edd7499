"""What a person at a terminal sees of a long step, and what a log file gets."""

from __future__ import annotations

import re

import pytest

from ticdc_producer.cli.terminal.progress import ProgressDisplay, up_to
from ticdc_producer.runs.run_report import Progress


def _output(capsys: pytest.CaptureFixture[str]) -> str:
    with ProgressDisplay() as progress:
        progress.on_status("writing 1000 messages")
        progress.show(Progress(250, 1000, 429918007904436226))
        progress.show(Progress(500, 1000, 429918007904436226))
        progress.on_status("reading back")
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_terminal_shows_how_far_the_writing_got(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)
    output = _output(capsys)
    assert "500/1000" in output
    assert not re.search(r"\b0/s", output), "the rate is unknown before the second measurement"
    assert "0:00:00" in output
    assert "429918007904436226" in output
    assert "reading back" in output


def test_a_file_gets_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert _output(capsys) == "writing 1000 messages\nreading back\n"


def test_a_long_step_gets_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = iter([0.0, 9.0, 10.0, 11.0, 20.0])
    with ProgressDisplay(clock=lambda: next(seconds)) as progress:
        progress.on_status("writing 1000 messages")
        for written in (0, 400, 500, 600, 1_000_000):
            progress.show(Progress(written, 2_000_000 if written else None))
    assert capsys.readouterr().err.splitlines() == [
        "writing 1000 messages",
        "written 500 of 2,000,000",
        "written 1,000,000 of 2,000,000",
    ]


def test_an_unknown_time_stamp_is_not_displayed() -> None:
    assert up_to(0) == ""
    assert up_to(429918007904436226) == "up to 2021-12-20 13:30:49.196 (429918007904436226)"
