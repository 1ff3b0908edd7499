"""What libraries log, on stderr, but for the traces of an interrupt."""

from __future__ import annotations

import logging
from pathlib import Path


def log_to_stderr() -> None:
    """Warnings and errors of libraries come to stderr, unless somebody has taken care of the log."""
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(_says_something)
    root.addHandler(handler)


def _says_something(record: logging.LogRecord) -> bool:
    """Py4J logs each call into the JVM that was cut off, with two traces, and raises the error besides.

    It does so as nobody in particular, by the functions of ``logging`` itself.
    """
    return "py4j" not in Path(record.pathname).parts
