"""Rows that are too large for a message: their claim-check objects are read by the data source."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrameReader, SparkSession

import ticdc_producer
from tests.pyspark_ticdc.streams import MicroBatches
from ticdc_producer.kafka.embedded import EmbeddedKafka

SQL = """
CREATE TABLE test.notes (id INT PRIMARY KEY, text VARCHAR(3000));
INSERT INTO test.notes VALUES (1, 'short'), (2, REPEAT('x', 2000)), (3, REPEAT('y', 2000));
UPDATE test.notes SET text = REPEAT('z', 2500) WHERE id = 1;
DELETE FROM test.notes WHERE id = 3;
"""
CHANGES = [
    ("delete", 3, "y" * 2000),
    ("insert", 1, "short"),
    ("insert", 2, "x" * 2000),
    ("insert", 3, "y" * 2000),
    ("update_postimage", 1, "z" * 2500),
    ("update_preimage", 1, "short"),
]


@dataclass
class Topic:
    """A topic with large rows.

    :param claims: the storage of their objects.
    """

    uri: str
    claims: Path

    def options(self, **options: str) -> dict[str, str]:
        return {"sink-uri": self.uri, "rows": "changes", "table": "test.notes", **options}

    def reader(self, spark: SparkSession, **options: str) -> DataFrameReader:
        return spark.read.format("ticdc").options(**self.options(**options))


@pytest.fixture(scope="module")
def topic(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Topic:
    work = tmp_path_factory.mktemp("claims")
    (work / "notes.sql").write_text(SQL)
    (work / "feed.toml").write_text(
        "[sink.kafka-config.large-message-handle]\n"
        'large-message-handle-option = "claim-check"\n'
        f'claim-check-storage-uri = "file://{work}/objects"\n'
    )
    uri = f"kafka://{kafka.bootstrap}/source_claims?protocol=canal-json&enable-tidb-extension=true"
    ticdc_producer.run(
        work / "notes.sql", sink_uri=f"{uri}&max-message-bytes=1000", config=work / "feed.toml"
    )
    assert len([*(work / "objects").iterdir()]) == 4
    return Topic(uri, work / "objects")


def test_a_batch_query_reads_the_objects(spark: SparkSession, topic: Topic) -> None:
    location = {"claim-check-storage-uri": f"file://{topic.claims}"}
    rows = topic.reader(spark, **location).load().select("_change_type", "id", "text").collect()
    assert sorted(map(tuple, rows)) == CHANGES
    state = topic.reader(spark, **location, rows="state").load().collect()
    assert sorted(map(tuple, state)) == [(1, "z" * 2500), (2, "x" * 2000)]


def test_the_changefeed_file_names_the_storage(spark: SparkSession, topic: Topic) -> None:
    config = str(topic.claims.with_name("feed.toml"))
    rows = topic.reader(spark, config=config).load().select("_change_type", "id", "text").collect()
    assert sorted(map(tuple, rows)) == CHANGES


def test_a_stream_reads_the_objects(topic: Topic) -> None:
    location = {"claim-check-storage-uri": f"file://{topic.claims}", "duplicates": "drop"}
    batches = MicroBatches(**topic.options(**location)).read()
    rows = [(row["_change_type"], row["id"], row["text"]) for batch in batches for row in batch]
    assert sorted(rows) == CHANGES


def test_without_the_storage_a_large_row_is_an_error(spark: SparkSession, topic: Topic) -> None:
    with pytest.raises(PySparkException, match="the message has the handle key alone"):
        topic.reader(spark).load().collect()
    rows = topic.reader(spark, **{"on-error": "rows"}).load().collect()
    assert len([row for row in rows if row["_error"] and "the handle key alone" in row["_error"]]) == 4


def test_an_object_that_is_missing_is_an_error(spark: SparkSession, topic: Topic, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="CLAIM-MISSING"):
        topic.reader(spark, **{"claim-check-storage-uri": f"file://{tmp_path}"}).load().collect()
