"""Errors of workers are reported like errors of the driver: one message, and the exit code of their class."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.cli.app import worker_failure
from ticdc_producer.errors import ENVIRONMENT, BrokerError

ACTIONS: dict[str, Callable[[DataFrame], object]] = {
    "collected": DataFrame.collect,
    "written": lambda frame: frame.write.format("noop").mode("overwrite").save(),
}


@pytest.mark.parametrize("action", ["collected", pytest.param("written", marks=pytest.mark.slow)])
def test_an_error_of_ours_in_a_worker_keeps_its_sentence_and_exit_code(
    spark: SparkSession, action: str
) -> None:
    def silent(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise BrokerError("no answer within 30 s", address="kafka:9092", hint="is it there?")

    frame = spark.range(1).mapInArrow(silent, "id long")
    with pytest.raises(Exception, match="no answer") as raised:
        ACTIONS[action](frame)
    failure = worker_failure(raised.value)
    assert failure is not None
    assert (str(failure), failure.exit_code) == (
        "kafka:9092: no answer within 30 s (is it there?)",
        ENVIRONMENT,
    )


def test_other_failures_are_not_taken_for_ours() -> None:
    assert worker_failure(ValueError("Traceback: ValueError: ticdc_producer.errors.BrokerError: no")) is None
