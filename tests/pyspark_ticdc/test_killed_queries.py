"""A streaming query whose processes are killed leaves the same topic as an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.pyspark_ticdc.batches_of_inserts import FEW, LARGE, SMALL, Size, batch
from tests.pyspark_ticdc.test_stream_writes import Stream
from ticdc_producer.kafka.embedded import EmbeddedKafka

ROOT = Path(__file__).parents[2]
_PAUSE_SECONDS = 0.005
"""Between requests for the topic's end; a batch takes longer."""
Victims: TypeAlias = Callable[[psutil.Process], list[psutil.Process]]
"""Returns the processes that are killed, given that of the query."""


def write_files(folder: Path, size: Size) -> None:
    """Write a file per batch; Spark reads them in the order of their times."""
    folder.mkdir()
    for number in range(size.batches):
        rows = [dict(zip(("op", "id", "name"), row, strict=True)) for row in batch(size, number)]
        file = folder / f"{number:03}.json"
        file.write_text("\n".join(map(json.dumps, rows)))
        os.utime(file, (1_600_000_000 + number, 1_600_000_000 + number))


class Ends:
    """The end of a topic, by one client for all requests."""

    def __init__(self, kafka: EmbeddedKafka, topic: str) -> None:
        self._consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "ends"})
        self._partitions = [TopicPartition(topic, number) for number in range(2)]

    def messages(self) -> int:
        """The number of messages; 0 while the topic does not exist, or has no leader."""
        try:
            offsets = [self._consumer.get_watermark_offsets(each, timeout=1) for each in self._partitions]
        except KafkaException:
            return 0
        return sum(end for _, end in offsets)


def driver(process: psutil.Process) -> list[psutil.Process]:
    """The driver and its Java; the Python processes of Spark live on until they notice."""
    return [process, *(child for child in process.children(recursive=True) if child.name() == "java")]


def workers(process: psutil.Process) -> list[psutil.Process]:
    """The Python processes of Spark: they run tasks, and commit batches."""
    below = [child for child in process.children(recursive=True) if child.name().startswith("python")]
    return [child for child in below if child.parent() in below]


def kill(victims: Victims, query: int) -> bool:
    """Kill processes of a query, and return whether there were any."""
    with suppress(psutil.NoSuchProcess):
        processes = victims(psutil.Process(query))
        for process in processes:
            process.kill()
        return bool(processes)
    return False


@dataclass
class Kills:
    """The kills that are still to come.

    :param pending: whom, and at how many messages of the topic.
    """

    ends: Ends
    pending: deque[tuple[Victims, int]]

    def run(self, command: list[str]) -> int:
        """Run a query until it ends or its driver is killed, and return its exit code.

        A kill waits for a message of the attempt that it ends, so that it is in the middle of a batch.
        """
        with subprocess.Popen(
            [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
        ) as query:
            before = self.ends.messages()
            while self.pending and query.poll() is None:
                victims, moment = self.pending[0]
                now = self.ends.messages()
                if now < moment or now == before or not kill(victims, query.pid):
                    with suppress(subprocess.TimeoutExpired):
                        query.wait(_PAUSE_SECONDS)
                    continue
                self.pending.popleft()
                before = now
                if victims is driver:
                    break
            return query.wait(1200)


def check_killed(
    kafka: EmbeddedKafka, stream: Stream, command: list[str], victims: Sequence[Victims], size: Size
) -> None:
    """Kill a query several times, and compare its topic with that of an undisturbed one."""
    checkpoint = Path(stream.options["checkpointlocation"])
    undisturbed = Stream(kafka, f"{stream.topic}_undisturbed", checkpoint.with_name("undisturbed"))
    for number in range(size.batches):
        undisturbed.write(number, batch(size, number))
    expected = undisturbed.messages
    # The last batches come after the last kill.
    last = sum(map(len, expected.values())) * 3 // 4
    moments = sorted(random.Random(11).sample(range(1, last), len(victims)))
    kills = Kills(Ends(kafka, stream.topic), deque(zip(victims, moments, strict=True)))
    codes = [kills.run(command)]
    while codes[-1] != 0 and len(codes) <= 2 * len(victims):
        codes.append(kills.run(command))
    assert codes[-1] == 0
    assert not kills.pending
    assert stream.messages == expected
    assert stream.verified()["row"] == size.batches * size.rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victims", "size"),
    [
        ([driver] * 2, FEW),
        ([workers] * 2, FEW),
        ([driver, workers] * 10, LARGE),
    ],
    ids=["driver", "workers", "many rows"],
)
def test_nothing_is_lost_and_nothing_comes_twice(
    kafka: EmbeddedKafka, tmp_path: Path, victims: list[Victims], size: Size
) -> None:
    """Kill processes in the middle of small and large batches: 20 while a million rows are written."""
    write_files(tmp_path / "in", size)
    names = "_".join(sorted({victim.__name__ for victim in victims}))
    stream = Stream(kafka, f"stream_killed_{names}", tmp_path / "checkpoint")
    options = {**stream.options, "checkpointLocation": stream.options["checkpointlocation"]}
    command = ["tests.pyspark_ticdc.killed_query", str(tmp_path / "in"), json.dumps(options)]
    check_killed(kafka, stream, command, victims, size)


@pytest.mark.slow
def test_a_commit_that_is_killed_at_any_moment_is_completed(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    stream = Stream(kafka, "stream_killed_commits", tmp_path / "checkpoint")
    sizes = [str(number) for number in SMALL]
    arguments = [json.dumps(stream.options), str(tmp_path / "next"), *sizes]
    command = ["tests.pyspark_ticdc.killed_commits", *arguments]
    check_killed(kafka, stream, command, [driver] * 8, SMALL)
