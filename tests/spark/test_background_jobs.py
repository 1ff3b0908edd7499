"""Work beside other work of a session."""

from __future__ import annotations

from threading import get_ident

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.spark.background_jobs import aside
from ticdc_producer.spark.materialize import SMALL


@pytest.fixture
def of_small_data(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set(SMALL, "true")
    return session


@pytest.fixture
def of_much_data(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set(SMALL, "false")
    return session


def test_small_work_is_done_beside(of_small_data: SparkSession) -> None:
    with aside(of_small_data) as begin:
        thread, rows = begin(get_ident), begin(of_small_data.range(7).count)
    assert thread() != get_ident()
    assert rows() == 7


def test_large_work_is_done_when_it_is_asked_for(of_much_data: SparkSession) -> None:
    done: list[int] = []
    with aside(of_much_data) as begin:
        work = begin(lambda: done.append(get_ident()))
        assert done == []
        work()
    assert done == [get_ident()]


def test_what_fails_beside_fails_where_it_is_asked_for(of_small_data: SparkSession) -> None:
    def fails() -> int:
        raise ValueError("beside")

    with aside(of_small_data) as begin:
        result = begin(fails)
        with pytest.raises(ValueError, match="beside"):
            result()
