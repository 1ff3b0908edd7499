"""Whether the Kafka of the service answers, for ``GET /ready``.

Requests that arrive together share one question, and an answer holds for a second, so that probes do not
burden Kafka. The questions have one thread, whatever the number of requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.client import Brokers, connection

_SECONDS = 2.0
"""After this long without an answer Kafka is not ready. A run waits longer for it."""
_HOLDS_SECONDS = 1.0
_LONGEST_SECONDS = 2.5
"""Nobody waits longer. A client whose resolver of names does not answer ends later than its request."""


class KafkaAnswer:
    """The answer of a Kafka cluster.

    :param cluster: returns the cluster.
    """

    def __init__(self, cluster: Callable[[], Brokers | None]) -> None:
        self._cluster = cluster
        self._thread = ThreadPoolExecutor(1, "kafka-answer")
        self._question: Future[bool] | None = None
        self._answered = 0.0

    async def comes(self) -> bool:
        """Return whether a broker answers now, or has answered within the last second."""
        question = asyncio.shield(asyncio.wrap_future(self.question()))
        try:
            return await asyncio.wait_for(question, _LONGEST_SECONDS)
        except TimeoutError:
            return False

    def has_come(self) -> bool:
        """Return the same as ``comes``, to a thread that waits for it."""
        try:
            return self.question().result(_LONGEST_SECONDS)
        except TimeoutError:
            return False

    def question(self) -> Future[bool]:
        """Ask whether a broker answers, unless a question is open or has a recent answer."""
        question = self._question
        if question is None or (question.done() and monotonic() - self._answered > _HOLDS_SECONDS):
            question = self._question = self._thread.submit(self._ask)
        return question

    def _ask(self) -> bool:
        try:
            admin = AdminClient(connection(self._cluster() or ""))
            admin.describe_cluster(request_timeout=_SECONDS).result(_SECONDS)
        except (KafkaException, ProducerError, TimeoutError):
            return False
        else:
            return True
        finally:
            self._answered = monotonic()
