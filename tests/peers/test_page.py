"""``docs/consumers.md`` says what was measured."""

from __future__ import annotations

import pytest

from tests.peers.page import PAGE, TABLES, Measured, written_anew
from tests.peers.software import Software

pytestmark = pytest.mark.slow


def test_the_page_is_current(software: Software) -> None:
    text = PAGE.read_text("utf-8")
    assert [f"<!-- measured: {name} -->" in text for name in TABLES] == [True] * len(TABLES)
    assert written_anew(text, Measured(software)) == text, "python -m tests.peers.page"
