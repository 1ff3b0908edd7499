"""An interrupted run continues at its offsets, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import ticdc_producer
from tests.kafka_topic import Message, read_topic
from ticdc_producer.errors import ChangefeedError, FolderError, ForeignMessageError, ScenarioError, TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.targets.run_topics import prepare_topics
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

Topic: TypeAlias = dict[int, list[Message]]

SCRIPT = """
CREATE TABLE test.a (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO test.a VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e');
UPDATE test.a SET v = 'x' WHERE id > 1;
DELETE FROM test.a WHERE id = 4;
"""
BY_KEY = """
[sink]
dispatchers = [{matcher = ["*.*"], partition = "index-value"}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    resume_folder = tmp_path_factory.mktemp("resume")
    (resume_folder / "script.sql").write_text(SCRIPT)
    (resume_folder / "changefeed.toml").write_text(BY_KEY)
    return resume_folder


@pytest.fixture
def script(folder: Path) -> Path:
    return folder / "script.sql"


@pytest.fixture
def config(folder: Path) -> Path:
    return folder / "changefeed.toml"


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> Topic:
    """The messages of a run; they do not contain the topic's name."""
    uri = "kafka:///any?protocol=open-protocol&partition-num=3"
    job = prepare(folder / "script.sql", sink_uri=uri, config=folder / "changefeed.toml")
    messages = simulated_topic(job).messages.to_pylist()
    expected: Topic = {0: [], 1: [], 2: []}
    for row in messages:
        expected[row["partition"]].append((row["key"], row["value"], []))
    return expected


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=3"


def _write(kafka: EmbeddedKafka, topic: str, partition: int, messages: list[Message]) -> None:
    client = Producer({"bootstrap.servers": kafka.bootstrap})
    for key, value, headers in messages:
        client.produce(topic, key=key, value=value, partition=partition, headers=headers)
    assert client.flush(60) == 0


def _interrupted_run(
    kafka: EmbeddedKafka,
    script: Path,
    config: Path,
    topic: str,
    existing: Topic,
    *,
    append: bool = False,
) -> None:
    """A run that was interrupted after the messages ``existing``."""
    job = prepare(script, sink_uri=_uri(kafka, topic), config=config)
    prepare_topics(job, kafka.bootstrap, append=append, resume=False)
    for partition, some in existing.items():
        _write(kafka, topic, partition, some)


def test_each_partition_continues_after_its_existing_messages(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    script: Path,
    config: Path,
    undisturbed: Topic,
) -> None:
    _interrupted_run(kafka, script, config, "half", {0: undisturbed[0][:2], 1: [], 2: undisturbed[2]})
    report = ticdc_producer.run(script, config=config, sink_uri=_uri(kafka, "half"), resume=True)
    assert report.ok
    assert read_topic(kafka.bootstrap, "half") == undisturbed


@pytest.mark.slow
def test_a_run_that_was_done_is_only_verified(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    script: Path,
    config: Path,
    undisturbed: Topic,
) -> None:
    _interrupted_run(kafka, script, config, "done", undisturbed)
    again = ticdc_producer.run(script, config=config, sink_uri=_uri(kafka, "done"), resume=True)
    assert again.ok
    assert read_topic(kafka.bootstrap, "done") == undisturbed


@pytest.mark.slow
def test_an_appending_run_is_resumed_after_the_older_messages(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    script: Path,
    config: Path,
    undisturbed: Topic,
) -> None:
    _interrupted_run(kafka, script, config, "third", dict.fromkeys(range(3), undisturbed[0]))
    _interrupted_run(kafka, script, config, "third", {1: undisturbed[1][:1]}, append=True)
    report = ticdc_producer.run(
        script, config=config, sink_uri=_uri(kafka, "third"), append=True, resume=True
    )
    assert report.ok
    assert read_topic(kafka.bootstrap, "third") == {n: undisturbed[0] + undisturbed[n] for n in range(3)}


@pytest.mark.parametrize("part", ["key", "value", "headers"])
def test_a_message_of_somebody_else_is_not_built_upon(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    script: Path,
    config: Path,
    undisturbed: Topic,
    part: str,
) -> None:
    key, value, headers = undisturbed[2][2]
    foreign = {
        "key": (b"x", value, headers),
        "value": (key, b"x", headers),
        "headers": (key, value, [("x", b"y")]),
    }
    topic = f"foreign-{part}"
    _interrupted_run(kafka, script, config, topic, {2: [*undisturbed[2][:2], foreign[part]]})
    with pytest.raises(ForeignMessageError, match="not the one that the run writes") as rejected:
        ticdc_producer.run(script, config=config, sink_uri=_uri(kafka, topic), resume=True)
    assert (rejected.value.topic, rejected.value.partition, rejected.value.offset) == (topic, 2, 2)
    assert rejected.value.hint
    assert len(read_topic(kafka.bootstrap, topic)[2]) == 3


def test_more_messages_than_the_run_writes_are_refused(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    script: Path,
    config: Path,
    undisturbed: Topic,
) -> None:
    _interrupted_run(kafka, script, config, "more", {1: [*undisturbed[1], undisturbed[1][-1]]})
    with pytest.raises(ForeignMessageError, match="more messages than") as rejected:
        ticdc_producer.run(script, config=config, sink_uri=_uri(kafka, "more"), resume=True)
    assert (rejected.value.partition, rejected.value.offset) == (1, len(undisturbed[1]))


def test_what_never_began_cannot_be_resumed(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path, config: Path
) -> None:
    with pytest.raises(TopicError, match="no run of this scenario"):
        ticdc_producer.run(script, config=config, sink_uri=_uri(kafka, "never"), resume=True)
    _interrupted_run(kafka, script, config, "other-seed", {})
    with pytest.raises(TopicError, match="no run of this scenario"):
        ticdc_producer.run(script, config=config, sink_uri=_uri(kafka, "other-seed"), seed=5, resume=True)


def test_what_cannot_be_resumed_is_refused_before_anything_starts(
    kafka: EmbeddedKafka, script: Path, config: Path, tmp_path: Path
) -> None:
    with pytest.raises(ChangefeedError, match="requires a sink URI with a broker"):
        ticdc_producer.run(script, config=config, resume=True)
    overrides = ["clock.build-time=now"]
    with pytest.raises(ScenarioError, match="build-time"):
        ticdc_producer.run(
            script, config=config, sink_uri=_uri(kafka, "now"), overrides=overrides, resume=True
        )


@pytest.mark.slow
def test_a_folder_that_was_done_stays_if_it_is_of_the_same_run(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path, config: Path, tmp_path: Path
) -> None:
    uri = _uri(kafka, "both")
    assert ticdc_producer.run(script, config=config, sink_uri=uri, out=tmp_path / "out").ok
    written = (tmp_path / "out" / "manifest.json").read_bytes()
    assert ticdc_producer.run(script, config=config, sink_uri=uri, out=tmp_path / "out", resume=True).ok
    assert (tmp_path / "out" / "manifest.json").read_bytes() == written
    with pytest.raises(FolderError, match="its seed differs"):
        ticdc_producer.run(script, config=config, sink_uri=uri, out=tmp_path / "out", seed=5, resume=True)
