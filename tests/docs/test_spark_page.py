"""The Python of docs/spark.md runs as it is there, on a topic with the scenario ``bank``."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.docs.page_commands import blocks
from ticdc_producer.kafka.embedded import EmbeddedKafka

BROKER, TOPIC = "localhost:9092", "orders"


@pytest.mark.parametrize("streams", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_blocks_run(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, streams: bool) -> None:
    """All but the one that needs Delta, and in the fast tier all but the one that starts a stream.

    Spark's paths are relative to the folder in which it was started.
    """
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    uri = f"kafka://{kafka.bootstrap}/{TOPIC}?protocol=simple&partition-num=2"
    ticdc_producer.run("bank", sink_uri=uri, replace=True)  # other tests share the broker
    items = spark.sql("SELECT 1L AS id, CAST(1.5 AS DECIMAL(8, 2)) AS price, 'insert' AS op")
    names: dict[str, object] = {"items": items}
    page = [block for block in blocks("spark.md", "python") if "delta" not in block]
    assert len(page) == 6
    if not streams:
        page = [block for block in page if "writeStream" not in block]
    for block in page:
        exec(block.replace(BROKER, kafka.bootstrap).replace('"accounts/', f'"{tmp_path}/'), names)
    assert names["accounts"].count() == 100  # type: ignore[attr-defined]
    if streams:
        written = spark.read.parquet(str(tmp_path / "changes"))
        assert written.count() == names["changes"].count()  # type: ignore[attr-defined]
