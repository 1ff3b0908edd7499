"""What a local Spark session is set to: what all share, and what suits few or many rows."""

from __future__ import annotations

import socket
import sys

from ticdc_producer.spark.materialize import SMALL

JVM_OPTIONS = "spark.driver.extraJavaOptions"
_PARTITIONS = "spark.sql.shuffle.partitions"

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
    JVM_OPTIONS: f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_TO_STDERR}",
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
    JVM_OPTIONS: (
        f"-XX:+UseParallelGC -Xms{_DRIVER_MEMORY} -Xmn1536m -XX:MetaspaceSize=256m{_LARGE_PAGES} {_TO_STDERR}"
    ),
    "spark.memory.fraction": "0.5",
    # Of each row, to find stages that give other rows when they are run again: ours give the same.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}

_FEW_ROWS = 1_000
"""For so many, starting a second task takes longer than the first one takes for all of them."""

_FEWEST_PARTITIONS, _ROWS_PER_PARTITION = 8, 1_000_000
"""A task sorts so many rows of a few hundred bytes at a time, whatever the number of rows."""


def light(rows: int) -> dict[str, str]:
    """For a few thousand rows: quick to start, not to last.

    :param rows: how many there are, 0 if nobody knows.
    """
    partitions = 1 if 0 < rows <= _FEW_ROWS else 2
    return {**_LOCAL, **_LIGHT, _PARTITIONS: str(partitions)}


def heavy(rows: int) -> dict[str, str]:
    """For any number of rows: more of them make more tasks, not larger ones.

    :param rows: how many there are, 0 if nobody knows.
    """
    partitions = max(_FEWEST_PARTITIONS, -(-rows // _ROWS_PER_PARTITION))
    return {**_LOCAL, **_HEAVY, _PARTITIONS: str(partitions)}
