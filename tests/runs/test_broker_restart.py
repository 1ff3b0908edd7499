"""A broker that restarts during a run: no message is lost, duplicated or out of order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import ticdc_producer
from tests.kafka_topic import read_topic
from ticdc_producer.config import resolve
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.kafka.embedded.process import is_free
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages
from ticdc_producer.runs.run_report import Progress
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.targets.kafka.write import PartitionWriter

COUNT = 5_000
SCENARIO = """\
version: 1
name: restarted
steps:
  - sql: CREATE TABLE test.t (id BIGINT PRIMARY KEY, v VARCHAR(200));
  - generate: {table: test.t, rows: 100, transactions: 20_000, mix: {insert: 20, update: 70, delete: 10}}
resolved: {every: 1m}
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[EmbeddedKafka]:
    """A broker that has its address and its topics again when it is started again."""
    # Below the ports of outgoing connections: one of them could take it while the broker is away.
    port = next(port for port in Random().sample(range(20_000, 30_000), 100) if is_free(port))
    with EmbeddedKafka(data_dir=tmp_path / "kafka", port=port) as running:
        yield running


def _restart(broker: EmbeddedKafka) -> None:
    address = broker.bootstrap
    broker.stop()
    broker.start()
    assert broker.bootstrap == address


def test_a_partition_is_whole_after_a_restart_between_its_messages(broker: EmbeddedKafka) -> None:
    changefeed = resolve(f"kafka://{broker.bootstrap}/restarted?partition-num=1")
    Topics(changefeed.brokers).prepare(changefeed, ["restarted"], append=False)
    values = [str(number).encode() for number in range(COUNT)]

    def messages() -> Iterator[MessageBatch]:
        for number, value in enumerate(values):
            if number == COUNT // 2:  # what was just handed over is on its way
                _restart(broker)
            yield from_messages([Message(key=b"k", value=value, type="row", commit_ts=1)])

    writer = PartitionWriter(
        changefeed.brokers, changefeed.producer_properties(changefeed.brokers), "restarted", 0
    )
    writer.write(messages(), 0)
    assert [value for _, value, _ in read_topic(broker.bootstrap, "restarted")[0]] == values


@pytest.mark.slow
def test_a_run_is_verified_after_a_restart(broker: EmbeddedKafka, tmp_path: Path) -> None:
    scenario = tmp_path / "restarted.yaml"
    scenario.write_text(SCENARIO)
    seen: list[Progress] = []

    def on_progress(progress: Progress) -> None:
        if not seen and progress.messages:
            seen.append(progress)
            _restart(broker)

    uri = f"kafka://{broker.bootstrap}/restarted?partition-num=2&max-batch-size=1"
    # The watcher looks every second: few messages at a time, and each time almost a second, take longer.
    few = ["queue.buffering.max.messages=2000", "linger.ms=900"]
    report = ticdc_producer.run(scenario, sink_uri=uri, on_progress=on_progress, kafka_properties=few)
    assert seen, "the run was over before anybody looked"
    assert 0 < seen[0].messages < report.counts.total
    assert report.ok
