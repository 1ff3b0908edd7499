"""Settings of local Spark sessions."""

from __future__ import annotations

import socket
import sys

from ticdc_producer.spark.worker_daemon import MODULES_VARIABLE

JVM_OPTIONS = "spark.driver.extraJavaOptions"
_PARTITIONS = "spark.sql.shuffle.partitions"

_PRELOADED = (
    "ticdc_producer.engine.spark",
    "ticdc_producer.simulate.simulate",
    "ticdc_producer.verifier.check",
)
"""Modules that Spark's process of Python workers imports before it forks them."""

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
    f"spark.executorEnv.{MODULES_VARIABLE}": " ".join(_PRELOADED),
}
# By default the JVM prints its own warnings to stdout, into a command's output.
_TO_STDERR = "-Xlog:disable -Xlog:all=warning:stderr -XX:+DisplayVMOutputToStderr"
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

_MIN_PARTITIONS, _ROWS_PER_PARTITION = 8, 1_000_000
"""A task sorts a million rows of a few hundred bytes in memory."""


def local(rows: int) -> dict[str, str]:
    """Return the settings of a local session; more rows lead to more tasks, not to larger ones.

    :param rows: number of rows that will be shuffled, 0 if unknown.
    """
    partitions = max(_MIN_PARTITIONS, -(-rows // _ROWS_PER_PARTITION))
    return {**_LOCAL, **_HEAVY, _PARTITIONS: str(partitions)}
