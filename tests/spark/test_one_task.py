"""A plain function in one Spark task."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.errors import TopicError
from ticdc_producer.spark.task_results import run_in_one_task


def _ids(batches: Iterator[pa.RecordBatch]) -> tuple[int, int, list[int]]:
    ids = [number for batch in batches for number in batch.column("id").to_pylist()]
    return os.getppid(), os.getpid(), ids


def _rejects(_batches: Iterator[pa.RecordBatch]) -> None:
    raise TopicError("it is not empty", topic="orders", hint="use another")


def test_it_gets_the_rows_of_all_partitions(spark: SparkSession) -> None:
    *_, ids = run_in_one_task(spark, _ids, spark.range(0, 9, 1, 3))
    assert sorted(ids) == list(range(9))


def test_without_rows_it_runs_in_the_workers_of_other_jobs(spark: SparkSession) -> None:
    """Another group of workers would have to start first; and a worker is used again."""
    daemon, worker, ids = run_in_one_task(spark, _ids)
    assert ids == []
    assert (daemon, worker) != (os.getppid(), os.getpid())
    assert run_in_one_task(spark, _ids, spark.range(1))[0] == daemon
    assert run_in_one_task(spark, _ids)[0] == daemon


def test_what_spark_would_store_first_arrives_unchanged(spark: SparkSession) -> None:
    content = os.urandom(3 << 20)
    assert run_in_one_task(spark, lambda _batches: content[::-1]) == content[::-1]


@pytest.mark.parametrize("with_rows", [False, True])
def test_its_error_arrives_unchanged(spark: SparkSession, with_rows: bool) -> None:
    with pytest.raises(TopicError, match="it is not empty") as raised:
        run_in_one_task(spark, _rejects, spark.range(3) if with_rows else None)
    assert raised.value.hint == "use another"
    assert raised.value.where == TopicError("", topic="orders").where
