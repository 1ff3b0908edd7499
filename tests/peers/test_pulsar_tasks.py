"""Tasks of Spark that write into a broker of Pulsar, while they are killed or another program writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.peers.pulsar_broker import NAMESPACE, PulsarBroker
from tests.spark_command import RETRYING, python_workers

pytestmark = pytest.mark.slow
ROOT, PARTITIONS, SECONDS = Path(__file__).parents[2], 3, 600
SETTINGS = ["steps[1].generate.transactions=2000", "resolved.every=20ms"]
"""A watermark after each second transaction: the rows before it are waited for."""
RUN = ["run", "sysbench", *(word for setting in SETTINGS for word in ("--set", setting))]


def _uri(pulsar: PulsarBroker, topic: str) -> str:
    return f"pulsar://{pulsar.service}/{topic}?protocol=canal-json&enable-tidb-extension=true"


@contextmanager
def _writing(pulsar: PulsarBroker, topic: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command on Spark, from its first messages on."""
    pulsar.create(topic, PARTITIONS)
    uri = _uri(pulsar, f"{NAMESPACE}/{topic}")
    command = [sys.executable, "-c", RETRYING, *RUN, "--engine", "spark", "--sink-uri", uri, *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    ) as process:
        _wait_for_messages(pulsar, topic, process)
        yield process


def _wait_for_messages(pulsar: PulsarBroker, topic: str, process: subprocess.Popen[str]) -> None:
    ends = pulsar.ends(topic)
    while process.poll() is None and pulsar.ends(topic) == ends:
        pass
    assert process.poll() is None, "it ended before it was disturbed"


def _writers(pulsar: PulsarBroker, command: psutil.Process) -> list[psutil.Process]:
    """The processes of tasks that are connected to the broker. The others are for the next attempts."""
    _, port = pulsar.service.split(":")
    return [
        worker
        for worker in python_workers(command)
        if any(
            connection.raddr and connection.raddr.port == int(port) for connection in worker.net_connections()
        )
    ]


@pytest.fixture(scope="module")
def whole(pulsar: PulsarBroker) -> dict[int, list[tuple[str, bytes]]]:
    """The messages that the engine of this process writes."""
    pulsar.create("undisturbed", PARTITIONS)
    command = [sys.executable, "-m", "ticdc_producer", *RUN, "--engine", "local"]
    command += ["--sink-uri", _uri(pulsar, f"{NAMESPACE}/undisturbed")]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS, cwd=ROOT)
    return pulsar.partitions("undisturbed")


def test_tasks_whose_workers_are_killed_are_run_again(
    pulsar: PulsarBroker, whole: dict[int, list[tuple[str, bytes]]], tmp_path: Path
) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text('[sink.pulsar-config]\nauthentication-token = "SECRET"\n', "utf-8")
    with _writing(pulsar, "killed", "--config", str(config)) as run:
        command = psutil.Process(run.pid)
        for kills in range(2):
            if kills:
                _wait_for_messages(pulsar, "killed", run)
            processes = [command, *command.children(recursive=True)]
            assert "SECRET" not in str([process.cmdline() for process in processes])
            (writer,) = _writers(pulsar, command)
            writer.kill()
        output, _ = run.communicate(timeout=SECONDS)
    assert run.returncode == 0, output
    assert pulsar.partitions("killed") == whole
    assert "SECRET" not in output


def test_a_message_of_another_program_ends_the_run(pulsar: PulsarBroker) -> None:
    with _writing(pulsar, "disturbed") as run:
        pulsar.send("disturbed", b"foreign")
        output, _ = run.communicate(timeout=SECONDS)
    assert run.returncode == 2, output
    assert "more messages than" in output
    assert "another program writes to the topic" in output


def test_topics_that_pulsar_creates_with_partitions(pulsar: PulsarBroker, spark: SparkSession) -> None:
    policy = {
        "allowAutoTopicCreation": True,
        "topicType": "partitioned",
        "defaultNumPartitions": PARTITIONS,
    }
    pulsar.administer("PUT", "namespaces/public/divided", {})
    pulsar.administer("POST", "namespaces/public/divided/autoTopicCreation", policy)
    messages = []
    for engine in ("local", "spark"):
        topic = f"persistent://public/divided/{engine}"
        report = ticdc_producer.run("migrations", sink_uri=_uri(pulsar, topic), engine=engine)
        assert report.engine is not None
        assert report.engine.name == engine
        messages.append(pulsar.partitions(topic))
    of_local, of_spark = messages
    assert of_spark == of_local
    assert {*of_local} == {*range(PARTITIONS)}
