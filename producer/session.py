"""The Spark session: the active one if there is one, else a local one that needs nothing prepared."""

from __future__ import annotations

import atexit
import os
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from producer.broker.java import spark_java_home
from producer.errors import JavaError
from producer.kept import SMALL
from producer.quiet_jvm import stderr_to_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.io.compression.codec": "zstd",  # of what is shuffled and spilled: a third less disk than lz4
    # Above it a stage is one method that the JVM's compiler refuses, and interpreted row by row.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
    # Else each function of a DataFrame tells the JVM first where it was called: half of all calls.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Over loopback TCP a worker and the JVM can wait for each other for ever, once both have filled what the
    # kernel lets the other receive.
    "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
}
# What the JVM says of itself would come to stdout, among what a command prints.
_TO_STDERR = "-Xlog:disable -Xlog:all=warning:stderr -XX:+DisplayVMOutputToStderr"
# For a few thousand rows, compiling plans and hot loops costs more than it saves (measured on seed_t1,
# cold, whole run: 0.42 of the CPU time; docs/decisions/0003).
_LIGHT = {
    "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_TO_STDERR}",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    SMALL: "true",
}

# A run into Kafka makes 7 % more rows a second with this collector than with G1, whose threads need a core of
# their own, and some more where sorts have large pages and no collection stops all only to grow the heap.
# What Spark keeps for its sorts must fit into what the young rows leave of it.
_DRIVER_MEMORY = "4g"
_LARGE_PAGES = " -XX:+UseTransparentHugePages" if sys.platform == "linux" else ""
_HEAVY = {
    "spark.driver.memory": _DRIVER_MEMORY,
    "spark.driver.extraJavaOptions": (
        f"-XX:+UseParallelGC -Xms{_DRIVER_MEMORY} -Xmn1536m -XX:MetaspaceSize=256m{_LARGE_PAGES} {_TO_STDERR}"
    ),
    "spark.memory.fraction": "0.5",
    # Of each row, to find stages that give other rows when they are run again: ours give the same.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by ``spark-submit`` for its Python program: the JVM is there, and its settings are the user's."""


_FEWEST_PARTITIONS, _ROWS_PER_PARTITION = 8, 1_000_000
"""A task sorts so many rows of a few hundred bytes at a time, whatever the number of rows."""


def spark_session(master: str = "local[*]", *, light: bool = False, rows: int = 0) -> SparkSession:
    """The session to work in.

    An active session is used as it is, never replaced or stopped. Under ``spark-submit`` it is the one that
    was submitted. Otherwise a local one is started, on the machine's Java if Spark can run on it, else on the
    one that comes with this package.

    :param light: a new session is tuned for a few thousand rows: quick to start, not to last.
    :param rows: how many will be shuffled; more of them make more tasks, not larger ones.
    :raises JavaError: if there is no Java, or Spark does not start on it.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if _SUBMITTED in os.environ:
        return SparkSession.builder.getOrCreate()
    os.environ["JAVA_HOME"] = str(spark_java_home())
    # Else workers start the first python3 of the PATH, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("ticdc-producer")
    partitions = max(_FEWEST_PARTITIONS, -(-rows // _ROWS_PER_PARTITION))
    heavy = {**_HEAVY, "spark.sql.shuffle.partitions": str(partitions)}
    for key, value in {**_LOCAL, **(_LIGHT if light else heavy)}.items():
        builder = builder.config(key, value)
    with stderr_to_log() as log:
        atexit.register(_forget, str(log))
        try:
            return builder.getOrCreate()
        except (PySparkException, OSError) as error:
            atexit.unregister(_forget)
            raise JavaError("Spark does not start", hint=f"its log: {log}") from error


def _forget(log: str) -> None:
    with suppress(OSError):
        os.unlink(log)  # noqa: PTH108 - pathlib may be gone when the interpreter ends
