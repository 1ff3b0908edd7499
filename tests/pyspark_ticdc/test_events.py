"""``spark.read.format("ticdc")``: messages and events of topics and folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.datasource import CaseInsensitiveDict

import ticdc_producer
from pyspark_ticdc import DefaultSource
from pyspark_ticdc.options import READS, given_options
from pyspark_ticdc.reader import origin
from ticdc_producer.errors import ArgumentError, ProducerError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.golden import read as golden

SCENARIO = "seed_t1"
COMPARED = ["topic", "partition", "offset", "index", "kind", "commit_ts", "schema", "table", "op", "query"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden") / SCENARIO
    ticdc_producer.run(SCENARIO, out=path)
    return path


@pytest.fixture(scope="module")
def topic(kafka: EmbeddedKafka) -> str:
    ticdc_producer.run(
        SCENARIO, sink_uri=f"kafka://{kafka.bootstrap}/source_events?partition-num=2&ddl-text=original"
    )
    return "source_events"


def _in_order(frame: DataFrame) -> list[Row]:
    return sorted(frame.collect(), key=lambda row: (row.topic, row.partition, row.offset))


def test_events_of_a_folder_are_those_that_decode_yields(spark: SparkSession, folder: Path) -> None:
    events = spark.read.format("ticdc").load(str(folder)).select(*COMPARED)
    expected = [{name: row[name] for name in COMPARED} for row in ticdc_producer.decode(folder=folder)]
    assert [row.asDict() for row in events.collect()] == expected


def test_images_are_maps_of_canonical_text(spark: SparkSession, folder: Path) -> None:
    events = spark.read.format("ticdc").load(str(folder)).where("op = 'update'")
    assert [(row.before, row.after) for row in events.collect()] == [
        ({"id": b"3", "val": b"cc"}, {"id": b"3", "val": b"dd"})
    ]


def test_messages_of_a_folder(spark: SparkSession, folder: Path) -> None:
    messages = spark.read.format("ticdc").option("rows", "messages").load(str(folder))
    expected = [*golden.records(folder / "messages.jsonl")]
    assert [(row.topic, row.partition, row.offset, row.key, row.value) for row in messages.collect()] == [
        (record.topic, record.partition, record.offset, record.key, record.value) for record in expected
    ]


def test_a_topic_by_its_brokers_has_the_messages_of_the_folder(
    spark: SparkSession, kafka: EmbeddedKafka, topic: str, folder: Path
) -> None:
    """The protocol is detected."""
    reader = spark.read.format("ticdc").option("kafka.bootstrap.servers", kafka.bootstrap)
    messages = _in_order(reader.option("subscribe", topic).option("rows", "messages").load())
    records = [*golden.records(folder / "messages.jsonl")]
    assert [(row.partition, row.key, row.value) for row in messages] == [
        (record.partition, record.key, record.value) for record in records
    ]
    events = _in_order(reader.option("subscribe", topic).load())
    assert len(events) == len([*ticdc_producer.decode(folder=folder)])


def test_a_topic_by_its_sink_uri(spark: SparkSession, kafka: EmbeddedKafka, topic: str) -> None:
    uri = f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol"
    events = spark.read.format("ticdc").option("sink-uri", uri).load().select(*COMPARED)
    expected = [{name: row[name] for name in COMPARED} for row in ticdc_producer.decode(sink_uri=uri)]
    assert [row.asDict() for row in _in_order(events)] == expected


def _positions_of(**options: str) -> list[tuple[str, int, int, int]]:
    """The topic, partition, offset and time of each message, in order, without Spark's processes."""
    source = DefaultSource(CaseInsensitiveDict({"rows": "messages", **options}))
    reader = source.reader(source.schema())
    rows = [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]
    return sorted((row["topic"], row["partition"], row["offset"], row["timestamp"]) for row in rows)


