"""Runs of scenarios by the command, in tasks of Spark that find a package of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


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
