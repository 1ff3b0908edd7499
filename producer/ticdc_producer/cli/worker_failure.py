"""Errors of this package that a Spark worker raised; the driver receives them as text."""

from __future__ import annotations

import re

from ticdc_producer import errors
from ticdc_producer.errors import ProducerError

_RAISED = re.compile(r"^ticdc_producer\.errors\.(\w+): (.+)$", re.MULTILINE)


def worker_failure(error: BaseException) -> ProducerError | None:
    """The error of this package in the text of a Spark exception; None if the text has none.

    :param error: its text ends with the worker's trace.
    """
    raised = _RAISED.search(str(error))
    if raised is None:
        return None
    name, text = raised.groups()
    failure = ProducerError(text)
    failure.exit_code = getattr(errors, name, ProducerError).exit_code
    return failure
