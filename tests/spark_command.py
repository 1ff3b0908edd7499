"""Runs of scenarios by the command on Spark, with a package of the test or tasks that are tried again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

RETRYING = (
    "import sys; from ticdc_producer.cli import main; from ticdc_producer.spark.session import spark_session;"
    "spark_session('local[2,4]'); sys.exit(main(sys.argv[1:]))"
)
"""The command in a local session that tries each task four times, as a cluster does."""


def python_workers(command: psutil.Process) -> list[psutil.Process]:
    """Return the processes that run the tasks of a command."""
    daemons = set()
    for process in command.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # a worker that has just ended
            if "pyspark" in " ".join(process.cmdline()):
                daemons.add(process)
    return [process for process in daemons if process.parent() in daemons]


def run_on_spark(package: Path, *arguments: str | Path) -> dict[str, Any]:
    """Return the report of a run; workers of Spark start with the environment of the command.

    :param package: a folder of the import path.
    """
    path = os.pathsep.join([str(package), *filter(None, sys.path)])
    command = [
        sys.executable,
        "-m",
        "ticdc_producer",
        "run",
        *map(str, arguments),
        "--engine",
        "spark",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report
