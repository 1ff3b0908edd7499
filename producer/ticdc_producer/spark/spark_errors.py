"""Errors of Spark's jobs: how a task passes one to the driver, and what an exception means."""

from __future__ import annotations

import pickle
import re
from base64 import b64decode, b64encode
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from ticdc_producer.errors import ProducerError, ScenarioError

READ_ERRORS = (PySparkException, Py4JJavaError)
"""Raised for a wrong path or format: pyspark translates some of Spark's exceptions, py4j wraps the others."""

_CONDITION = re.compile(r"\[[A-Z0-9_.]+\].*")
_STATE = re.compile(r"\s*SQLSTATE: \w+.*")


def first_sentence(error: BaseException) -> str:
    """Return the line with Spark's error condition, else the first line, without Java classes and frames."""
    text = str(error).strip() or type(error).__name__
    match = _CONDITION.search(text)
    return _STATE.sub("", match[0] if match else text.splitlines()[0])


_RAISED = "USER_RAISED_EXCEPTION"
"""Spark's error condition of ``raise_error``, which an expression of a scenario may call."""
_ENCLOSED = re.compile(r"\[ProducerError ([\w+/=]+)\]")


def enclosed(error: ProducerError) -> RuntimeError:
    """Return an error for Spark, which passes the text of a task's error to the driver, and nothing else."""
    fields = type(error), error.args, error.__dict__
    return RuntimeError(f"{error} [ProducerError {b64encode(pickle.dumps(fields)).decode()}]")


def worker_error(error: BaseException) -> ProducerError | None:
    """Return the error that a task raised, which also is that of an expression; None for another error."""
    if not isinstance(error, PySparkException):
        return None
    match = _ENCLOSED.search(str(error))
    if match is not None:
        return restored(*pickle.loads(b64decode(match[1])))  # noqa: S301  # our own task has written it
    if error.getCondition() != _RAISED:
        return None
    parameters = error.getMessageParameters() or {}
    return ScenarioError(parameters.get("errorMessage") or str(error))


def restored(kind: type[ProducerError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> ProducerError:
    """Return an error from its class, arguments and fields."""
    error = kind.__new__(kind)
    error.args, error.__dict__ = arguments, fields
    return error
