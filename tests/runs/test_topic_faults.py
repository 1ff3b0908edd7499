"""Faults of a topic: its first messages were removed, or the run that writes it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import USAGE, TopicError
from ticdc_producer.kafka.client import connection
from ticdc_producer.kafka.embedded import EmbeddedKafka

ROWS = ", ".join(f"({number}, '{number:0100}')" for number in range(2000))
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


def _finished(run: list[str]) -> bool:
    """Resume a killed run, or start it again if it had not begun to write."""
    code = main([*run, "--resume", "-q"])
    return (main([*run, "-q"]) if code == USAGE else code) == 0


def _kill_and_resume(kafka: EmbeddedKafka, script: Path, kills: int, engine: str) -> None:
    options, random = ["--engine", engine], Random(7)
    command = [sys.executable, "-m", "ticdc_producer", "run", str(script), *options, "--sink-uri"]
    began = monotonic()
    subprocess.run([*command, _uri(kafka, f"measured-{engine}")], capture_output=True, check=True)
    duration = monotonic() - began
    for number in range(kills):
        uri = _uri(kafka, f"killed-{engine}-{kills}-{number}")
        process = subprocess.Popen(
            [*command, uri], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(random.uniform(0, duration))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert _finished(["run", str(script), *options, "--sink-uri", uri])
        assert main(["verify", "-q", "--sink-uri", uri, "--scenario", str(script)]) == 0


def test_a_killed_run_is_resumed(kafka: EmbeddedKafka, script: Path) -> None:
    _kill_and_resume(kafka, script, 3, "local")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_run_killed_at_any_moment_is_resumed(kafka: EmbeddedKafka, script: Path, engine: str) -> None:
    _kill_and_resume(kafka, script, 20, engine)
