"""Starts Spark's JVM in the background, with its log in a file.

What is passed to the JVM, and what it answers, is the protocol of PySpark's ``launch_gateway``.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from ticdc_producer.errors import JavaError

if TYPE_CHECKING:
    from pyspark import SparkConf


def log_file() -> Path:
    """The log file of the JVM that this process starts."""
    return Path(tempfile.gettempdir()) / f"ticdc-producer-spark-{os.getpid()}.log"


@contextmanager
def stderr_to_log() -> Iterator[Path]:
    """Give processes that are started in the block a log file as their standard error.

    The JVM prints warnings before its logging can be configured, so redirecting is the only way.
    """
    path = log_file()
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


_POLL_SECONDS = 0.01
_ANSWER = struct.Struct(">ii")
"""Port of the JVM, and length of the secret that follows."""


def spark_conf(master: str, settings: Mapping[str, str]) -> SparkConf:
    """The configuration of a session; the options of its JVM are part of it."""
    from pyspark import SparkConf

    return SparkConf().setMaster(master).setAppName("ticdc-producer").setAll([*settings.items()])


class JvmStart:
    """A JVM that starts while the program goes on. Unless a session takes it, it ends with the program.

    An error is not raised: the session then starts a JVM itself, and raises the error of that one.

    :param conf: returns the configuration, or None if no JVM is needed; called in a thread, because it takes
        time to find a Java.
    :param log: file for the standard error of the JVM.
    """

    def __init__(self, conf: Callable[[], SparkConf | None], log: Path) -> None:
        # Imported before the thread starts: two threads that import the same modules may block each other.
        import_module("pyspark")
        self._conf = conf
        self._log = log
        self._folder = Path(tempfile.mkdtemp(prefix="ticdc-producer-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Thread(target=self._start, name="JVM start")
        self._thread.start()
        atexit.register(self.stop)

    def _start(self) -> None:
        with suppress(JavaError, OSError):
            conf = self._conf()
            if conf is not None:
                self._process = self._launched(conf)

    def _launched(self, conf: SparkConf) -> subprocess.Popen[bytes]:
        from pyspark.find_spark_home import _find_spark_home

        settings = [f"--conf={name}={value}" for name, value in conf.getAll()]
        submitted = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        answer = {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._answer)}
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [f"{_find_spark_home()}/bin/spark-submit", *settings, *submitted],
                stdin=subprocess.PIPE,  # the JVM ends when it is closed
                stderr=log,
                env={**os.environ, **answer},
                start_new_session=True,  # Ctrl-C ends this program, which ends the JVM
            )

    @property
    def _answer(self) -> Path:
        """The file into which the JVM writes its port and a secret."""
        return self._folder / "connection"

    def take(self) -> Any:
        """The connection to the JVM, for ``SparkContext(gateway=…)``; None if it did not start."""
        try:
            self._thread.join()
            process = self._process
            while process and process.poll() is None and not self._answer.exists():
                time.sleep(_POLL_SECONDS)
            if process and self._answer.exists():
                gateway = self._connected()
                gateway.proc, self._process = process, None
                return gateway
            return None
        finally:
            self.stop()

    def _connected(self) -> Any:
        from pyspark import java_gateway

        answer = self._answer.read_bytes()
        port, length = _ANSWER.unpack_from(answer)
        secret = answer[_ANSWER.size : _ANSWER.size + length].decode()
        connect: Any = java_gateway.launch_gateway  # it starts no JVM if it finds the port of one
        with _environment(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret):
            return connect()

    def stop(self) -> None:
        """End the JVM, unless it was taken."""
        atexit.unregister(self.stop)
        self._thread.join()
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # it has done nothing yet
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Environment variables that are unset otherwise, during a block."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
