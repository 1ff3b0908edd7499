"""What all tests share: one Spark session, one Kafka broker."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.spark.session import spark_session

# How long an example takes is no property of the code: other tests may have the cores.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

pytest_plugins = ["tests.compared", "pytester"]


def pytest_configure() -> None:
    """Children must meet signals as in a terminal: a shell that runs tests behind itself, or ``nohup``,
    has them ignored, and children inherit that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = spark_session("local[2]", light=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[EmbeddedKafka]:
    """A real broker for all tests; each uses topics of its own."""
    with EmbeddedKafka() as broker:
        yield broker
