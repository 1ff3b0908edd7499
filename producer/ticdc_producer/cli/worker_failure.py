"""Errors of ours that a Spark worker met: what reaches the driver of them is text."""

from __future__ import annotations

import re

from ticdc_producer import errors
from ticdc_producer.errors import ProducerError

_RAISED = re.compile(r"^producer\.errors\.(\w+): (.+)$", re.MULTILINE)


def worker_failure(error: BaseException) -> ProducerError | None:
    """The error of this package that an exception of Spark tells of; None if it tells of none.

    :param error: its text ends with the worker's trace, whatever Spark puts before.
    """
    raised = _RAISED.search(str(error))
    if raised is None:
        return None
    name, text = raised.groups()
    told = ProducerError(text)
    told.exit_code = getattr(errors, name, ProducerError).exit_code
    return told
