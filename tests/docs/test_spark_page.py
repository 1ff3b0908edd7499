"""The Python of docs/spark.md runs as it is there, on a topic with the scenario ``bank``."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import ticdc_producer
from tests.docs.page_commands import blocks
from ticdc_producer.kafka.embedded import EmbeddedKafka

BROKER, TOPIC = "localhost:9092", "orders"


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_blocks_run(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, whole: bool) -> None:
    """All; in the fast tier the first one, which reads a topic, and those that define functions.

    Spark's paths are relative to the folder in which it was started.
    """
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    uri = f"kafka://{kafka.bootstrap}/{TOPIC}?protocol=simple&partition-num=2"
    size = [] if whole else ["steps[1].generate.transactions=20"]
    ticdc_producer.run("bank", sink_uri=uri, replace=True, overrides=size)  # other tests share the broker
    items = spark.sql("SELECT 1L AS id, CAST(1.5 AS DECIMAL(8, 2)) AS price, 'insert' AS op")
    names: dict[str, object] = {"items": items}
    page = blocks("spark.md", "python")
    assert len(page) == 9
    if not whole:
        page = [page[0], *(block for block in page if "def " in block and "scenario=" not in block)]
        assert len(page) == 4
    for block in page:
        exec(block.replace(BROKER, kafka.bootstrap).replace('"accounts/', f'"{tmp_path}/'), names)
    if whole:
        accounts = names["accounts"]
        assert isinstance(accounts, DataFrame)
        assert accounts.count() == 100
        written = spark.read.parquet(str(tmp_path / "changes"))
        assert written.count() == names["changes"].count()  # type: ignore[attr-defined]
