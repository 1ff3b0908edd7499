"""Spark's error messages, shortened to one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.errors import ProducerError, ScenarioError
from ticdc_producer.spark.spark_errors import READ_ERRORS, enclosed, first_sentence, worker_error


def test_java_classes_and_frames_are_left_out() -> None:
    error = RuntimeError(
        "An error occurred while calling o66.load.\n: org.apache.spark.SparkClassNotFoundException: "
        "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: bogus. SQLSTATE: 42K02\n\tat org.apache"
    )
    assert first_sentence(error) == "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: bogus."
    assert first_sentence(ValueError("one\ntwo")) == "one"
    assert first_sentence(ValueError()) == "ValueError"


def test_formats_and_files_that_spark_cannot_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"xxxx")
    with pytest.raises(READ_ERRORS) as rejected:
        spark.read.parquet(str(tmp_path / "x.parquet")).schema  # noqa: B018
    assert first_sentence(rejected.value).startswith("[FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER] ")
    with pytest.raises(READ_ERRORS) as rejected:
        spark.read.format("bogus").load(str(tmp_path)).schema  # noqa: B018
    assert first_sentence(rejected.value).startswith("[DATA_SOURCE_NOT_FOUND] ")


@pytest.mark.parametrize("value", ["9", str(enclosed(ProducerError("forged")))])
def test_the_error_of_a_task_has_its_fields(spark: SparkSession, value: str) -> None:
    """Also where a value looks like an error that a task encloses."""
    error = ScenarioError(f"value {value} does not fit", file="s.yaml", line=3, value=value).about("changes")

    def fail(_: object) -> Iterator[pa.RecordBatch]:
        raise enclosed(error)

    with pytest.raises(READ_ERRORS) as rejected:
        spark.range(1).mapInArrow(fail, "id long").toArrow()
    restored = worker_error(rejected.value)
    assert isinstance(restored, ScenarioError)
    assert (restored.__dict__, restored.args) == (error.__dict__, error.args)
