"""Faults of a topic: its first messages were removed, or the run that writes it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

import ticdc_producer
from tests.kafka_topic import number_of_messages
from ticdc_producer.cli import main
from ticdc_producer.errors import USAGE, TopicError
from ticdc_producer.kafka.client import connection
from ticdc_producer.kafka.embedded import EmbeddedKafka

ROWS = ", ".join(f"({number}, '{number:0100}')" for number in range(200))
SQL = f"CREATE TABLE test.t (id INT PRIMARY KEY, v VARCHAR(200));\nINSERT INTO test.t VALUES {ROWS};\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "rows.sql"
    path.write_text(SQL)
    return path


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=1&max-batch-size=1"


def test_a_topic_without_its_first_messages_is_not_verified_from_its_beginning(
    kafka: EmbeddedKafka, script: Path
) -> None:
    uri = _uri(kafka, "retained")
    assert ticdc_producer.run(script, sink_uri=uri).ok
    assert ticdc_producer.verify(sink_uri=uri, from_beginning=True).ok
    admin = AdminClient(connection(kafka.bootstrap))
    for removal in admin.delete_records([TopicPartition("retained", 0, 50)]).values():
        removal.result()
    with pytest.raises(TopicError, match="retained: partition 0 begins at offset 50") as raised:
        ticdc_producer.verify(sink_uri=uri, from_beginning=True)
    assert raised.value.exit_code == USAGE
    assert ticdc_producer.verify(sink_uri=uri).ok


TRANSACTIONS = 4000
"""The size of a run of ``sysbench`` with about 20,000 messages, which takes long enough for random kills."""
MANY_REQUESTS = ["-X", "batch.num.messages=10"]


def _kill(kafka: EmbeddedKafka, run: list[str], topic: str, messages: int) -> None:
    """Start a run, and kill it when the topic has some messages."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ticdc_producer", *run],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and number_of_messages(kafka.bootstrap, topic) < messages:
        pass
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _kill_and_resume(kafka: EmbeddedKafka, kills: int, engine: str, transactions: int = TRANSACTIONS) -> int:
    """Kill runs while they write; a second run is refused, a resumed one leaves the topic complete.

    :return: the number of runs that had written a part of their messages.
    """
    size = ["--set", f"steps[1].generate.transactions={transactions}"]

    def run_into(topic: str) -> list[str]:
        uri = f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=4&max-batch-size=1"
        options = [*size, *MANY_REQUESTS, "--engine", engine, "--no-verify", "-q"]
        return ["run", "sysbench", *options, "--sink-uri", uri]

    random, inside = Random(7), 0
    whole = f"whole-{engine}-{kills}"
    assert main(run_into(whole)) == 0
    total = number_of_messages(kafka.bootstrap, whole)
    for number in range(kills):
        topic = f"killed-{engine}-{kills}-{number}"
        run = run_into(topic)
        _kill(kafka, run, topic, random.randrange(1, total))
        inside += 0 < number_of_messages(kafka.bootstrap, topic) < total
        assert main(run) == USAGE  # the topic has messages
        assert main([*run, "--resume"]) == 0
        assert main(["verify", "-q", "--scenario", "sysbench", *size, "--sink-uri", run[-1]]) == 0
    return inside


def test_a_killed_run_is_resumed(kafka: EmbeddedKafka) -> None:
    _kill_and_resume(kafka, 1, "local", transactions=TRANSACTIONS // 4)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_run_killed_at_any_moment_of_its_write_is_resumed(kafka: EmbeddedKafka, engine: str) -> None:
    assert _kill_and_resume(kafka, 20, engine) > 10
