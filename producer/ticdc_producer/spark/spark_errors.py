"""Spark's error messages about data that it cannot read, shortened to one sentence."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

READ_ERRORS = (PySparkException, Py4JJavaError)
"""Raised for a wrong path or format: pyspark translates some of Spark's exceptions, py4j wraps the others."""

_CONDITION = re.compile(r"\[[A-Z0-9_.]+\].*")
_STATE = re.compile(r"\s*SQLSTATE: \w+.*")


def first_sentence(error: BaseException) -> str:
    """The line with Spark's error condition, else the first line; without Java classes and stack frames."""
    text = str(error).strip() or type(error).__name__
    found = _CONDITION.search(text)
    return _STATE.sub("", found[0] if found else text.splitlines()[0])
