"""The Spark session that is started if none is active."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.class_archive import ClassArchive
from ticdc_producer.java import spark_java_home
from ticdc_producer.spark import session, session_settings
from ticdc_producer.spark.session import CLASS_ARCHIVE, save_class_archive


def _transport(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        enabled = os.environ.get("PYTHON_UNIX_DOMAIN_ENABLED", "false")
        yield pa.RecordBatch.from_pydict({"unix_domain": [enabled]})


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="not run: no Unix domain sockets here")
def test_workers_use_unix_domain_sockets(spark: SparkSession) -> None:
    """Over loopback TCP worker and JVM may deadlock."""
    rows = spark.range(1, numPartitions=1).mapInArrow(_transport, "unix_domain string").collect()
    assert [row["unix_domain"].lower() for row in rows] == ["true"]


@pytest.mark.parametrize("settings", [session_settings.light(0), session_settings.heavy(0)])
def test_the_jvm_prints_nothing_to_stdout(settings: dict[str, str]) -> None:
    java = spark_java_home() / "bin" / "java"
    options = settings[session_settings.JVM_OPTIONS].split()
    # The JVM warns about large pages, which almost no machine has.
    output = subprocess.run(
        [java, "-XX:+UseLargePages", *options, "-version"], capture_output=True, text=True, check=True
    )
    assert output.stdout == ""


@pytest.mark.parametrize("light", [True, False])
def test_every_session_reads_the_archive_of_the_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, light: bool
) -> None:
    archive = ClassArchive(tmp_path / "spark-0.jsa")
    archive.path.touch()
    started: list[dict[str, str]] = []

    def start(_master: str, settings: dict[str, str], _gateway: object = None) -> None:
        started.append(settings)

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(session, "session_runs", lambda: False)
    monkeypatch.setattr(session, "_class_archive", lambda _java: archive)
    monkeypatch.setattr(session, "_start", start)
    session.spark_session(light=light)
    [settings] = started
    assert archive.read_option in settings[session_settings.JVM_OPTIONS]


def test_a_session_that_writes_an_archive_saves_it_at_exit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_exit: list[Callable[[subprocess.Popen[bytes]], None]] = []
    monkeypatch.setattr(atexit, "register", lambda work, *_: at_exit.append(work))
    of_this_session = spark.conf.get(CLASS_ARCHIVE, None)
    spark.conf.unset(CLASS_ARCHIVE)
    save_class_archive(spark)
    assert at_exit == []
    archive = ClassArchive(tmp_path / "spark-0.jsa")
    spark.conf.set(CLASS_ARCHIVE, f"{archive.path}{os.pathsep}{archive.writer}")
    try:
        save_class_archive(spark)
    finally:
        spark.conf.unset(CLASS_ARCHIVE)
        if of_this_session is not None:
            spark.conf.set(CLASS_ARCHIVE, of_this_session)
    Path(archive.write_option.partition("=")[2]).touch()
    install, stop = at_exit  # the last one is called first
    assert stop == spark.stop
    install(subprocess.Popen(["true"]))
    assert archive.exists
