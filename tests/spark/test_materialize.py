"""Materialized rows are computed once."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.spark.storage import materialized


def _random(spark: SparkSession) -> DataFrame:
    """Rows that differ each time they are computed."""
    return spark.range(0, 100, 1, 2).select("id", F.expr("uuid()").alias("drawn"))


def _rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.parametrize("in_order", [False, True])
def test_rows_are_computed_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_order: bool
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    with materialized(_random(spark), in_order=in_order) as rows:
        assert _rows(rows) == _rows(rows)
        assert bool(list(tmp_path.iterdir())) is not in_order
    assert not list(tmp_path.iterdir())


def test_rows_in_order_stay_in_their_partitions(spark: SparkSession) -> None:
    backwards = spark.range(0, 100, 1, 4).sortWithinPartitions(F.desc("id"))

    def partitions(frame: DataFrame) -> list[list[int]]:
        return [[row["id"] for row in part] for part in frame.rdd.glom().collect()]

    with materialized(backwards, in_order=True) as rows:
        assert partitions(rows) == partitions(backwards)
