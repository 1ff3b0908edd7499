"""What a person at a terminal sees of a long step, and what a log file gets."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from ticdc_producer.cli.progress import ProgressDisplay, up_to
from ticdc_producer.runs.run_report import Progress


def _output(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    out = io.StringIO()
    with ProgressDisplay() as progress:
        console = Console(file=out, force_terminal=terminal, width=200, highlight=False)
        monkeypatch.setattr(progress, "_console", console)
        progress.on_status("writing 1000 messages")
        progress.show(Progress(250, 1000, 429918007904436226))
        progress.show(Progress(500, 1000, 429918007904436226))
        progress.on_status("reading back")
    return out.getvalue()


def test_a_terminal_shows_how_far_the_writing_got(monkeypatch: pytest.MonkeyPatch) -> None:
    output = _output(monkeypatch, terminal=True)
    assert "500/1000" in output
    assert not re.search(r"\b0/s", output), "the rate is unknown before the second measurement"
    assert "0:00:00" in output
    assert "429918007904436226" in output
    assert "reading back" in output


def test_a_file_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _output(monkeypatch, terminal=False) == "writing 1000 messages\nreading back\n"


def test_an_unknown_time_stamp_is_not_displayed() -> None:
    assert up_to(0) == ""
    assert up_to(429918007904436226) == "up to 2021-12-20 13:30:49.196 (429918007904436226)"
