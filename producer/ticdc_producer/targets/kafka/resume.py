"""Going on in a partition that a task or a run before this one has begun.

Message ``k`` of a partition is always the same (DESIGN "Determinism"), so what stands behind the start
is the beginning of what would be written now. The last message there is compared: it shows another writer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from time import monotonic

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as Delivered

from ticdc_producer.errors import DeliveryError, ForeignMessageError
from ticdc_producer.kafka.client import CONNECT_SECONDS, PATIENCE_SECONDS, Brokers, connection
from ticdc_producer.kafka.client_errors import advice, may_pass
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import MessageBatch

# Messages come up to max-message-bytes; a fetch must hold at least one.
_FETCH = {"fetch.message.max.bytes": 16 << 20, "enable.partition.eof": True, "auto.offset.reset": "error"}
_ATTEMPTS = 80
_HINT = "somebody else writes to the topic; a run needs it for itself: begin anew in another one"


@dataclass(frozen=True)
class Continuation:
    """One partition, and where the messages of the run begin in it.

    :param start: offset of the run's first message.
    """

    brokers: Brokers
    topic: str
    partition: int
    start: int

    def pass_over(self, batches: Iterator[MessageBatch]) -> Iterator[MessageBatch]:
        """Those messages that the partition does not hold already.

        :raises ForeignMessageError: if something else stands there.
        :raises DeliveryError: if the broker does not answer.
        """
        reader = self._reader()
        try:
            end = self._end(reader)
            if end < self.start:
                what = f"the partition ends at {end}, and the run began at {self.start}"
                raise self._foreign(what, end, "the topic was made anew meanwhile: begin anew, too")
            last, rest = self._taken(batches, end - self.start)
            if last is not None and _content(last) != _delivered(self._at(reader, end - 1)):
                raise self._foreign("the message there is not the one that the run writes", end - 1)
        finally:
            reader.close()
        return chain(rest, batches)

    def check_end(self, count: int) -> None:
        """The partition must end behind the run's messages.

        :param count: how many there are, all of them acknowledged.
        :raises ForeignMessageError: if it does not.
        :raises DeliveryError: if the broker does not answer.
        """
        reader = self._reader()
        try:
            end = self._end(reader)
        finally:
            reader.close()
        if end != self.start + count:
            raise self._more(count)

    def _taken(
        self, batches: Iterator[MessageBatch], count: int
    ) -> tuple[Message | None, Sequence[MessageBatch]]:
        """The last of the first messages, so many taken away, and what is left of its batch."""
        left = count
        while left:
            batch = next(batches, None)
            if batch is None:
                raise self._more(count - left)
            if left <= len(batch):
                (last,) = batch.slice(left - 1, 1).messages()
                return last, [batch.slice(left)] if left < len(batch) else []
            left -= len(batch)
        return None, []

    def _more(self, count: int) -> ForeignMessageError:
        what = f"there are more messages than the {count} that the run writes"
        return self._foreign(what, self.start + count)

    def _foreign(self, what: str, offset: int, hint: str = _HINT) -> ForeignMessageError:
        return ForeignMessageError(what, topic=self.topic, partition=self.partition, offset=offset, hint=hint)

    def _reader(self) -> Consumer:
        return Consumer({**connection(self.brokers), **_FETCH, "group.id": "ticdc-producer"})

    def _end(self, reader: Consumer) -> int:
        place, deadline = TopicPartition(self.topic, self.partition), monotonic() + PATIENCE_SECONDS
        attempts = _ATTEMPTS
        while True:
            try:
                _, end = reader.get_watermark_offsets(place, timeout=CONNECT_SECONDS)
                return int(end)
            except KafkaException as error:
                attempts -= 1
                if not attempts or monotonic() > deadline or not may_pass(error):
                    raise self._failure(error.args[0]) from None
            reader.poll(PATIENCE_SECONDS / _ATTEMPTS)

    def _at(self, reader: Consumer, offset: int) -> Delivered | None:
        """The message at an offset; None if none is there any more."""
        reader.assign([TopicPartition(self.topic, self.partition, offset)])
        message = reader.poll(PATIENCE_SECONDS)
        if message is None:
            raise self._failure(KafkaError(KafkaError._TIMED_OUT, f"no answer within {PATIENCE_SECONDS} s"))
        error = message.error()
        if error is None:
            return message if message.offset() == offset else None
        if error.code() in (KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET):
            return None
        raise self._failure(error)

    def _failure(self, error: KafkaError) -> DeliveryError:
        return DeliveryError(str(error.str()), topic=self.topic, partition=self.partition, hint=advice(error))


def _content(message: Message) -> tuple[object, ...]:
    return message.key, message.value, list(message.headers)


def _delivered(message: Delivered | None) -> tuple[object, ...]:
    return () if message is None else (message.key(), message.value(), list(message.headers() or ()))
