"""A line in the summary if the sources of the collations' tables are missing."""

from __future__ import annotations

import pytest

from tests.model import collation_tables

_REASON = pytest.StashKey[str]()


@pytest.fixture
def made_tables(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """The tables, made from their sources."""
    try:
        return collation_tables.tables()
    except collation_tables.NotRun as reason:
        request.config.stash[_REASON] = str(reason)
        pytest.skip(f"not run: {reason}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if reason := config.stash.get(_REASON, None):
        terminalreporter.section("tables of collations")
        terminalreporter.line(f"not run: {reason}")
