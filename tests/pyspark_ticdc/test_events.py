"""``spark.read.format("ticdc")``: messages and events of topics and folders."""

from __future__ import annotations

from pathlib import Path

import pytest
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
