"""Prints at the end of a test run how much of the golden data was compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from tests.protocols.golden_messages import Compared

_COMPARED = "golden messages compared"


@pytest.fixture
def compared(record_property: Callable[[str, object], None]) -> Compared:
    """A function that records what a test compared and how much; the output ends with the sums."""

    def note(what: str, count: int) -> None:
        record_property(_COMPARED, (what, count))

    return note


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    sums: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == _COMPARED:
                what, count = value
                sums[what] += count
    if sums:
        terminalreporter.section(_COMPARED)
        for what, count in sorted(sums.items()):
            terminalreporter.line(f"{what}: {count:,}")
