"""The Spark session: the active one if there is one, else a local one that needs nothing prepared."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from producer.broker.java import spark_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.driver.memory": "2g",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.warehouse.dir": "/nonexistent",  # no table is ever saved
    # Recovery of lost tasks; a task that is run again continues where the partition ends.
    "spark.task.maxFailures": "1",
}


def spark_session(master: str = "local[*]") -> SparkSession:
    """The session to work in.

    An active session is used as it is, never replaced or stopped. Otherwise a local one is started, on
    the machine's Java if Spark can run on it, else on the one that comes with this package.

    :raises JavaError: if there is no usable Java.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ["JAVA_HOME"] = str(spark_java_home())
    # Else workers start the first python3 of the PATH, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("ticdc-producer")
    for key, value in _LOCAL.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
