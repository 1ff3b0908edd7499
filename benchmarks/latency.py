"""How long a small scenario takes, relative to the smallest Spark job.

Warm: in one session, scenarios written with and without verification, the verification of a folder, and the
smallest job with a Python worker take turns; the result is the ratio of the medians. Cold: the shell command
and a PySpark script with that job take turns, each in a new process. Post: requests to a service and that job
take turns. Pytest: the plugin runs ten tests with a scenario each.

    python -m benchmarks.latency --json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa
from pyspark.sql import SparkSession

from benchmarks.figures import Figure
from benchmarks.service_start import post_run
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.run import run
from ticdc_producer.runs.verify import verify
from ticdc_producer.spark.session import spark_session

SHIPPED = ("seed_t1", "bank", "orders")
CHANGES = 200
TESTS = 10
_ROUNDS, _UNMEASURED, _COLD_ROUNDS = 9, 3, 3
_SCRIPT = """
from pyspark.sql import SparkSession

def identity(batches):
    yield from batches

if __name__ == "__main__":
    spark = SparkSession.builder.master("local[*]").getOrCreate()
    spark.range(100).repartition(1).mapInArrow(identity, "id long").toArrow()
"""
_TEST = """
import pytest

@pytest.mark.ticdc(scenario="{scenario}")
def test_{number}(ticdc_topic):
    assert ticdc_topic.messages()
