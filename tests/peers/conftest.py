"""The consumers' process, one for all tests, and a line at the end where it could not be had."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.peers.software import NotRun, Software, build

_REASON = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def software(request: pytest.FixtureRequest) -> Iterator[Software]:
    try:
        build()
    except NotRun as reason:
        request.config.stash[_REASON] = str(reason)
        pytest.skip(f"not run: {reason}")
    with Software() as software:
        yield software


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if reason := config.stash.get(_REASON, None):
        terminalreporter.section("other people's consumers")
        terminalreporter.line(f"not run: {reason}")
