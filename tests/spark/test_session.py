"""The Spark session that is started if none is active."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.java import spark_java_home
from ticdc_producer.spark.session import JVM_OPTIONS, local_settings


def _transport(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        enabled = os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", "false")
        yield pa.RecordBatch.from_pydict({"unix_domain": [enabled]})


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="not run: no Unix domain sockets here")
def test_workers_use_unix_domain_sockets(spark: SparkSession) -> None:
    """Over loopback TCP worker and JVM may deadlock."""
    rows = spark.range(1, numPartitions=1).mapInArrow(_transport, "unix_domain string").collect()
    assert [row["unix_domain"].lower() for row in rows] == ["true"]


def test_the_jvm_prints_nothing_to_stdout() -> None:
    java = spark_java_home() / "bin" / "java"
    options = local_settings(0)[JVM_OPTIONS].split()
    # The JVM warns about large pages, which almost no machine has.
    output = subprocess.run(
        [java, "-XX:+UseLargePages", *options, "-version"], capture_output=True, text=True, check=True
    )
    assert output.stdout == ""
