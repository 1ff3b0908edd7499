"""Messages of Kafka topics between two offsets, read by whoever wants them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.client import PATIENCE_SECONDS, Brokers, Properties, connection
from ticdc_producer.kafka.client_errors import failure
from ticdc_producer.model.record import Record

_BATCH = 500
# Large messages come up to max-message-bytes; a fetch must hold at least one.
_FETCH = {"fetch.message.max.bytes": 16 << 20, "queued.max.messages.kbytes": 64 << 10}


@dataclass(frozen=True, kw_only=True)
class Range:
    """The messages of one partition from ``start`` up to, not including, ``end``."""

    topic: str
    partition: int
    start: int
    end: int


def read(brokers: Brokers, part: Range) -> Iterator[Record]:
    """The messages of one range, in order.

    :raises BrokerError: if the broker stops answering before the end is reached.
    """
    if part.start >= part.end:
        return
    consumer = Consumer(_properties(brokers))
    try:
        consumer.assign([TopicPartition(part.topic, part.partition, part.start)])
        while True:
            for record in _next(consumer, brokers):
                if record.offset < part.end:
                    yield record
                if record.offset >= part.end - 1:
                    return
    finally:
        consumer.close()


def _next(consumer: Consumer, brokers: Brokers) -> list[Record]:
    """What has come by now, at least one message."""
    try:
        first = consumer.poll(PATIENCE_SECONDS)
        # To ask for many with a time to wait means to wait until so many have come.
        messages = [] if first is None else [first, *consumer.consume(_BATCH, timeout=0)]
    except KafkaException as error:
        raise failure(brokers, error) from None
    if not messages:
        raise BrokerError(f"no answer within {PATIENCE_SECONDS} s", address=str(brokers))
    for message in messages:
        if (refused := message.error()) is not None:
            raise failure(brokers, KafkaException(refused))
    return [_record(message) for message in messages]


def _record(message: Any) -> Record:  # the client's type hints allow None where an error is excluded
    _, timestamp = message.timestamp()
    return Record(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        key=message.key(),
        value=message.value(),
        timestamp=timestamp,
        headers=tuple(message.headers() or ()),
    )


def _properties(brokers: Brokers) -> Properties:
    return {
        **connection(brokers),
        **_FETCH,
        "group.id": "ticdc-producer",
        "enable.auto.commit": False,
        "enable.partition.eof": False,
        "auto.offset.reset": "error",
    }
