"""Redirects the log of Spark's JVM into a file, so that a command's output does not contain it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
