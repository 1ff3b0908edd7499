"""What Spark says of data that it cannot read, as one sentence."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

READ_ERRORS = (PySparkException, Py4JJavaError)
"""Of a path or format that is wrong: pyspark knows some of Spark's exceptions, and hands on the others."""

_CONDITION = re.compile(r"\[[A-Z0-9_.]+\].*")
_STATE = re.compile(r"\s*SQLSTATE: \w+.*")


def first_sentence(error: BaseException) -> str:
    """The line with Spark's own condition, else the first one; without Java's classes and frames."""
    text = str(error).strip() or type(error).__name__
    found = _CONDITION.search(text)
    return _STATE.sub("", found[0] if found else text.splitlines()[0])
