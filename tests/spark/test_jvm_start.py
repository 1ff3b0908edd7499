"""A JVM that starts while the program goes on, each in a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import psutil
import pytest

STARTED = """
from ticdc_producer.spark import session
session.start_light_jvm()
(started,) = session._started_jvms
started._thread.join()
pid = started._process.pid
print(pid)
"""
SESSION = """
spark = session.spark_session(light={light}, rows=10)
print(spark.sparkContext._gateway.proc.pid)
print(spark.conf.get("spark.sql.shuffle.partitions"), spark.range(3).count())
"""


def _run(program: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # In the cache of other runs a class archive may be due, and then no JVM is started early.
    cache = mkdtemp(prefix=f"{folder.name}-cache-", dir=folder.parent)
    variables = {**os.environ, "TMPDIR": str(folder), "TICDC_PRODUCER_CACHE": cache, **environment}
    variables.pop("PYSPARK_GATEWAY_PORT", None)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=variables, check=False
    )


def _words(program: str, folder: Path) -> list[str]:
    done = _run(program, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def _wait_for_end(pid: str) -> None:
    """Wait until a JVM that has lost its program has ended; fail if it does not."""
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(pid)).wait(60)


def test_a_light_session_takes_it(tmp_path: Path) -> None:
    started, used, partitions, rows = _words(STARTED + SESSION.format(light=True), tmp_path)
    assert used == started
    assert (partitions, rows) == ("1", "3")
    _wait_for_end(started)


def test_another_session_ends_it(tmp_path: Path) -> None:
    ended = "import psutil; print(psutil.pid_exists(pid))"
    started, used, partitions, rows, exists = _words(STARTED + SESSION.format(light=False) + ended, tmp_path)
    assert used != started
    assert (partitions, rows, exists) == ("8", "3", "False")


@pytest.mark.parametrize(
    "end", ["", pytest.param("raise SystemExit(2)", marks=pytest.mark.slow), "raise KeyboardInterrupt"]
)
def test_a_program_without_a_session_leaves_nothing(end: str, tmp_path: Path) -> None:
    done = _run(STARTED + end, tmp_path)
    assert not psutil.pid_exists(int(done.stdout))
    assert [*tmp_path.iterdir()] == []


def test_a_program_that_is_killed_leaves_no_jvm(tmp_path: Path) -> None:
    done = _run(STARTED + "import os, sys; sys.stdout.flush(); os.kill(os.getpid(), 9)", tmp_path)
    _wait_for_end(done.stdout)


def test_the_error_of_a_jvm_that_does_not_start_is_the_sessions(tmp_path: Path) -> None:
    program = STARTED + SESSION.format(light=True)
    done = _run(program, tmp_path, PYSPARK_SUBMIT_ARGS="--no-such-option pyspark-shell")
    assert "JavaError: Spark does not start" in done.stderr


def test_no_jvm_is_started_for_a_program_that_uses_pyspark_already(tmp_path: Path) -> None:
    program = (
        "import pyspark\nfrom ticdc_producer.spark import session\n"
        "session.start_light_jvm(); print(session._started_jvms)"
    )
    assert _words(program, tmp_path) == ["[]"]
