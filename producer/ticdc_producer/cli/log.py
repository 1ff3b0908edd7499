"""Log messages of libraries on stderr, without the traces of an interrupt."""

from __future__ import annotations

import logging
from pathlib import Path


def log_to_stderr() -> None:
    """Send warnings and errors of libraries to stderr, unless logging is already configured."""
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(_not_py4j)
    root.addHandler(handler)


def _not_py4j(record: logging.LogRecord) -> bool:
    """Drop the messages of Py4J: it logs each interrupted JVM call with two traces and raises the error.

    Py4J logs to the root logger, so the path of its code identifies it.
    """
    return "py4j" not in Path(record.pathname).parts
