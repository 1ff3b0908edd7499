"""Fixtures for the consumers' processes, and a line in the summary if they cannot be started."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.kafka_connect import fetch
from tests.peers.pulsar_broker import PulsarBroker, pulsar_broker
from tests.peers.pulsar_broker import fetch as fetch_pulsar
from tests.peers.software import CDC_FORMATS, NotRun, Software, build, java, maven
from tests.peers.ticdc_programs import KAFKA_CONSUMER, STORAGE_CONSUMER, program

EXAMPLE = Path(__file__).parents[2] / "examples" / "testee_java"

_REASONS = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def software(request: pytest.FixtureRequest) -> Iterator[Software]:
    with or_skipped(request):
        build()
    with Software() as software:
        yield software


@pytest.fixture(scope="session")
def cdc_formats(request: pytest.FixtureRequest) -> Iterator[Software]:
    with or_skipped(request):
        build(CDC_FORMATS)
    with Software(CDC_FORMATS) as software:
        yield software


@pytest.fixture(scope="session")
def connect_jars(request: pytest.FixtureRequest) -> None:
    """The jars of Kafka Connect and of Debezium's JDBC sink are on this machine."""
    with or_skipped(request):
        fetch()


@pytest.fixture(scope="session")
def pulsar(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PulsarBroker]:
    with or_skipped(request):
        fetch_pulsar()
    with pulsar_broker(tmp_path_factory.mktemp("pulsar")) as broker:
        yield broker


@pytest.fixture(scope="session")
def java_testee(request: pytest.FixtureRequest) -> str:
    """The command of the sample testee in Java."""
    with or_skipped(request):
        maven(EXAMPLE, "compile")
    parts = (EXAMPLE / "target" / "classes", EXAMPLE / "target" / "lib" / "*")
    return shlex.join([java(), "-cp", os.pathsep.join(map(str, parts)), "Testee"])


@pytest.fixture
def kafka_consumer(request: pytest.FixtureRequest) -> None:
    """TiCDC's ``kafka-consumer`` is on this machine."""
    with or_skipped(request):
        program(KAFKA_CONSUMER)


@pytest.fixture
def storage_consumer(request: pytest.FixtureRequest) -> None:
    """TiCDC's ``storage-consumer`` is on this machine."""
    with or_skipped(request):
        program(STORAGE_CONSUMER)


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the environments, which tests with the same release of Spark share."""
    return Path(os.environ.get("TABLE_FORMATS") or tmp_path_factory.mktemp("environments"))


@contextmanager
def or_skipped(request: pytest.FixtureRequest) -> Iterator[None]:
    """Skip the test, and report the reason, if software is missing."""
    try:
        yield
    except NotRun as reason:
        reasons = request.config.stash.setdefault(_REASONS, [])
        if str(reason) not in reasons:
            reasons.append(str(reason))
        pytest.skip(f"not run: {reason}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if reasons := config.stash.get(_REASONS, None):
        terminalreporter.section("consumers of other projects")
        for reason in reasons:
            terminalreporter.line(f"not run: {reason}")
