"""Tasks that fail and drivers that are killed in the middle leave the same topic as an undisturbed run."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka_topic import Message, read_topic
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.topics import Topics

PARTITIONS = 20
SYSBENCH = ["sysbench", "--set", "steps[1].generate.transactions=4100"]
"""More than 100,000 events, which several tasks send; each partition may have a resolved event per commit."""
ROOT = Path(__file__).parents[2]


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num={PARTITIONS}"


def _run(uri: str, *more: str, program: tuple[str, ...] = ("ticdc_producer", "run"), code: int = 0) -> None:
    command = [sys.executable, "-m", *program, *SYSBENCH, "--sink-uri", uri, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, cwd=ROOT)
    assert done.returncode == code, done.stdout + done.stderr


@pytest.fixture(scope="module")
def whole(kafka: EmbeddedKafka) -> dict[int, list[Message]]:
    """The messages of an undisturbed run."""
    _run(_uri(kafka, "undisturbed"))
    return read_topic(kafka.bootstrap, "undisturbed")


@pytest.mark.slow
def test_a_run_whose_driver_was_killed_goes_on(kafka: EmbeddedKafka, whole: dict[int, list[Message]]) -> None:
    program = ("tests.runs.run_interrupted", "driver")
    _run(_uri(kafka, "killed"), program=program, code=-signal.SIGKILL)
    messages_before = sum(Topics(kafka.bootstrap).ends({"killed": PARTITIONS}).values())
    assert 0 < messages_before < sum(map(len, whole.values())), "killed in the middle"
    _run(_uri(kafka, "killed"), "--resume")
    assert read_topic(kafka.bootstrap, "killed") == whole


@pytest.mark.slow
def test_tasks_that_fail_in_the_middle_are_run_again(
    kafka: EmbeddedKafka, whole: dict[int, list[Message]]
) -> None:
    _run(_uri(kafka, "retried"), program=("tests.runs.run_interrupted", "task"))
    assert read_topic(kafka.bootstrap, "retried") == whole