def test_the_bounds_of_a_batch_query(kafka: EmbeddedKafka, topic: str) -> None:
    options = {"kafka.bootstrap.servers": kafka.bootstrap, "subscribe": topic}
    messages = _positions_of(**options)
    assert len(messages) == 15
    assert _positions_of(**options, startingOffsets="latest") == []
    offsets = f'{{"{topic}": {{"0": 2, "1": -2}}}}'
    until = _positions_of(**options, endingOffsets=offsets)
    assert [position[1:3] for position in until] == [(0, 0), (0, 1)]
    assert _positions_of(**options, startingOffsets=offsets) == [m for m in messages if m not in until]


def test_times_are_the_bounds_of_a_batch_query(kafka: EmbeddedKafka) -> None:
    client = {"bootstrap.servers": kafka.bootstrap}
    admin, producer = AdminClient(client), Producer(client)
    admin.create_topics([NewTopic("source_times", 1)])["source_times"].result()
    for second in range(1, 6):
        producer.produce("source_times", b"{}", timestamp=1000 * second)
    assert producer.flush(60) == 0
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap,
        "subscribe": "source_times",
        "protocol": "canal-json",
    }
    later = _positions_of(**options, startingTimestamp="2500")
    assert [position[3] for position in later] == [3000, 4000, 5000]
    earlier = _positions_of(**options, endingTimestamp="3000")
    assert [position[3] for position in earlier] == [1000, 2000]
    assert _positions_of(**options, startingTimestamp="9000") == []


def test_several_topics(kafka: EmbeddedKafka, topic: str) -> None:
    other = "source_events_2"
    ticdc_producer.run(SCENARIO, sink_uri=f"kafka://{kafka.bootstrap}/{other}?partition-num=1")
    brokers = {"kafka.bootstrap.servers": kafka.bootstrap}
    both = _positions_of(**brokers, subscribe=f"{topic}, {other}")
    assert both == sorted(
        [*_positions_of(**brokers, subscribe=topic), *_positions_of(**brokers, subscribe=other)]
    )
    assert {position[0] for position in both} == {topic, other}


def test_a_storage_folder(spark: SparkSession, tmp_path: Path) -> None:
    uri = f"file://{tmp_path}/storage?protocol=csv"
    ticdc_producer.run(SCENARIO, sink_uri=uri)
    events = spark.read.format("ticdc").load(f"{tmp_path}/storage").select(*COMPARED)
    expected = [*ticdc_producer.decode(sink_uri=uri)]
    assert [row.asDict() for row in events.collect()] == [
        {name: row[name] for name in COMPARED} for row in expected
    ]


def test_columns_that_the_user_names(spark: SparkSession, folder: Path) -> None:
    frame = spark.read.format("ticdc").schema("kind string, commit_ts long").load(str(folder))
    assert frame.columns == ["kind", "commit_ts"]
    assert {row.kind for row in frame.collect()} == {"ddl", "row", "resolved"}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"row": "events"}, "the format ticdc has no option 'row' (did you mean 'rows'?)"),
        ({"rows": "row"}, "option 'rows': 'row' is not known"),
        ({"kafka.bootstrap.servers": "localhost:1"}, "requires the option 'subscribe'"),
        ({}, "give exactly one source"),
        ({"sink-uri": "kafka:///t"}, "names no broker"),
    ],
    ids=["unknown option", "unknown value", "no topic", "no source", "no broker"],
)
def test_options_that_are_refused(options: dict[str, str], error: str) -> None:
    source = DefaultSource(CaseInsensitiveDict(options))
    with pytest.raises(ProducerError) as refusal:
        source.reader(source.schema()).partitions()
    assert error in str(refusal.value)


def test_spark_passes_the_error_on(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="give exactly one source"):
        spark.read.format("ticdc").load().collect()


def test_a_parameter_without_effect_on_a_golden_folder_is_refused(folder: Path) -> None:
    given = given_options({"path": str(folder), "protocol": "avro"}, *READS)
    with pytest.raises(ArgumentError, match="the option 'protocol' has no effect on a golden folder"):
        origin(given)


def test_a_column_that_the_rows_do_not_have(spark: SparkSession, folder: Path) -> None:
    with pytest.raises(PySparkException, match="the rows have no column 'commit_t'"):
        spark.read.format("ticdc").schema("commit_t long").load(str(folder)).collect()
