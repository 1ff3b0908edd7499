"""Settings of local Spark sessions: common ones, and those for few or many rows."""

from __future__ import annotations

import socket
import sys

from ticdc_producer.spark.background_jobs import LOCAL_SMALL_DATA

JVM_OPTIONS = "spark.driver.extraJavaOptions"
_PARTITIONS = "spark.sql.shuffle.partitions"

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.io.compression.codec": "zstd",  # shuffled and spilled data takes a third less disk than with lz4
    # The JVM does not compile larger methods: the generated code of the stage would be interpreted row by
    # row.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "ERROR",
    # If enabled, each DataFrame function first sends its call site to the JVM: half of all calls.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Over loopback TCP a worker and the JVM can deadlock once both have filled the other's receive buffer.
    "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
    # Spark sets it for DataFrames only, and workers with other variables are other workers: an RDD and a
    # DataFrame would each start their own.
    "spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK": "1",
    "spark.python.daemon.module": "ticdc_producer.spark.worker_daemon",
}
# By default the JVM prints its own warnings to stdout, into a command's output.
_TO_STDERR = "-Xlog:disable -Xlog:all=warning:stderr -XX:+DisplayVMOutputToStderr"
# For a few thousand rows, compiling plans and hot loops costs more than it saves (measured on seed_t1,
# cold, whole run: 0.42 of the CPU time; docs/decisions/0003).
_LIGHT = {
    JVM_OPTIONS: f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_TO_STDERR}",
    "spark.driver.memory": "2g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    LOCAL_SMALL_DATA: "true",
}

# A run into Kafka writes 7 % more rows per second with the parallel collector than with G1, whose threads
# need a core of their own. Large pages for sorts and a heap of fixed size, which needs no collection to grow,
# add a little more. Spark's memory for sorts must fit into the heap beside the young generation.
_DRIVER_MEMORY = "4g"
_LARGE_PAGES = " -XX:+UseTransparentHugePages" if sys.platform == "linux" else ""
_HEAVY = {
    "spark.driver.memory": _DRIVER_MEMORY,
    JVM_OPTIONS: (
        f"-XX:+UseParallelGC -Xms{_DRIVER_MEMORY} -Xmn1536m -XX:MetaspaceSize=256m{_LARGE_PAGES} {_TO_STDERR}"
    ),
    "spark.memory.fraction": "0.5",
    # Skip checksums for non-deterministic stages; ours are deterministic.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}

_ONE_TASK_ROWS = 1_000
"""Up to this number of rows, starting a second task takes longer than processing all rows in the first."""

_MIN_PARTITIONS, _ROWS_PER_PARTITION = 8, 1_000_000
"""A task sorts a million rows of a few hundred bytes in memory."""


def light(rows: int) -> dict[str, str]:
    """Settings for a few thousand rows: fast start, low throughput.

    :param rows: number of rows that will be shuffled, 0 if unknown.
    """
    partitions = 1 if 0 < rows <= _ONE_TASK_ROWS else 2
    return {**_LOCAL, **_LIGHT, _PARTITIONS: str(partitions)}


def heavy(rows: int) -> dict[str, str]:
    """Settings for any number of rows; more rows lead to more tasks, not to larger ones.

    :param rows: number of rows that will be shuffled, 0 if unknown.
    """
    partitions = max(_MIN_PARTITIONS, -(-rows // _ROWS_PER_PARTITION))
    return {**_LOCAL, **_HEAVY, _PARTITIONS: str(partitions)}
