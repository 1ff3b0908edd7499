"""Spark's error messages, shortened to one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence


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
