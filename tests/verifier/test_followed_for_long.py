"""A stream that is followed for half an hour: the memory of the process does not grow with the stream."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import Popen, TimeoutExpired

import psutil
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ticdc_producer.kafka.embedded import EmbeddedKafka

MINUTES = 30
SAMPLE_SECONDS = 10
SCENARIO = """\
version: 1
name: updates
steps:
  - sql: CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, v INT)
  - generate:
      table: shop.t
      rows: 1000
      transactions: 1000
      each: [{does: update, columns: [v]}]
"""


@pytest.mark.slow
@pytest.mark.timeout(MINUTES * 60 + 900)
def test_memory_stays_flat_with_a_fixed_set_of_keys(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    (tmp_path / "updates.yaml").write_text(SCENARIO)
    uri = f"kafka://{kafka.bootstrap}/updates?protocol=open-protocol&partition-num=2"
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_topics([NewTopic("updates", num_partitions=2)])["updates"].result()
    command = [sys.executable, "-m", "ticdc_producer"]
    rate = ["--rate", "200/s", "--duration", f"{MINUTES}m", "--engine", "local", "--quiet"]
    follows = ["--follow", "--idle", "120", "--checkpoint", str(tmp_path / "checkpoint"), "--quiet"]
    samples: list[int] = []
    with (
        Popen([*command, "run", str(tmp_path / "updates.yaml"), "--sink-uri", uri, *rate]) as writer,
        Popen([*command, "verify", "--sink-uri", uri, *follows]) as follower,
    ):
        process = psutil.Process(follower.pid)
        while follower.poll() is None:
            try:
                follower.wait(SAMPLE_SECONDS)
            except TimeoutExpired:
                samples.append(process.memory_info().rss)
    assert (writer.returncode, follower.returncode) == (0, 0)
    assert len(samples) * SAMPLE_SECONDS > MINUTES * 60
    quarter, half = len(samples) // 4, len(samples) // 2  # by then the window is full
    assert max(samples[half:]) < 1.1 * max(samples[quarter:half])
