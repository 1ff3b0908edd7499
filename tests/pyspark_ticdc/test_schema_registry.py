"""Topics in Avro: the driver and the tasks get the schemas from a registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import ticdc_producer
from tests.schema_registry import schema_registry
from ticdc_producer.kafka.embedded import EmbeddedKafka

SQL = """
CREATE TABLE test.items (id INT PRIMARY KEY, price DECIMAL(8,2), v VARCHAR(9));
INSERT INTO test.items VALUES (1, 1.50, 'a'), (2, NULL, NULL), (3, 3, 'c');
UPDATE test.items SET price = 2.25 WHERE id = 1;
ALTER TABLE test.items ADD COLUMN n INT;
INSERT INTO test.items VALUES (4, 4, 'd', 7);
UPDATE test.items SET n = 5 WHERE id = 3;
CREATE TABLE test.plain (id INT PRIMARY KEY, price DECIMAL(8,2));
INSERT INTO test.plain VALUES (1, 1.50), (2, NULL), (3, 0.01);
UPDATE test.plain SET price = price + 1;
DELETE FROM test.plain WHERE id = 3;
"""
PROTOCOLS = ["avro", pytest.param("debezium-avro", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    with schema_registry() as url:
        yield url


def _rows(spark: SparkSession, rows: str, table: str, **options: str) -> DataFrame:
    return spark.read.format("ticdc").options(rows=rows, table=table, **options).load()


def _sorted(frame: DataFrame) -> list[Row]:
    return sorted(frame.collect(), key=str)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_topic_is_read_as_a_folder_is(
    protocol: str, spark: SparkSession, kafka: EmbeddedKafka, registry: str, tmp_path: Path
) -> None:
    """A folder has its schemas itself."""
    (tmp_path / "items.sql").write_text(SQL)
    topic, out = f"registered_{protocol}", tmp_path / "out"
    query = f"protocol={protocol}&partition-num=2&enable-tidb-extension=true&avro-enable-watermark=true"
    uri = f"kafka://{kafka.bootstrap}/{topic}?{query}&schema-registry={registry}"
    assert ticdc_producer.run(tmp_path / "items.sql", sink_uri=uri, out=out).ok
    options = {
        "kafka.bootstrap.servers": kafka.bootstrap, "subscribe": topic, "protocol": protocol,
        "enable-tidb-extension": "true", "schema-registry": registry,
    }  # fmt: skip
    changes = 6 if protocol == "avro" else 8  # Avro's updates have no old row
    for rows, table, count in (("changes", "test.items", changes), ("state", "test.plain", 2)):
        of_topic = _rows(spark, rows, table, **options)
        # Without the definition of the table, a DECIMAL is a text.
        same_types = [f"cast({name} AS {kind}) AS {name}" for name, kind in of_topic.dtypes]
        of_folder = _rows(spark, rows, table, path=str(out)).selectExpr(*same_types)
        assert _sorted(of_topic) == _sorted(of_folder)
        assert of_topic.count() == count
