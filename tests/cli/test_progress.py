"""What a person at a terminal sees of a long step, and what a log file gets."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ticdc_producer.cli.progress import Progress, up_to
from ticdc_producer.runs.progress import Advance


def _shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    out = io.StringIO()
    with Progress() as progress:
        console = Console(file=out, force_terminal=terminal, width=200, highlight=False)
        monkeypatch.setattr(progress, "_console", console)
        progress.say("writing 1000 messages")
        progress.show(Advance(250, 1000, 429918007904436226))
        progress.show(Advance(500, 1000, 429918007904436226))
        progress.say("reading back")
    return out.getvalue()


def test_a_terminal_shows_how_far_the_writing_got(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown(monkeypatch, terminal=True)
    assert "500/1000" in shown
    assert "/s" in shown
    assert "429918007904436226" in shown
    assert "reading back" in shown


def test_a_file_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(monkeypatch, terminal=False) == "writing 1000 messages\nreading back\n"


def test_a_time_stamp_that_is_not_known_is_not_shown() -> None:
    assert up_to(0) == ""
    assert up_to(429918007904436226) == "up to 2021-12-20 13:30:49.196 (429918007904436226)"
