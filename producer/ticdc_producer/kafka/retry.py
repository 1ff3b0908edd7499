"""Repeats requests to Kafka that a broker may answer soon."""

from __future__ import annotations

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from ticdc_producer.kafka.client import OUTAGE_TIMEOUT_S
from ticdc_producer.kafka.client_errors import is_retriable

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.5
"""A new topic has its leaders after some milliseconds. The pause doubles with each further attempt."""

until_answered = Retrying(
    retry=retry_if_exception(is_retriable),
    wait=wait_exponential(_FIRST_PAUSE_S, _LONGEST_PAUSE_S),
    stop=stop_after_delay(OUTAGE_TIMEOUT_S),
    reraise=True,
)
"""Calls a function again while it raises a ``KafkaException`` that a retry can mend.

After ``OUTAGE_TIMEOUT_S`` it raises the last exception; any other one, at once.
"""
