"""Spark jobs in background threads."""

from __future__ import annotations

from threading import get_ident

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.spark.background_jobs import LOCAL_SMALL_DATA, background_jobs


@pytest.fixture
def small_session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set(LOCAL_SMALL_DATA, "true")
    return session


@pytest.fixture
def large_session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set(LOCAL_SMALL_DATA, "false")
    return session


def test_small_jobs_run_in_other_threads(small_session: SparkSession) -> None:
    with background_jobs(small_session) as submit:
        thread, rows = submit(get_ident), submit(small_session.range(7).count)
    assert thread() != get_ident()
    assert rows() == 7


def test_large_jobs_run_when_their_result_is_requested(large_session: SparkSession) -> None:
    done: list[int] = []
    with background_jobs(large_session) as submit:
        work = submit(lambda: done.append(get_ident()))
        assert done == []
        work()
    assert done == [get_ident()]


def test_an_error_is_raised_where_the_result_is_requested(small_session: SparkSession) -> None:
    def fails() -> int:
        raise ValueError("broken")

    with background_jobs(small_session) as submit:
        result = submit(fails)
        with pytest.raises(ValueError, match="broken"):
            result()
