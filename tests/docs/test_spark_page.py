"""The Python of docs/spark.md runs as it is there, on a topic with the scenario ``bank``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession

import ticdc_producer
from tests.docs.page_commands import blocks
from tests.peers.table_formats import RECIPE
from ticdc_producer.kafka.embedded import EmbeddedKafka

BROKER, TOPIC = "localhost:9092", "orders"


@dataclass(frozen=True)
class Block:
    """A block of the page.

    :param words: a part of its text.
    :param fast: whether the fast tier runs it, too; the slow one runs each block.
    :param called: whether ``tests/peers/test_table_formats.py``, which is slow, calls what it defines, in
        a Spark with Delta, with Iceberg or with pipelines.
    :param since: the first release of Spark that has what it uses.
    """

    words: str
    fast: bool = True
    called: bool = False
    since: tuple[int, int] = (4, 1)


BLOCKS = [
    Block('.option("rows", "changes")'),
    Block("row_number() OVER"),
    Block("availableNow=True", fast=False, since=(4, 2)),
    Block("def merge_into", called=True),
    Block("def exchange_partition", called=True),
    Block("def auto_cdc", called=True, since=(4, 2)),
    Block("rowsPerSecond"),
    Block("TwsTester(NewChanges())", since=(4, 2)),
    Block('items.write.format("ticdc")'),
]


def test_each_block_is_listed() -> None:
    page = blocks("spark.md", "python")
    assert len(page) == len(BLOCKS)
    for block, text in zip(BLOCKS, page, strict=True):
        assert block.words in text
    called = [text for block, text in zip(BLOCKS, page, strict=True) if block.called]
    assert "\n".join(called) == RECIPE


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_blocks_run(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path, whole: bool) -> None:
    """The fast tier leaves out the stream, and changes less rows.

    Spark's paths are relative to the folder in which it was started.
    """
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    uri = f"kafka://{kafka.bootstrap}/{TOPIC}?protocol=simple&partition-num=2"
    size = [] if whole else ["steps[1].generate.transactions=20"]
    ticdc_producer.run("bank", sink_uri=uri, replace=True, overrides=size)  # other tests share the broker
    items = spark.sql("SELECT 1L AS id, CAST(1.5 AS DECIMAL(8, 2)) AS price, 'insert' AS op")
    names: dict[str, object] = {"items": items}
    release = tuple(map(int, re.findall(r"\d+", pyspark.__version__)[:2]))
    missing = [block for block in BLOCKS if block.since > release]
    for block, text in zip(BLOCKS, blocks("spark.md", "python"), strict=True):
        if block not in missing and (block.fast or whole):
            exec(_here(text, kafka, tmp_path, whole), names)
    if missing:
        pytest.skip(f"not run: PySpark {pyspark.__version__} lacks {', '.join(b.words for b in missing)}")
    accounts, changes = names["accounts"], names["changes"]
    assert isinstance(accounts, DataFrame)
    assert isinstance(changes, DataFrame)
    assert accounts.count() == 100
    if whole:
        assert spark.read.parquet(str(tmp_path / "changes")).count() == changes.count()


def _here(text: str, kafka: EmbeddedKafka, folder: Path, whole: bool) -> str:
    """Return a block for this broker and a new folder; each run writes a topic of its own."""
    topic = f'"topic", "items_{whole}"'
    replaced = text.replace(BROKER, kafka.bootstrap).replace('"accounts/', f'"{folder}/')
    return replaced.replace('"topic", "items"', topic)
