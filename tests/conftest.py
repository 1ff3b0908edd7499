"""Fixtures of all tests: one Spark session, one Kafka broker."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.java import find_java
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.spark.session import spark_session
from ticdc_producer.spark.worker_daemon import MODULES_VARIABLE

MODULES_OF_TASKS = ("pandas", "ticdc_producer.runs.run", "ticdc_producer.verifier.check")
"""They import almost all that tasks use."""

SLOW_SECONDS = 3 * 3600

EXHAUSTIVE = bool(os.environ.get("TEST_EXHAUSTIVE"))
"""Whether slow tests run every case, where they otherwise run a selection that covers them."""

# No deadline: the time of an example depends on the other tests that use the cores.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", _ANY_MACHINE, max_examples=20)
settings.register_profile("full", _ANY_MACHINE)
settings.load_profile(os.environ.get("TEST_EXAMPLES", "fast"))

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
    """Let slow tests take hours; a fast one beyond ``timeout`` in ``pyproject.toml`` hangs.

    Files that use Spark or Kafka come first, because they take longest: with several workers the last file
    must be a short one.
    """
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    long = {item.path for item in items if {"spark", "kafka"} & {*getattr(item, "fixturenames", ())}}
    items.sort(key=lambda item: item.path not in long)


class OneSessionForTwo(LoadFileScheduling):
    """A distribution by file, of which one worker of two has all files that use Spark.

    A session takes some seconds to start, its first queries are slow, and it uses two cores.
    """

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        self._scopes: dict[str, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        if file not in self._scopes:
            number = len(self._scopes) % max(1, self.numnodes // 2)
            self._scopes[file] = f"Spark {number}" if _uses_spark(self.config.rootpath / file) else file
        return self._scopes[file]


_SPARK = re.compile(r'[(\s]spark: |usefixtures\("spark"|"spark"\], indirect')


def _uses_spark(file: Path) -> bool:
    """Return whether a file names the fixture: the process that distributes the tests has collected none."""
    return _SPARK.search(file.read_text("utf-8")) is not None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Distribute fast tests. Slow ones use Spark for half of their time, so that any worker gets them."""
    fast = config.getvalue("dist") == "loadfile" and config.getvalue("markexpr") == "not slow"
    return OneSessionForTwo(config, log) if fast else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Exclude what the tests of a file leave, too: golden files that are read once are many objects."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path != item.path:
            gc.collect()
            gc.freeze()


SMALL_DATA = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    f"spark.executorEnv.{MODULES_VARIABLE}": " ".join(MODULES_OF_TASKS),
}
"""Settings with which few rows take little time."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session for few rows, which all tests share; the tool works in it as in a user's own session.

    Its workers have the modules of their tasks when they start: Spark ends a worker whose task fails or reads
    only a part of its rows, and each new one would spend a second on imports.
    """
    session = spark_session("local[2]", settings=SMALL_DATA)
    yield session
    session.stop()


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Engine:
    """The engine that a test is parametrized with: ``local`` or ``spark``."""
    if getattr(request, "param", "local") == "local":
        return LocalEngine()
    return SparkEngine(request.getfixturevalue("spark"))


@pytest.fixture(scope="session")
def broker() -> Iterator[EmbeddedKafka]:
    """A real broker for all tests."""
    with EmbeddedKafka() as embedded:
        yield embedded


@pytest.fixture(scope="module")
def kafka(broker: EmbeddedKafka) -> Iterator[EmbeddedKafka]:
    """The broker, without topics when a file of tests starts; each test of a file uses its own topics."""
    yield broker
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    topics = [name for name in admin.list_topics(timeout=30).topics if not name.startswith("__")]
    for deletion in admin.delete_topics(topics, operation_timeout=30).values() if topics else ():
        deletion.result()


@pytest.fixture
def base_archive() -> None:
    """Java's own class archive, on which ours are built; some distributions ship a Java without one."""
    started = subprocess.run([find_java().java, "-Xshare:on", "-version"], capture_output=True, check=False)
    if started.returncode:
        pytest.skip("not run: this Java has no archive to build on")
