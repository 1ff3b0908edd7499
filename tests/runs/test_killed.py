"""Workers and drivers that are killed in the middle leave the same topic as an undisturbed run."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.kafka_topic import Message, number_of_messages, read_topic
from tests.spark_command import RETRYING, python_workers
from ticdc_producer.kafka.embedded import EmbeddedKafka

PARTITIONS = 20
SYSBENCH = ["sysbench", "--set", "steps[1].generate.transactions=8200", "--engine", "spark", "--no-verify"]
"""A run whose partitions are sent by many tasks, two at a time."""
ROOT = Path(__file__).parents[2]


def _command(kafka: EmbeddedKafka, topic: str, *more: str) -> list[str]:
    uri = f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num={PARTITIONS}"
    return [sys.executable, "-c", RETRYING, "run", *SYSBENCH, "--sink-uri", uri, *more]


def _run(kafka: EmbeddedKafka, topic: str, *more: str) -> None:
    command = _command(kafka, topic, *more)
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def _kill_in_the_middle(
    kafka: EmbeddedKafka, topic: str, victims: Callable[[psutil.Process], list[psutil.Process]]
) -> int:
    """Start a run, kill processes of it when its first messages have arrived, and return its exit code.

    :param victims: returns the processes, given that of the command.
    """
    with subprocess.Popen(
        _command(kafka, topic), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as command:
        while command.poll() is None and not number_of_messages(kafka.bootstrap, topic):
            pass
        assert command.poll() is None, "it ended before it was disturbed"
        for process in victims(psutil.Process(command.pid)):
            process.kill()
        return command.wait(1200)


@pytest.fixture(scope="module")
def whole(kafka: EmbeddedKafka) -> dict[int, list[Message]]:
    """The messages of an undisturbed run."""
    _run(kafka, "undisturbed")
    return read_topic(kafka.bootstrap, "undisturbed")


@pytest.mark.slow
def test_a_run_whose_driver_was_killed_goes_on(kafka: EmbeddedKafka, whole: dict[int, list[Message]]) -> None:
    def everything(command: psutil.Process) -> list[psutil.Process]:
        return [command, *command.children(recursive=True)]

    assert _kill_in_the_middle(kafka, "killed", everything) == -signal.SIGKILL
    written = number_of_messages(kafka.bootstrap, "killed")
    assert 0 < written < sum(map(len, whole.values())), "killed in the middle"
    _run(kafka, "killed", "--resume")
    assert read_topic(kafka.bootstrap, "killed") == whole


@pytest.mark.slow
def test_tasks_whose_workers_were_killed_are_run_again(
    kafka: EmbeddedKafka, whole: dict[int, list[Message]]
) -> None:
    assert _kill_in_the_middle(kafka, "retried", python_workers) == 0
    assert read_topic(kafka.bootstrap, "retried") == whole
