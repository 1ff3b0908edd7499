"""The same bytes on any number of cores and partitions."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.golden_events import GOLDEN
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulate

KEYS = GOLDEN / "visible" / "keys.sql"
SINK_URI = "kafka:///keys?protocol=open-protocol&partition-num=3"
CONFIG = '[sink]\ndispatchers = [{matcher = ["*.*"], partition = "index-value"}]\n'


def digest(
    spark: SparkSession, config: Path, scenario: Path | str = KEYS, overrides: Sequence[str] = ()
) -> str:
    """SHA-256 over all messages in (topic, partition, offset) order."""
    job = prepare(scenario, sink_uri=SINK_URI, config=config, overrides=overrides)
    total = hashlib.sha256()
    with simulate(job, SparkEngine(spark)) as simulation:
        batches = simulation.encoded.messages.batches()
        rows = [row for batch in batches for row in batch.to_pylist()]
    for row in sorted(rows, key=lambda row: (row["topic"], row["partition"], row["offset"])):
        total.update(json.dumps([row["partition"], row["offset"], row["type"]]).encode())
        total.update(row["key"] + row["value"])
    return total.hexdigest()


GENERATED = {
    "sysbench": ["steps[1].generate.transactions=50", "steps[1].generate.rows=50"],
    "orders": ["steps[1].generate.transactions=20"],
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "changefeed.toml"
    path.write_text(CONFIG)
    return path


@pytest.mark.parametrize("most", ["8", pytest.param("64", marks=pytest.mark.slow)])
def test_shuffle_and_arrow_batch_size_do_not_matter(spark: SparkSession, config: Path, most: str) -> None:
    settings = {
        "spark.sql.shuffle.partitions": ("3", most),
        "spark.sql.execution.arrow.maxRecordsPerBatch": ("5", "7"),
    }
    before = {key: spark.conf.get(key) for key in settings}
    try:
        digests = set()
        for shuffle, batch in zip(*settings.values(), strict=True):
            spark.conf.set("spark.sql.shuffle.partitions", shuffle)
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", batch)
            digests.add(digest(spark, config))
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)
    assert digests == {digest(spark, config)}


@pytest.mark.slow
def test_generated_messages_are_the_same_on_any_number_of_cores(spark: SparkSession, config: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ticdc_producer.spark.session import spark_session;"
        "from tests.runs.test_determinism import GENERATED, digest;"
        "spark = spark_session('local[1]');"
        "print(*[digest(spark, Path(sys.argv[1]), name, overrides) for name, overrides in GENERATED.items()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(config)], capture_output=True, text=True, check=True
    )
    here = [digest(spark, config, name, overrides) for name, overrides in GENERATED.items()]
    assert done.stdout.split() == here


@pytest.mark.slow
@pytest.mark.parametrize("partitions", ["3", "64"])
def test_generated_messages_are_the_same_in_any_number_of_partitions(
    spark: SparkSession, config: Path, partitions: str
) -> None:
    name, overrides = "orders", GENERATED["orders"]
    usual = digest(spark, config, name, overrides)
    before = str(spark.conf.get("spark.sql.shuffle.partitions"))
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    try:
        assert digest(spark, config, name, overrides) == usual
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
