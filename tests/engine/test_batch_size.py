"""Spark's limit of a batch's bytes, away only where rows are small, and back afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.scenario.generate.plans import planned
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.simulate.encode import most_event_bytes
from ticdc_producer.spark.storage import small_batches_unlimited

BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"


def _inside(spark: SparkSession, folder: Path, *kinds: str) -> str | None:
    tables = tuple(
        planned(folder, f"CREATE TABLE t (id INT PRIMARY KEY, c {kind})", transactions=1).table
        for kind in kinds
    )
    with small_batches_unlimited(spark, most_event_bytes(Catalog(tables))):
        return spark.conf.get(BYTES)


def test_small_rows_are_limited_by_their_number(spark: SparkSession, tmp_path: Path) -> None:
    before = spark.conf.get(BYTES)
    assert int(_inside(spark, tmp_path, "CHAR(120)", "INT") or 0) == 2**31 - 1
    assert spark.conf.get(BYTES) == before


@pytest.mark.parametrize("kind", ["TEXT", "VARCHAR(4000)"])
def test_large_ones_by_their_bytes(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    assert _inside(spark, tmp_path, "INT", kind) == spark.conf.get(BYTES)


def test_a_failure_leaves_the_limit_as_it_was(spark: SparkSession) -> None:
    before = spark.conf.get(BYTES)
    with pytest.raises(ValueError, match="no"), small_batches_unlimited(spark, 10):
        raise ValueError("no")
    assert spark.conf.get(BYTES) == before