"""
_TEST_DURATION = re.compile(r"([\d.]+)s setup +\S*test_(\d+)")


def history() -> str:
    """SQL with single-row transactions: a third each of inserts, updates and deletes."""
    statements = ["CREATE TABLE test.t (id INT PRIMARY KEY, name VARCHAR(20), price DECIMAL(10,2));"]
    for number in range(CHANGES):
        row, kind = divmod(number, 3)
        statements.append(
            (
                f"INSERT INTO test.t VALUES ({row}, 'name {row}', {row}.50);",
                f"UPDATE test.t SET price = price + 1 WHERE id = {row};",
                f"DELETE FROM test.t WHERE id = {row};",
            )[kind]
        )
    return "\n".join(statements) + "\n"


def _identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def smallest_job(spark: SparkSession) -> None:
    """One job with a shuffle, a Python worker, and the result in the driver."""
    spark.range(100).repartition(1).mapInArrow(_identity, "id long").toArrow()


def timed(calls: dict[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of calls that take turns; each gets the number of the round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds):
        for name, call in calls.items():
            start = perf_counter()
            call(number)
            times[name].append(perf_counter() - start)
    return times


def warm(work: Path) -> Iterator[Figure]:
    """Runs in one process, into a folder and into a running Kafka."""
    script = work / "history.sql"
    script.write_text(history())
    scenarios = {name: name for name in SHIPPED} | {"history": str(script)}
    spark = spark_session()

    def folder(scenario: str, *, verified: bool) -> Callable[[int], object]:
        name = f"{Path(scenario).stem}-{verified}"
        return lambda number: run(scenario, out=work / f"{name}-{number}", verify_output=verified)

    def kafka(scenario: str, bootstrap: str, *, verified: bool) -> Callable[[int], object]:
        topic = f"{Path(scenario).stem}-{verified}"
        uri = f"kafka://{bootstrap}/{topic}-{{}}?protocol=open-protocol&partition-num=3"
        return lambda number: run(scenario, sink_uri=uri.format(number), verify_output=verified)

    def read_again(scenario: str) -> Callable[[int], object]:
        name = f"{Path(scenario).stem}-True"
        return lambda number: verify(folder=work / f"{name}-{number}")

    with EmbeddedKafka() as broker:
        calls: dict[str, Callable[[int], object]] = {"job": lambda _: smallest_job(spark)}
        for name, scenario in scenarios.items():
            for prefix, verified in (("", False), ("verified-", True)):
                calls[f"{prefix}folder/{name}"] = folder(scenario, verified=verified)
                calls[f"{prefix}kafka/{name}"] = kafka(scenario, broker.bootstrap, verified=verified)
            calls[f"verify/{name}"] = read_again(scenario)
        times = timed(calls, _ROUNDS)
    spark.stop()
    medians = {name: median(seconds[_UNMEASURED:]) for name, seconds in times.items()}
    for name in calls:
        if name != "job":
            detail = f"{medians[name] * 1000:.0f} ms, the job {medians['job'] * 1000:.0f} ms"
            yield Figure(f"latency/{name}", medians[name] / medians["job"], detail=detail)


def cold(work: Path) -> Iterator[Figure]:
    """The shell command in a new process."""
    script = work / "smallest_job.py"
    script.write_text(_SCRIPT)
    command = [sys.executable, "-m", "ticdc_producer", "run", "seed_t1", "--out"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}

    def call(arguments: list[str]) -> None:
        subprocess.run(arguments, check=True, capture_output=True, env=environment)

    calls: dict[str, Callable[[int], object]] = {
        "job": lambda _: call([sys.executable, str(script)]),
        "shell": lambda number: call([*command, str(work / f"cold-{number}"), "--no-verify"]),
        "verified-shell": lambda number: call([*command, str(work / f"verified-{number}")]),
    }
    medians = {name: median(seconds) for name, seconds in timed(calls, _COLD_ROUNDS).items()}
    for name in ("shell", "verified-shell"):
        detail = f"{medians[name]:.1f} s, the script {medians['job']:.1f} s"
        yield Figure(f"latency/{name}/seed_t1", medians[name] / medians["job"], detail=detail)


@contextmanager
def _served() -> Iterator[str]:
    """A service that is ready: its URL."""
    command = [sys.executable, "-m", "ticdc_producer", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout is not None
            assert service.stderr is not None
            url = service.stdout.readline().removeprefix("listening on ").strip()
            for line in service.stderr:
                if line == "ready\n":
                    break
            yield url
        finally:
            service.terminate()


def posted(_work: Path) -> Iterator[Figure]:
    """A warm POST of seed_t1 to the service, which writes it into its Kafka and verifies it."""
    spark = spark_session()
    with _served() as url:
        calls: dict[str, Callable[[int], object]] = {
            "job": lambda _: smallest_job(spark),
            "post": lambda _: post_run(url, verified=True),
        }
        times = timed(calls, _ROUNDS)
    spark.stop()
    job, post = (median(seconds[_UNMEASURED:]) for seconds in times.values())
    detail = f"{post * 1000:.0f} ms, the job {job * 1000:.0f} ms"
    yield Figure("latency/verified-post/seed_t1", post / job, detail=detail)


def plugin(work: Path) -> Iterator[Figure]:
    """Tests of the pytest plugin, each with a scenario of its own."""
    for number in range(TESTS):
        scenario = work / f"scenario_{number}.sql"
        scenario.write_text(history().replace("test.t", f"test.t{number}"))
        test = _TEST.format(scenario=scenario.name, number=number)
        (work / f"test_{number}.py").write_text(test)
    spark = spark_session()
    (job,) = timed({"job": lambda _: smallest_job(spark)}, _ROUNDS).values()
    spark.stop()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=0", "-vv", "."]
    for name, options in (("pytest", []), ("verified-pytest", ["--ticdc-verify"])):
        done = subprocess.run([*command, *options], check=True, capture_output=True, text=True, cwd=work)
        seconds = {int(number): float(text) for text, number in _TEST_DURATION.findall(done.stdout)}
        each = median(seconds[number] for number in range(1, TESTS))
        detail = f"{each * 1000:.0f} ms a test after the first"
        yield Figure(f"latency/{name}", each / median(job[_UNMEASURED:]), detail=detail)


def measured(work: Path) -> Iterator[Figure]:
    """All figures."""
    for part in (warm, cold, posted, plugin):
        with tempfile.TemporaryDirectory(dir=work) as folder:
            yield from part(Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    figures = [*measured(options.work)]
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        for figure in figures:
            print(f"{figure.name:<28} {figure.value:8.2f}  {figure.detail}")


if __name__ == "__main__":
    main()
