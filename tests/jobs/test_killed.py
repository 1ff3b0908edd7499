"""Tasks that fail and drivers that are killed in the middle leave the same topic as a run that was let be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from producer.broker import EmbeddedKafka
from producer.errors import BrokerError
from producer.sink.topics import Topics
from tests.kafka_topic import Message, read_topic

SYSBENCH = ["sysbench", "--set", "steps[1].generate.transactions=1500"]
ROOT = Path(__file__).parents[2]


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=4"


def _run(uri: str, *more: str, program: tuple[str, ...] = ("-m", "producer", "run")) -> None:
    command = [sys.executable, *program, *SYSBENCH, "--sink-uri", uri, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def wait_for_messages(kafka: EmbeddedKafka, topic: str, process: subprocess.Popen[str]) -> None:
    """Return when the first message is there."""
    cluster, deadline = Topics(kafka.bootstrap), time.monotonic() + 600
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        with suppress(BrokerError):  # a topic that was made a moment ago has no leader yet
            if topic in cluster.existing() and any(cluster.ends({topic: 4}).values()):
                return
    raise AssertionError("nothing was written")


@pytest.fixture(scope="module")
def whole(kafka: EmbeddedKafka) -> dict[int, list[Message]]:
    """What a run writes that was let be."""
    _run(_uri(kafka, "let-be"))
    return read_topic(kafka.bootstrap, "let-be")


@pytest.mark.slow
def test_a_run_whose_driver_was_killed_goes_on(kafka: EmbeddedKafka, whole: dict[int, list[Message]]) -> None:
    command = [sys.executable, "-m", "producer", "run", *SYSBENCH, "--sink-uri", _uri(kafka, "killed")]
    driver = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for_messages(kafka, "killed", driver)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait(60)
    there = sum(Topics(kafka.bootstrap).ends({"killed": 4}).values())
    assert 0 < there < sum(map(len, whole.values())), "killed in the middle"
    _run(_uri(kafka, "killed"), "--resume")
    assert read_topic(kafka.bootstrap, "killed") == whole


@pytest.mark.slow
def test_tasks_that_fail_in_the_middle_are_run_again(
    kafka: EmbeddedKafka, whole: dict[int, list[Message]]
) -> None:
    _run(_uri(kafka, "retried"), program=("-m", "tests.jobs.run_with_a_failing_task"))
    assert read_topic(kafka.bootstrap, "retried") == whole
