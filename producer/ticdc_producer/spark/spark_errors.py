"""Errors of Spark's jobs: how a task passes one to the driver, and what an exception means."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping

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
    fields = json.dumps([type(error).__name__, error.args, error.__dict__], default=str)
    return RuntimeError(f"{error} [ProducerError {b64encode(fields.encode()).decode()}]")


def worker_error(error: BaseException) -> ProducerError | None:
    """Return the error that a task raised, which also is that of an expression; None for another error."""
    if not isinstance(error, PySparkException):
        return None
    # The text before the last one may contain anything, such as a value of a message.
    *_, fields = _ENCLOSED.findall(str(error)) or [""]
    if fields:
        name, arguments, values = json.loads(b64decode(fields))
        return restored(_CLASSES[name], tuple(arguments), {key: _frozen(of) for key, of in values.items()})
    if error.getCondition() != _RAISED:
        return None
    parameters = error.getMessageParameters() or {}
    return ScenarioError(parameters.get("errorMessage") or str(error))


def restored(
    kind: type[ProducerError], arguments: tuple[object, ...], fields: Mapping[str, object]
) -> ProducerError:
    """Return an error from its class, arguments and fields."""
    error = kind.__new__(kind)
    error.args, error.__dict__ = arguments, dict(fields)
    return error


def _frozen(value: object) -> object:
    """Return a value of JSON in which tuples, as errors have them, are tuples again."""
    return tuple(value) if isinstance(value, list) else value


def _with_subclasses(kind: type[ProducerError]) -> Iterator[type[ProducerError]]:
    yield kind
    for subclass in kind.__subclasses__():
        yield from _with_subclasses(subclass)


_CLASSES = {kind.__name__: kind for kind in _with_subclasses(ProducerError)}
