"""The pytest plugin: topics of TiCDC's messages as fixtures. docs/testing.md has examples.

Only pytest is imported here; each fixture imports its own modules.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from ticdc_producer.errors import ProducerError
from ticdc_producer.testing.marker import FORM, MarkerArguments, check_protocol, parse_marker, protocol_name

if TYPE_CHECKING:
    from ticdc_producer.testing.broker import Broker
    from ticdc_producer.testing.runs import GoldenRuns
    from ticdc_producer.testing.state_diff import Row, Tables
    from ticdc_producer.testing.topic import ScenarioTopic

_MARKER = "ticdc"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--ticdc-bootstrap``, ``--ticdc-client``, ``--ticdc-protocol`` and ``--ticdc-verify``."""
    group = parser.getgroup(_MARKER, "topics of TiCDC's messages")
    group.addoption(
        "--ticdc-bootstrap", metavar="HOST:PORT", help="use this running Kafka instead of an embedded one"
    )
    group.addoption(
        "--ticdc-client",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property of the clients of that Kafka, as librdkafka spells it; may be given more than once",
    )
    group.addoption(
        "--ticdc-protocol",
        action="append",
        default=[],
        metavar="PROTOCOL",
        help="skip tests of other protocols; may be given more than once",
    )
    group.addoption(
        "--ticdc-verify",
        action="store_true",
        help="read the messages of each scenario again and verify them before its first test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and check the options."""
    config.addinivalue_line("markers", f"{FORM}: fill the topic of ticdc_topic with a scenario's messages")
    with _usage_error("--ticdc-protocol"):
        for protocol in config.getoption("--ticdc-protocol"):
            check_protocol(protocol)
    if config.getoption("--ticdc-client"):
        _check_client(config)


def _check_client(config: pytest.Config) -> None:
    if not config.getoption("--ticdc-bootstrap"):
        raise pytest.UsageError("--ticdc-client has no effect on the embedded Kafka (add --ticdc-bootstrap)")
    with _usage_error("--ticdc-client"):
        from ticdc_producer.config.kafka_properties import parse_kafka_properties

        parse_kafka_properties(config.getoption("--ticdc-client"))


@contextmanager
def _usage_error(option: str) -> Iterator[None]:
    try:
        yield
    except ProducerError as error:
        raise pytest.UsageError(f"{option}: {error.what} ({error.hint})") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with several protocols once for each."""
    marker = metafunc.definition.get_closest_marker(_MARKER)
    if marker is None:
        return
    try:
        arguments = parse_marker(marker.args, marker.kwargs)
    except ProducerError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None
    if arguments.several and "ticdc_protocol" in metafunc.fixturenames:
        metafunc.parametrize("ticdc_protocol", arguments.protocols, ids=arguments.protocols)


@pytest.fixture
def ticdc_protocol(request: pytest.FixtureRequest) -> str:
    """Return the protocol of this test, as its marker spells it; empty for the scenario's own."""
    protocols = _marker_arguments(request).protocols
    return protocols[0] if protocols else ""


@pytest.fixture(scope="session")
def ticdc_broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """Provide a Kafka broker for the whole run: an embedded one, or that of ``--ticdc-bootstrap``.

    ``ticdc_broker.bootstrap`` is its ``host:port``, ``ticdc_broker.client`` the other properties for clients.
    """
    from ticdc_producer.testing.broker import broker

    options = (request.config.getoption(f"--ticdc-{option}") for option in ("bootstrap", "client"))
    with _fail_without_traceback(), broker(*options) as running:
        yield running


@pytest.fixture(scope="session")
def _ticdc_runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> GoldenRuns:
    from ticdc_producer.testing.runs import GoldenRuns

    verify = bool(request.config.getoption("--ticdc-verify"))
    return GoldenRuns(lambda: tmp_path_factory.mktemp(_MARKER), verify=verify)


@pytest.fixture(scope="session")
def _ticdc_numbers() -> Iterator[str]:
    """Count suffixes that are unique among runs on the same Kafka and among repetitions of a test."""
    run = uuid4().hex[:8]
    return (f"{run}-{number}" for number in count(1))


@pytest.fixture
def ticdc_topic(
    request: pytest.FixtureRequest,
    ticdc_protocol: str,
    _ticdc_runs: GoldenRuns,
    _ticdc_numbers: Iterator[str],
) -> Iterator[ScenarioTopic]:
    """Provide a topic of this test alone, with the messages of the scenario that the marker names."""
    from ticdc_producer.testing.topic import filled, topic_name

    arguments = _marker_arguments(request)
    with _fail_without_traceback():
        protocol = ticdc_protocol or _scenario_protocol(arguments, request.path.parent)
        _skip_other_protocols(protocol, request.config.getoption("--ticdc-protocol"))
        golden = _ticdc_runs.golden(arguments, ticdc_protocol, test_folder=request.path.parent)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    name = topic_name(request.node.nodeid, run=next(_ticdc_numbers), worker=worker)
    broker: Broker = request.getfixturevalue("ticdc_broker")  # a skipped test must not start a broker
    with _fail_without_traceback(), filled(golden, broker.cluster, name, keep=broker.embedded) as topic:
        location = f"topic {name} at {broker.bootstrap}, golden folder {golden.folder}"
        request.node.add_report_section("setup", _MARKER, location)
        yield topic


@pytest.fixture
def ticdc_assert_state(ticdc_topic: ScenarioTopic) -> Callable[[Tables | Iterable[Row]], None]:
    """Return a function that compares a consumer's rows with the expected rows.

    It fails with the differences.
    """
    from ticdc_producer.testing.state_diff import state_diff

    def check(actual_rows: Tables | Iterable[Row]) -> None:
        __tracebackhide__ = True
        with _fail_without_traceback():
            differences = state_diff(ticdc_topic.expected_state, actual_rows, ticdc_topic.golden.keys)
        if differences:
            raise AssertionError(f"the rows differ from the expected ones\n{differences}")

    return check


def _marker_arguments(request: pytest.FixtureRequest) -> MarkerArguments:
    marker = request.node.get_closest_marker(_MARKER)
    if marker is None:
        pytest.fail(f"the test needs a marker: @pytest.mark.{FORM}", pytrace=False)
    with _fail_without_traceback():
        return parse_marker(marker.args, marker.kwargs)


def _scenario_protocol(arguments: MarkerArguments, test_folder: Path) -> str:
    from ticdc_producer.testing.runs import own_protocol

    return own_protocol(arguments, test_folder=test_folder)


def _skip_other_protocols(protocol: str, only: list[str]) -> None:
    if only and protocol_name(protocol) not in only:
        pytest.skip(f"the test is of {protocol_name(protocol)}, --ticdc-protocol={','.join(only)}")


@contextmanager
def _fail_without_traceback() -> Iterator[None]:
    """Fail the test with the message of our error only; the traceback would not help users."""
    try:
        yield
    except ProducerError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
