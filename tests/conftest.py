"""Fixtures of all tests: one Spark session, one Kafka broker."""

from __future__ import annotations

import gc
import signal
import subprocess
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from ticdc_producer.java import find_java
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.spark.session import spark_session

MODULES_OF_TASKS = ("pandas", "ticdc_producer.runs.run", "ticdc_producer.verifier.distributed")
"""They import almost all that tasks use."""

SLOW_SECONDS = 3 * 3600

# No deadline: the time of an example depends on the other tests that use the cores.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

pytest_plugins = ["tests.compared", "pytester"]


def pytest_configure() -> None:
    """Restore the default signal handlers: a background job of a shell, or ``nohup``, ignores these signals,
    and child processes would inherit that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the collected tests, millions of objects that live until the end, from garbage collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let slow tests take hours; a fast one beyond ``timeout`` in ``pyproject.toml`` hangs."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))


@pytest.fixture(scope="module")
def short_collections() -> None:
    """Exclude what earlier tests left, too: for modules whose tests collect garbage many times."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session as that of a service: its workers have the modules of their tasks when they start.

    Spark ends a worker whose task fails or reads only a part of its rows, and each new one would spend a
    second on imports. A program that a test starts has the workers of a single run, which import nothing in
    advance.
    """
    session = spark_session("local[2]", light=True, lasting=True, preload=MODULES_OF_TASKS)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka() -> Iterator[EmbeddedKafka]:
    """A real broker for all tests; each test uses its own topics."""
    with EmbeddedKafka() as broker:
        yield broker


@pytest.fixture
def base_archive() -> None:
    """Java's own class archive, on which ours are built; some distributions ship a Java without one."""
    started = subprocess.run([find_java().java, "-Xshare:on", "-version"], capture_output=True, check=False)
    if started.returncode:
        pytest.skip("not run: this Java has no archive to build on")
