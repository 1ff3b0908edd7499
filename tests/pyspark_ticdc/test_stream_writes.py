"""``df.writeStream.format("ticdc")``: each batch is written once, however often its tasks are repeated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

import ticdc_producer
from pyspark_ticdc.writer import TicdcStreamWriter
from tests.kafka_topic import Message, read_topic
from ticdc_producer.errors import DeliveryError, ForeignMessageError, ProducerError, ScenarioError, TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka

DDL = "CREATE TABLE items (id BIGINT PRIMARY KEY, name TEXT);"
ROWS = StructType(
    [StructField("op", StringType()), StructField("id", LongType()), StructField("name", StringType())]
)
TIMED = StructType([*ROWS, StructField("commit_ts", LongType())])
START = 429918007904436226
Rows = Sequence[tuple[Any, ...]]


def inserts(*ids: int, name: str = "a") -> Rows:
    return [("insert", number, name) for number in ids]


class Stream:
    """A streaming query as Spark drives it, without Spark: tasks write, and the driver commits."""

    def __init__(
        self, kafka: EmbeddedKafka, topic: str, checkpoint: Path, columns: StructType = ROWS, **options: str
    ) -> None:
        self.columns, self.topic, self.kafka = columns, topic, kafka
        self.options = {
            "kafka.bootstrap.servers": kafka.bootstrap, "topic": topic, "ddl": DDL, "partition-num": "2",
            "checkpointlocation": str(checkpoint), **options,
        }  # fmt: skip

    def write(self, number: int, *tasks: Rows) -> None:
        """Write a batch; each task has its rows."""
        writer = TicdcStreamWriter(self.options, self.columns, overwrite=False)
        names = self.columns.names
        kinds = {"op": pa.string(), "name": pa.string()}
        schema = pa.schema([(name, kinds.get(name, pa.int64())) for name in names])
        batches = [
            pa.RecordBatch.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema)
            for rows in tasks
        ]
        messages = [writer.write(iter([batch])) for batch in batches]
        writer.commit(messages, number)

    @property
    def messages(self) -> dict[int, list[Message]]:
        return read_topic(self.kafka.bootstrap, self.topic)

    def verified(self) -> dict[str, int]:
        """The number of events by kind; violations and duplicates are errors."""
        uri = f"kafka://{self.kafka.bootstrap}/{self.topic}?protocol=open-protocol&partition-num=2"
        verdict = ticdc_producer.verify(sink_uri=uri)
        assert verdict.ok
        kinds = dict(verdict.kinds)
        assert (kinds.pop("duplicate"), kinds.pop("error")) == (0, 0)
        return kinds


def test_a_query_continues_after_its_end(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path) -> None:
    files = tmp_path / "in"
    files.mkdir()

    def add(number: int) -> None:
        rows = [{"op": "insert", "id": number * 10 + n, "name": "x"} for n in range(10)]
        (files / f"{number}.json").write_text("\n".join(map(json.dumps, rows)))

    stream = Stream(kafka, "stream_continued", tmp_path / "checkpoint")

    def run() -> None:
        rows = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1).json(str(files))
        writer = rows.writeStream.format("ticdc").trigger(availableNow=True)
        writer.options(**stream.options).option(
            "checkpointLocation", str(tmp_path / "checkpoint")
        ).start().awaitTermination()

    for number in range(2):
        add(number)
        run()
    assert stream.verified() == {"row": 20, "ddl": 2, "resolved": 6}  # after the DDL, and after each batch


def test_tasks_and_their_order_do_not_count(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    whole, parts = (Stream(kafka, f"stream_{name}", tmp_path / name) for name in ("whole", "parts"))
    whole.write(0, inserts(*range(50)))
    parts.write(0, inserts(*range(49, 20, -2)), [], inserts(*range(48, 20, -2)), inserts(*range(21)))
    assert whole.messages == parts.messages
    assert whole.verified() == {"row": 50, "ddl": 2, "resolved": 4}


def test_a_batch_that_is_repeated_is_written_once(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    stream = Stream(kafka, "stream_repeated", tmp_path)
    stream.write(0, inserts(1, 2))
    stream.write(1, inserts(3, 4))
    before = stream.messages
    stream.write(1, inserts(4), inserts(3))
    assert stream.messages == before
    with pytest.raises(TopicError, match="stream_repeated: batch 1 was repeated with other rows"):
        stream.write(1, inserts(3, 5))
    with pytest.raises(TopicError, match="batch 0 does not follow batch 1, the last one of this query"):
        stream.write(0, inserts(1, 2))
    with pytest.raises(TopicError, match="batch 3 does not follow batch 1"):
        stream.write(3, inserts(9))
    assert stream.messages == before
    stream.write(2, [])
    stream.write(3, inserts(5))
    assert stream.verified()["row"] == 5


def limit_message(kafka: EmbeddedKafka, topic: str, size: int) -> None:
    """Let the broker accept messages of a topic up to a size."""
    resource = ConfigResource(
        "topic", topic,
        incremental_configs=[
            ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
        ],
    )  # fmt: skip
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()


def test_a_batch_that_failed_half_way_is_completed(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    """The broker rejects a message, first because of its size."""
    small = {"max-batch-size": "1"}
    stream, expected = (
        Stream(kafka, f"stream_{name}", tmp_path / name, **small) for name in ("half", "expected")
    )
    tasks = inserts(*range(1, 30)), [*inserts(30, name="b" * 3000), *inserts(*range(31, 60))]
    for target in (stream, expected):
        target.write(0, inserts(0))
    expected.write(1, *tasks)
    limit_message(kafka, "stream_half", 1000)
    with pytest.raises(DeliveryError, match="messages delivered"):
        stream.write(1, *tasks)
    half = stream.messages
    assert sum(map(len, half.values())) < sum(map(len, expected.messages.values()))
    with pytest.raises(TopicError, match="batch 1 was repeated with other rows"):
        stream.write(1, inserts(7))
    with pytest.raises(TopicError, match="batch 2 does not follow batch 1"):
        stream.write(2, inserts(70))
    assert stream.messages == half
    limit_message(kafka, "stream_half", 1 << 20)
    stream.write(1, *reversed(tasks))
    assert stream.messages == expected.messages
    stream.write(2, inserts(60))
    assert stream.verified()["row"] == 61


def foreign(kafka: EmbeddedKafka, topic: str, partition: int) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce(topic, b"foreign", partition=partition)
    producer.flush()


def test_messages_of_others_stop_the_query(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    between = Stream(kafka, "stream_foreign", tmp_path / "between")
    between.write(0, inserts(1))
    foreign(kafka, "stream_foreign", 1)
    with pytest.raises(ForeignMessageError, match=r"stream_foreign/1@.*: the partition ends at"):
        between.write(1, inserts(2))
    within = Stream(kafka, "stream_foreign_within", tmp_path / "within", **{"max-batch-size": "1"})
    within.write(0, inserts(0))
    limit_message(kafka, "stream_foreign_within", 1000)
    tasks = [*inserts(*range(1, 30)), *inserts(30, 31, 32, 33, name="b" * 3000)]
    with pytest.raises(DeliveryError):
        within.write(1, tasks)
    for partition in (0, 1):
        foreign(kafka, "stream_foreign_within", partition)
    limit_message(kafka, "stream_foreign_within", 1 << 20)
    with pytest.raises(
        ForeignMessageError, match=r"is not the one that the run writes|there are more messages"
    ):
        within.write(1, tasks)


def test_a_topic_with_messages_is_not_continued_by_chance(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.create_topics([NewTopic("stream_used", num_partitions=2)]).values():
        future.result()
    foreign(kafka, "stream_used", 0)
    with pytest.raises(TopicError, match="the topic already holds messages"):
        Stream(kafka, "stream_used", tmp_path / "a").write(0, inserts(1))
    first, second = (Stream(kafka, "stream_two", tmp_path / name) for name in ("b", "c"))
    first.write(0, inserts(1))
    with pytest.raises(TopicError, match="another query has written the topic"):
        second.write(0, inserts(2))
    second.options["append"] = "true"
    second.write(0, inserts(2))
    with pytest.raises(TopicError, match="another query has written the topic"):
        first.write(1, inserts(3))
    assert second.verified() == {"row": 2, "ddl": 2, "resolved": 6}


def test_commit_ts_of_rows_grow_from_batch_to_batch(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    stream = Stream(kafka, "stream_timed", tmp_path, TIMED, start=str(START))
    stream.write(0, [])
    stream.write(1, [("insert", 1, "a", START + 50), ("insert", 2, "a", START + 20)])
    stream.write(2, [])
    with pytest.raises(ScenarioError, match=f"commit-ts {START + 50} is not above {START + 50}, up to which"):
        stream.write(3, [("insert", 3, "a", START + 50)])
    stream.write(3, [("insert", 3, "a", START + 51)])
    assert stream.verified() == {"row": 3, "ddl": 2, "resolved": 6}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checkpointlocation": None}, "a stream requires the option 'checkpointLocation'"),
        ({"topic": None}, "requires the option 'topic'"),
        ({"path": "/tmp/folder"}, "'path' is not an option of writeStream"),
        (
            {"kafka.bootstrap.servers": None, "sink-uri": "file:///tmp/x?protocol=csv"},
            "a stream writes topics",
        ),
        ({"kafka.bootstrap.servers": None, "sink-uri": "kafka:///t"}, "the sink URI names no brokers"),
    ],
)
def test_wrong_options_are_refused(
    kafka: EmbeddedKafka, tmp_path: Path, options: dict[str, str | None], message: str
) -> None:
    given = {**Stream(kafka, "stream_wrong", tmp_path).options, **options}
    with pytest.raises(ProducerError, match=message):
        TicdcStreamWriter(
            {name: value for name, value in given.items() if value is not None}, ROWS, overwrite=False
        )


def test_a_query_that_replaces_its_result_is_refused(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    with pytest.raises(ProducerError, match="output mode 'complete'"):
        TicdcStreamWriter(Stream(kafka, "stream_wrong", tmp_path).options, ROWS, overwrite=True)


def test_the_writer_and_what_tasks_return_show_no_secret(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    options = {
        **Stream(kafka, "stream_secret", tmp_path).options, "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN", "kafka.sasl.username": "me", "kafka.sasl.password": "secret-word",
    }  # fmt: skip
    writer = TicdcStreamWriter(options, ROWS, overwrite=False)
    schema = pa.schema([("op", pa.string()), ("id", pa.int64()), ("name", pa.string())])
    message = writer.write(iter([pa.RecordBatch.from_pylist([{"op": "insert", "id": 1}], schema)]))
    assert "secret-word" not in repr((writer, vars(writer), message, vars(message)))
