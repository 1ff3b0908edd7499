"""An embedded broker that starts while the program does something else, such as starting Spark."""

from __future__ import annotations

import threading

from ticdc_producer.kafka.embedded.broker import EmbeddedKafka


class StartingKafka:
    """An embedded broker that starts in a thread.

    :param keep: whether it outlives this process, unless it is stopped.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self._kafka = EmbeddedKafka(keep=keep)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._start, name="Kafka start")
        self._thread.start()

    def _start(self) -> None:
        try:
            self._kafka.start()
        except BaseException as error:  # raised in the thread that waits
            self._error = error

    def running(self) -> EmbeddedKafka:
        """The broker, when it accepts requests.

        :raises ProducerError: if it does not start.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._kafka

    def stop(self) -> None:
        """End it; one that still starts cannot be ended before it runs."""
        self._thread.join()
        self._kafka.stop()
