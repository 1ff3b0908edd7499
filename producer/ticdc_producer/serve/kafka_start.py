"""The embedded Kafka of a service, which starts while the service still loads its modules."""

from __future__ import annotations

import threading

from ticdc_producer.errors import ProducerError
from ticdc_producer.kafka.embedded import EmbeddedKafka


class KafkaStart:
    """An embedded Kafka that starts in a thread."""

    def __init__(self) -> None:
        self._kafka = EmbeddedKafka()
        self._error: ProducerError | None = None
        self._thread = threading.Thread(target=self._start, name="Kafka start")
        self._thread.start()

    def _start(self) -> None:
        try:
            self._kafka.start()
        except ProducerError as error:
            self._error = error

    def bootstrap(self) -> str:
        """``HOST:PORT`` of the Kafka, when it accepts requests.

        :raises ProducerError: if it does not start.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._kafka.bootstrap

    def stop(self) -> None:
        """End it; one that still starts cannot be ended before it runs."""
        self._thread.join()
        self._kafka.stop()
