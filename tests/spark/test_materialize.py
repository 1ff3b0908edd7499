"""What several jobs read is computed once, whatever the session is like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.spark.materialize import SMALL, kept


@contextmanager
def _large(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(SMALL)
    spark.conf.set(SMALL, "false")
    try:
        yield
    finally:
        spark.conf.set(SMALL, before)


def _random(spark: SparkSession) -> DataFrame:
    """Rows that are others each time they are computed."""
    return spark.range(0, 100, 1, 2).select("id", F.expr("uuid()").alias("drawn"))


def _rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.parametrize("in_order", [False, True])
def test_rows_of_a_large_session_are_made_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_order: bool
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    with _large(spark), kept(_random(spark), in_order=in_order) as there:
        assert _rows(there) == _rows(there)
        assert bool(list(tmp_path.iterdir())) is not in_order
    assert not list(tmp_path.iterdir())


def test_rows_in_order_stay_in_their_partitions(spark: SparkSession) -> None:
    backwards = spark.range(0, 100, 1, 4).sortWithinPartitions(F.desc("id"))

    def partitions(frame: DataFrame) -> list[list[int]]:
        return [[row["id"] for row in part] for part in frame.rdd.glom().collect()]

    with _large(spark), kept(backwards, in_order=True) as there:
        assert partitions(there) == partitions(backwards)


def test_a_small_session_forgets_how_rows_were_made(spark: SparkSession) -> None:
    with kept(_random(spark)) as there:
        assert _rows(there) == _rows(there)
        assert "uuid" not in there._jdf.queryExecution().optimizedPlan().toString()
