"""Fixtures for the consumers' processes, and a line in the summary if they cannot be started."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.kafka_connect import fetch
from tests.peers.software import CDC_FORMATS, NotRun, Software, build, java, maven

EXAMPLE = Path(__file__).parents[2] / "examples" / "testee_java"

_REASON = pytest.StashKey[str]()


@pytest.fixture(scope="session")
def software(request: pytest.FixtureRequest) -> Iterator[Software]:
    with _or_skipped(request):
        build()
    with Software() as software:
        yield software


@pytest.fixture(scope="session")
def cdc_formats(request: pytest.FixtureRequest) -> Iterator[Software]:
    with _or_skipped(request):
        build(CDC_FORMATS)
    with Software(CDC_FORMATS) as software:
        yield software


@pytest.fixture(scope="session")
def connect_jars(request: pytest.FixtureRequest) -> None:
    """The jars of Kafka Connect and of Debezium's JDBC sink are on this machine."""
    with _or_skipped(request):
        fetch()


@pytest.fixture(scope="session")
def java_testee(request: pytest.FixtureRequest) -> str:
    """The command of the sample testee in Java."""
    with _or_skipped(request):
        maven(EXAMPLE, "compile")
    parts = (EXAMPLE / "target" / "classes", EXAMPLE / "target" / "lib" / "*")
    return shlex.join([java(), "-cp", os.pathsep.join(map(str, parts)), "Testee"])


@contextmanager
def _or_skipped(request: pytest.FixtureRequest) -> Iterator[None]:
    try:
        yield
    except NotRun as reason:
        request.config.stash[_REASON] = str(reason)
        pytest.skip(f"not run: {reason}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if reason := config.stash.get(_REASON, None):
        terminalreporter.section("consumers of other projects")
        terminalreporter.line(f"not run: {reason}")
