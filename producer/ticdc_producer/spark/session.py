"""The Spark session: the active one if there is one, else a local one that needs nothing prepared."""

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
from ticdc_producer.spark.defer_interrupts import later_interrupt
from ticdc_producer.spark.jvm_log import stderr_to_log
from ticdc_producer.spark.session_settings import JVM_OPTIONS
from ticdc_producer.spark.warm_up import warm_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set by ``spark-submit`` for its Python program: the JVM is there, and its settings are the user's."""
CLASS_ARCHIVE = "spark.ticdc-producer.classArchive"
"""Of a session that writes what it has loaded: where it is to be."""


def spark_session(
    master: str = "local[*]",
    *,
    light: bool = False,
    rows: int = 0,
    loads: Sequence[str] = (),
    recording: Callable[[], None] | None = None,
) -> SparkSession:
    """The session to work in.

    An active session is used as it is, never replaced or stopped. Under ``spark-submit`` it is the one that
    was submitted. Otherwise a local one is started, on the machine's Java if Spark can run on it, else on the
    one that comes with this package.

    :param light: a new session is tuned for a few thousand rows: quick to start, not to last.
    :param rows: how many will be shuffled, if known; more of them make more tasks, not larger ones.
    :param loads: modules that the Python workers of a new light session import while the driver plans.
    :param recording: called if a new light session is to write at its end what it has loaded, which takes ten
        seconds, once, and makes later ones start quicker. To be given by who loads what most others load, and
        calls ``keep_loaded`` when that is done.
    :raises JavaError: if there is no Java, or Spark does not start on it.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if _SUBMITTED in os.environ:
        return SparkSession.builder.getOrCreate()
    java = spark_java_home()
    os.environ["JAVA_HOME"] = str(java)
    # Else workers start the first python3 of the PATH, which may lack our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not light:
        return _started(master, session_settings.heavy(rows))
    spark = _light_session(master, session_settings.light(rows), class_archive(java), recording)
    if loads:
        warm_up(spark, loads)
    return spark


def _light_session(
    master: str, settings: dict[str, str], archive: ClassArchive, recording: Callable[[], None] | None
) -> SparkSession:
    jvm_options = settings[JVM_OPTIONS]
    if recording is None or not archive.due():
        reading = f' "{archive.reading}"' if archive.there else ""
        return _started(master, settings | {JVM_OPTIONS: jvm_options + reading})
    recording()
    writing = {JVM_OPTIONS: f'{jvm_options} "{archive.writing}"', CLASS_ARCHIVE: str(archive.path)}
    return _started(master, settings | writing)


def keep_loaded(spark: SparkSession) -> None:
    """Of a session that writes what it has loaded: whoever calls this went well, so that it is all there.

    What a run has loaded that failed is not kept, since it would never be written again.
    """
    path = spark.conf.get(CLASS_ARCHIVE, None)
    gateway = spark.sparkContext._gateway if path else None
    if path and gateway is not None:
        atexit.register(ClassArchive(Path(path)).put_into_place, gateway.proc)
        # Comes first, so that nothing of the session complains when its JVM is gone.
        atexit.register(spark.stop)


def _started(master: str, settings: dict[str, str]) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("ticdc-producer")
    for key, value in settings.items():
        builder = builder.config(key, value)
    with stderr_to_log() as log:
        atexit.register(_forget, str(log))
        try:
            # A JVM that nobody waits for any more, to be told its address, would never end.
            with later_interrupt():
                return builder.getOrCreate()
        except (PySparkException, OSError) as error:
            atexit.unregister(_forget)
            raise JavaError("Spark does not start", hint=f"its log: {log}") from error


def _forget(log: str) -> None:
    with suppress(OSError):
        os.unlink(log)  # noqa: PTH108 - pathlib may be gone when the interpreter ends
