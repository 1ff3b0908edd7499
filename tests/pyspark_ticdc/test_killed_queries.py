"""A streaming query whose processes are killed leaves the same topic as an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest

from tests.pyspark_ticdc.batches_of_inserts import BATCHES, ROWS, batch
from tests.pyspark_ticdc.test_stream_writes import Stream
from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.topics import Topics

ROOT = Path(__file__).parents[2]
Victims: TypeAlias = Callable[[psutil.Process], list[psutil.Process]]
"""Returns the processes that are killed, given that of the query."""


def write_files(folder: Path) -> None:
    """Write a file per batch; Spark reads them in the order of their times."""
    folder.mkdir()
    for number in range(BATCHES):
        rows = [dict(zip(("op", "id", "name"), row, strict=True)) for row in batch(number)]
        file = folder / f"{number:03}.json"
        file.write_text("\n".join(map(json.dumps, rows)))
        os.utime(file, (1_600_000_000 + number, 1_600_000_000 + number))


def messages(kafka: EmbeddedKafka, topic: str) -> int:
    topics = Topics(kafka.bootstrap)
    if topic not in topics.existing():
        return 0
    try:
        return sum(topics.ends({topic: 2}).values())
    except BrokerError:  # a new topic has no leader yet
        return 0


def driver(process: psutil.Process) -> list[psutil.Process]:
    """The driver and its Java; the Python processes of Spark live on until they notice."""
    return [process, *(child for child in process.children(recursive=True) if child.name() == "java")]


def workers(process: psutil.Process) -> list[psutil.Process]:
    """The Python processes of Spark: they run tasks, and commit batches."""
    below = [child for child in process.children(recursive=True) if child.name().startswith("python")]
    return [child for child in below if child.parent() in below]


def killed(command: list[str], kafka: EmbeddedKafka, topic: str, victims: Victims, after: int) -> int:
    """Start a query, kill processes of it when the topic has some messages, and return its exit code."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as query:
        while query.poll() is None and messages(kafka, topic) < after:
            pass
        if query.poll() is None:
            for process in victims(psutil.Process(query.pid)):
                process.kill()
        return query.wait(1200)


def check_killed(
    kafka: EmbeddedKafka, stream: Stream, command: list[str], victims: Victims, times: int
) -> None:
    """Kill a query several times, and compare its topic with that of an undisturbed one."""
    checkpoint = Path(stream.options["checkpointlocation"])
    undisturbed = Stream(kafka, f"{stream.topic}_undisturbed", checkpoint.with_name("undisturbed"))
    for number in range(BATCHES):
        undisturbed.write(number, batch(number))
    expected = undisturbed.messages
    total = sum(map(len, expected.values()))
    moments = sorted(random.Random(11).sample(range(1, total), times))
    codes = [killed(command, kafka, stream.topic, victims, moment) for moment in (*moments, total + 1)]
    assert codes[-1] == 0
    assert any(codes)
    assert stream.messages == expected
    assert stream.verified()["row"] == BATCHES * ROWS


@pytest.mark.slow
@pytest.mark.parametrize("victims", [driver, workers])
def test_nothing_is_lost_and_nothing_comes_twice(
    kafka: EmbeddedKafka, tmp_path: Path, victims: Victims
) -> None:
    write_files(tmp_path / "in")
    name = "driver" if victims is driver else "workers"
    stream = Stream(kafka, f"stream_killed_{name}", tmp_path / "checkpoint")
    options = {**stream.options, "checkpointLocation": stream.options["checkpointlocation"]}
    command = ["tests.pyspark_ticdc.killed_query", str(tmp_path / "in"), json.dumps(options)]
    check_killed(kafka, stream, command, victims, 3)


@pytest.mark.slow
def test_a_commit_that_is_killed_at_any_moment_is_completed(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    stream = Stream(kafka, "stream_killed_commits", tmp_path / "checkpoint")
    command = ["tests.pyspark_ticdc.killed_commits", json.dumps(stream.options), str(tmp_path / "next")]
    check_killed(kafka, stream, command, lambda process: [process], 8)
