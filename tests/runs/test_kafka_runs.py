"""Runs into a real Kafka, read back by a client that is not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

import ticdc_producer
from tests.kafka_topic import Message, read_topic
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkDataset, SparkEngine
from ticdc_producer.errors import DeliveryError, SparkError, TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.runs.targets.run_topics import RunTopics
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulate
from ticdc_producer.targets.kafka.topics import Topics

SCRIPT = """
CREATE TABLE test.a (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO test.a VALUES (1,'x'),(2,'y'),(3,'z');
UPDATE test.a SET v = 'w' WHERE id = 2;
"""
MANY_ROWS = "CREATE TABLE test.a (id INT PRIMARY KEY); INSERT INTO test.a VALUES " + ", ".join(
    f"({number})" for number in range(40)
)
MANY_ROWS += ";\n"


def _uri(kafka: EmbeddedKafka, topic: str, partitions: int = 2) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num={partitions}"


def _read(kafka: EmbeddedKafka, topic: str) -> dict[int, list[Message]]:
    return read_topic(kafka.bootstrap, topic)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.sql"
    path.write_text(SCRIPT)
    return path


def test_seed_t1_into_the_users_kafka_and_into_a_folder(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    uri = _uri(kafka, "seed") + "&batch-by=partition"
    report = ticdc_producer.run("seed_t1", sink_uri=uri, out=tmp_path / "seed")
    assert report.ok
    delivered = _read(kafka, "seed")
    assert [len(messages) for messages in delivered.values()] == [
        report.counts.by_partition()[f"seed/{n}"]["messages"] for n in (0, 1)
    ]
    lines = list(ticdc_producer.decode(folder=tmp_path / "seed"))
    events = list(ticdc_producer.decode(sink_uri=uri))
    bare = uri.split("?")[0] + "?protocol=open-protocol"  # how many partitions there are the topic says
    assert ticdc_producer.verify(sink_uri=bare, scenario="seed_t1").ok
    keys = ("partition", "offset", "index", "kind", "commit_ts", "op")
    assert [[e.get(k) for k in keys] for e in events] == [[e.get(k) for k in keys] for e in lines]
    for partition, messages in delivered.items():
        assert messages[0][1].endswith(b'"t":3}'), partition  # CREATE TABLE comes first everywhere
        assert messages[-1][1] == bytes(8)


def test_a_topic_that_holds_messages_wants_append(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path
) -> None:
    first = ticdc_producer.run(script, sink_uri=_uri(kafka, "again"))
    assert first.ok
    with pytest.raises(TopicError, match="already holds messages"):
        ticdc_producer.run(script, sink_uri=_uri(kafka, "again"))
    before = _read(kafka, "again")
    second = ticdc_producer.run(script, sink_uri=_uri(kafka, "again"), append=True)
    assert second.ok, "what is verified starts at the offsets noted before writing"
    after = _read(kafka, "again")
    assert after == {partition: messages * 2 for partition, messages in before.items()}


def test_another_partition_count_and_a_missing_topic_are_refused_before_anything_is_written(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path
) -> None:
    assert ticdc_producer.run(script, sink_uri=_uri(kafka, "two")).ok
    with pytest.raises(TopicError, match="2 partitions"):
        ticdc_producer.run(script, sink_uri=_uri(kafka, "two", 3), append=True)
    with pytest.raises(TopicError, match="the topic does not exist"):
        ticdc_producer.run(script, sink_uri=_uri(kafka, "none") + "&auto-create-topic=false")
    assert "none" not in Topics(kafka.bootstrap).existing()


def test_a_topic_with_more_partitions_gets_messages_in_the_first_ones(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path
) -> None:
    Topics(kafka.bootstrap).prepare(
        prepare(script, sink_uri=_uri(kafka, "five", 5)).changefeed, ["five"], append=False
    )
    report = ticdc_producer.run(script, sink_uri=_uri(kafka, "five", 2))
    assert report.ok
    assert report.warnings == (
        "partition-num=2: the other partitions of the topic, which has 5, get no messages",
    )
    assert ticdc_producer.run(script, sink_uri=_uri(kafka, "other", 2)).ok
    five = _read(kafka, "five")
    assert [[message[1] for message in five[n]] for n in (0, 1)] == [
        [message[1] for message in messages] for messages in _read(kafka, "other").values()
    ]
    assert [five[n] for n in (2, 3, 4)] == [[], [], []]
    assert ticdc_producer.verify(sink_uri=_uri(kafka, "five", 2), scenario=script).ok
    assert not ticdc_producer.verify(sink_uri=_uri(kafka, "five", 5), scenario=script).ok


def _create(kafka: EmbeddedKafka, script: Path, partitions: Mapping[str, int]) -> None:
    for topic, count in partitions.items():
        changefeed = prepare(script, sink_uri=_uri(kafka, topic, count)).changefeed
        Topics(kafka.bootstrap).prepare(changefeed, [topic], append=False)


def _filled(kafka: EmbeddedKafka, topic: str) -> list[int]:
    """The partitions with rows."""
    return [n for n, messages in _read(kafka, topic).items() if any(b'"u":' in m[1] for m in messages)]


BY_KEY = {"matcher": ["test.*"], "partition": "index-value"}


def test_a_topics_own_partitions_are_used_without_partition_num(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    script = tmp_path / "rows.sql"
    script.write_text(MANY_ROWS)
    _create(kafka, script, {"own": 5})
    uri, config = f"kafka://{kafka.bootstrap}/own?protocol=open-protocol", {"sink": {"dispatchers": [BY_KEY]}}
    report = ticdc_producer.run(script, sink_uri=uri, config=config, out=tmp_path / "out")
    assert report.ok
    assert _filled(kafka, "own") == [0, 1, 2, 3, 4]
    for query in ("", "&partition-num=5"):
        assert ticdc_producer.verify(sink_uri=uri + query, scenario=script, config=config).ok
    assert ticdc_producer.verify(folder=tmp_path / "out").ok
    assert ticdc_producer.run(script, sink_uri=uri, config=config, append=True).ok
    with pytest.raises(TopicError, match="5 partitions, but the changefeed has partition-num=6"):
        ticdc_producer.run(script, sink_uri=f"{uri}&partition-num=6", config=config, append=True)


def test_topics_of_an_expression_have_their_own_partitions(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    script = tmp_path / "rows.sql"
    script.write_text(MANY_ROWS + MANY_ROWS.replace("test.a", "test.b"))
    _create(kafka, script, {"each_a": 4, "each": 1})
    rule = {**BY_KEY, "topic": "each_{table}"}
    uri, config = _uri(kafka, "each", 1), {"sink": {"dispatchers": [rule]}}
    report = ticdc_producer.run(script, sink_uri=uri, config=config, out=tmp_path / "out")
    assert report.ok
    assert [len(_read(kafka, topic)) for topic in ("each", "each_a", "each_b")] == [1, 4, 1]
    assert _filled(kafka, "each_a") == [0, 1, 2, 3]
    assert ticdc_producer.verify(sink_uri=uri, scenario=script, config=config).ok
    bare = f"kafka://{kafka.bootstrap}/each?protocol=open-protocol"
    assert ticdc_producer.verify(sink_uri=bare, scenario=script, config=config).ok
    assert ticdc_producer.verify(folder=tmp_path / "out", scenario=script).ok


@pytest.mark.slow
def test_topics_by_expression_each_get_their_events(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path, tmp_path: Path
) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text('[sink]\ndispatchers = [{matcher = ["test.*"], topic = "of_{schema}_{table}"}]\n')
    report = ticdc_producer.run(script, sink_uri=_uri(kafka, "rest"), config=config)
    assert report.ok
    kinds = {(topic, kind) for topic, _, kind in report.counts.messages}
    assert kinds == {
        ("of_test_a", "ddl"),
        ("of_test_a", "row"),
        ("of_test_a", "resolved"),
        ("rest", "resolved"),
    }
    assert set(_read(kafka, "rest")) == {0, 1}


def test_a_task_that_is_run_again_goes_on_where_the_partition_ends(
    spark: SparkSession, kafka: EmbeddedKafka, script: Path
) -> None:

    job = prepare(script, sink_uri=_uri(kafka, "retry"))
    starts = Topics(kafka.bootstrap).prepare(job.changefeed, ["retry"], append=False)
    topics = RunTopics(job.changefeed, kafka.bootstrap, starts)
    for engine in (SparkEngine(spark), LocalEngine()):
        with simulate(job, engine) as simulation:
            topics.write(simulation.encoded.messages, "")
            summaries = topics.encode_and_write(job, simulation.events)
            counts = {
                summary.partition: sum(count.messages for count in summary.kinds.values())
                for summary in summaries
            }
        read = {partition: len(messages) for partition, messages in _read(kafka, "retry").items()}
        assert read == counts, "whichever attempt wrote them"


def test_messages_that_the_broker_refuses_are_accounted_for_exactly(
    spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    script = tmp_path / "large.sql"
    script.write_text(
        "CREATE TABLE test.l (id INT PRIMARY KEY, v VARCHAR(4000));\n"
        "INSERT INTO test.l VALUES (1,'small');\n"
        f"INSERT INTO test.l VALUES (2,'{'x' * 3000}');\n"
        "INSERT INTO test.l VALUES (3,'small');\n"
    )
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    topic = NewTopic("narrow", 1, 1, config={"max.message.bytes": "2000", "compression.type": "uncompressed"})
    admin.create_topics([topic])["narrow"].result()
    with pytest.raises(DeliveryError) as failed:
        ticdc_producer.run(script, sink_uri=_uri(kafka, "narrow", 1) + "&compression=none")
    error = failed.value
    assert (error.topic, error.partition) == ("narrow", 0)
    existing = _read(kafka, "narrow")[0]
    assert error.delivered == {("narrow", 0): len(existing)}
    assert "raise max.message.bytes of the topic" in error.hint
    assert f"narrow/0: {len(existing)}" in str(error)


def test_speculative_execution_is_refused() -> None:
    conf = SimpleNamespace(get=lambda *_: "true")
    messages = SparkDataset(SimpleNamespace(sparkSession=SimpleNamespace(conf=conf)), MESSAGES)
    with pytest.raises(SparkError, match="speculative") as rejected:
        messages.execute(lambda _part, _batches: None)
    assert "spark.speculation=false" in str(rejected.value)


def test_a_broker_ends_with_a_run_that_does_not_reach_it(script: Path, tmp_path: Path) -> None:
    """Also one that would outlive the run, because no report has its address."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"TMPDIR": str(temporary), "SPARK_HOME": "/nonexistent"}
    command = [sys.executable, "-m", "ticdc_producer", "run", str(script), "--keep", "--engine", "spark"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "starting the embedded Kafka broker\n" in done.stderr
    assert "Spark does not start" in done.stderr
    assert not [*temporary.glob("ticdc-producer-kafka-*")]
    assert not [process for process in psutil.process_iter() if _has(process, f"TMPDIR={temporary}")]


def _has(process: psutil.Process, variable: str) -> bool:
    name, _, value = variable.partition("=")
    with suppress(psutil.Error):
        return bool(process.environ().get(name) == value)
    return False


@pytest.mark.slow
def test_keep_leaves_a_broker_that_can_be_read_and_killed(spark: SparkSession, script: Path) -> None:
    report = ticdc_producer.run(script, keep=True)
    try:
        bare = report.target + "?protocol=open-protocol"
        assert len(list(ticdc_producer.decode(sink_uri=bare))) == sum(report.counts.events.values())
    finally:
        broker = psutil.Process(report.broker_pid)
        broker.terminate()
        broker.wait(timeout=60)
