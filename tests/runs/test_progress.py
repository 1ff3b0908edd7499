"""Progress of a run, measured in its topic."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Producer
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.config import resolve
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.protocols import registry
from ticdc_producer.runs.run_report import Progress
from ticdc_producer.runs.targets.kafka import current_progress
from ticdc_producer.runs.targets.run_topics import RunTopics
from ticdc_producer.targets.kafka.topics import Topics

TS = 429918007904436226


def _write(kafka: EmbeddedKafka, partition: int, *times: int) -> None:
    encoder = registry.encoder("open-protocol", {})
    client = Producer({"bootstrap.servers": kafka.bootstrap})
    for ts in times:
        message = encoder.resolved(ts)
        assert message is not None
        client.produce("progress", key=message.key, value=message.value, partition=partition)
    assert client.flush(60) == 0


def test_messages_count_from_the_start_offsets_and_the_slowest_partition_gives_the_time(
    kafka: EmbeddedKafka,
) -> None:
    changefeed = resolve(f"kafka://{kafka.bootstrap}/progress?protocol=open-protocol&partition-num=2", None)
    empty = Topics(kafka.bootstrap).prepare(changefeed, ["progress"], append=False)
    _write(kafka, 0, TS - 5)
    target = RunTopics(changefeed, kafka.bootstrap, {**empty, ("progress", 0): 1})
    assert current_progress(target, 10) == Progress(0, 10, 0)
    _write(kafka, 0, TS, TS + 7)
    assert current_progress(target, 10) == Progress(2, 10, 0), "partition 1 is empty yet"
    _write(kafka, 1, TS, TS + 2)
    assert current_progress(target, 10) == Progress(4, 10, TS + 2)
    # An extrapolated total: 7 and 2 of 18 units of time gave four messages.
    assert current_progress(target, (TS, TS + 18)) == Progress(4, 16, TS + 2)
    assert current_progress(target, (TS + 7, TS + 18)) == Progress(4, None, TS + 2)


def test_a_small_run_reports_what_it_has_written(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    uri = f"kafka://{kafka.bootstrap}/small?protocol=open-protocol&partition-num=2"
    seen: list[Progress] = []
    ticdc_producer.run("seed_t1", sink_uri=uri, dry_run=True, on_progress=seen.append)
    assert seen == []
    into_kafka = ticdc_producer.run("seed_t1", sink_uri=uri, verify_output=False, on_progress=seen.append)
    target = RunTopics(resolve(uri), kafka.bootstrap, {("small", 0): 0, ("small", 1): 0})
    total = into_kafka.counts.total
    assert seen == [Progress(0, total, 0), current_progress(target, total)]
    ticdc_producer.run("seed_t1", out=tmp_path / "out", verify_output=False, on_progress=seen.append)
    assert seen[2].messages == seen[2].total == total
