"""Both engines send equal messages, in any number of tasks."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.golden_events import GOLDEN, NOW_OF_GOLDEN
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulate

SHIPPED = sorted(path.stem for path in (Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
SCRIPTS = sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.glob("*/*.sql"))
SINK_URI = "kafka:///t?protocol=open-protocol&partition-num=3"
DISPATCHERS = '[sink]\ndispatchers = [{matcher = ["*.*"], partition = "index-value"}]\n'
OF_SPARK_SQL = {"message-limit"}
"""Scenarios that only Spark can run: a column has an ``expression``."""
_TASKS = "spark.sql.shuffle.partitions"


def job_of(scenario: str, config: Path) -> Job:
    """A shipped scenario as it is; a golden script in three partitions, dispatched by its keys."""
    if scenario in SHIPPED:
        return prepare(scenario)
    config.write_text(DISPATCHERS)
    return prepare(GOLDEN / scenario, sink_uri=SINK_URI, config=config, overrides=[NOW_OF_GOLDEN])


def digest_of(engine: Engine, job: Job) -> str:
    """The digest of the messages that an engine makes."""
    with simulate(job, engine) as simulation:
        batches = simulation.encoded.messages.select(*MESSAGES.names).batches()
        return _digest(row for batch in batches for row in batch.to_pylist())


def expected_digest(spark: SparkSession, scenario: str, job: Job) -> str:
    """The digest of the local engine; of a scenario with Spark SQL, that of one task."""
    return in_many_tasks(spark, job, 1) if scenario in OF_SPARK_SQL else digest_of(LocalEngine(), job)


def in_many_tasks(spark: SparkSession, job: Job, tasks: int) -> str:
    """The digest of the messages that Spark makes."""
    with _shuffle_partitions(spark, tasks):
        return digest_of(SparkEngine(spark), job)


def _digest(messages: Iterable[Mapping[str, Any]]) -> str:
    digest = hashlib.sha256()
    for message in sorted(messages, key=lambda row: (row["topic"], row["partition"], row["offset"])):
        for name in MESSAGES.names:
            content = message[name]
            digest.update(repr(bytes(content) if isinstance(content, bytearray) else content).encode())
    return digest.hexdigest()


@contextmanager
def _shuffle_partitions(spark: SparkSession, tasks: int) -> Iterator[None]:
    before = str(spark.conf.get(_TASKS))
    spark.conf.set(_TASKS, str(tasks))
    try:
        yield
    finally:
        spark.conf.set(_TASKS, before)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [*SHIPPED, *SCRIPTS])
def test_messages_are_equal(spark: SparkSession, tmp_path: Path, scenario: str) -> None:
    job = job_of(scenario, tmp_path / "changefeed.toml")
    expected = expected_digest(spark, scenario, job)
    assert {in_many_tasks(spark, job, tasks) for tasks in (3, 64)} == {expected}


@pytest.mark.parametrize("scenario", ["seed_t1", "visible/keys.sql"])
def test_messages_of_a_few_scenarios_are_equal(spark: SparkSession, tmp_path: Path, scenario: str) -> None:
    job = job_of(scenario, tmp_path / "changefeed.toml")
    assert in_many_tasks(spark, job, 3) == digest_of(LocalEngine(), job)


@pytest.mark.slow
def test_the_number_of_cores_does_not_matter(spark: SparkSession, tmp_path: Path) -> None:
    """The session of the other tests has two cores."""
    names = [*SHIPPED, *SCRIPTS]
    code = (
        "import sys; from pathlib import Path; from ticdc_producer.spark.session import spark_session;"
        "from tests.runs.test_equal_messages import in_many_tasks, job_of;"
        "spark, config = spark_session('local[1]'), Path(sys.argv[1]);"
        "print(*[in_many_tasks(spark, job_of(name, config), 4) for name in sys.argv[2:]])"
    )
    config = tmp_path / "changefeed.toml"
    command = [sys.executable, "-c", code, str(config), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected_digest(spark, name, job_of(name, config)) for name in names]
