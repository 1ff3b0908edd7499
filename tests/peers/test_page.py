"""``docs/consumers.md`` has the measured results."""

from __future__ import annotations

import pytest

from tests.peers.page import PAGE, TABLES, Measured, regenerated
from tests.peers.software import Software

pytestmark = pytest.mark.slow


def test_the_page_is_current(software: Software) -> None:
    text = PAGE.read_text("utf-8")
    assert [f"<!-- measured: {name} -->" in text for name in TABLES] == [True] * len(TABLES)
    assert regenerated(text, Measured(software)) == text, "python -m tests.peers.page"
