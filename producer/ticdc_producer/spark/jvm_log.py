"""Keeping Spark's own log lines out of a command's output."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def log_file() -> Path:
    """Where the JVM that this process starts writes its log lines."""
    return Path(tempfile.gettempdir()) / f"ticdc-producer-spark-{os.getpid()}.log"


@contextmanager
def stderr_to_log() -> Iterator[Path]:
    """Processes started inside inherit a log file as their standard error, for as long as they live.

    The JVM prints warnings before any setting of its logging can be made.
    """
    place = log_file()
    sys.stderr.flush()
    saved = os.dup(2)
    with place.open("ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield place
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)
