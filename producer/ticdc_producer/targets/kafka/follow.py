"""Reads topics that grow, from some offsets on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.client import OUTAGE_TIMEOUT_S, Brokers
from ticdc_producer.kafka.client_errors import broker_error
from ticdc_producer.model.shapes import StoredMessageBatch
from ticdc_producer.targets.kafka.read import check_messages, client_batch, consumer_properties

_MOST = 5_000
_WAIT_SECONDS = 0.5
_GATHER_SECONDS = 0.1
"""The first message waits this long for others: a follower compares each batch with its whole window."""


def growing_topics(brokers: Brokers, offsets: Mapping[tuple[str, int], int]) -> Iterator[StoredMessageBatch]:
    """Yield the messages of partitions as they arrive (shape ``MESSAGES``), those of one in order.

    An empty batch says that none arrived within half a second. The iterator never ends.

    :param offsets: by topic and partition the first offset.
    :raises BrokerError: for an error of a broker, and if it is away for a minute.
    """
    consumer, silent = Consumer(consumer_properties(brokers)), 0.0
    try:
        consumer.assign([TopicPartition(*partition, offset) for partition, offset in offsets.items()])
        while True:
            messages = _consumed(consumer, brokers)
            silent = 0.0 if messages or _answers(consumer) else silent + _WAIT_SECONDS
            if silent >= OUTAGE_TIMEOUT_S:
                raise BrokerError(f"no answer within {OUTAGE_TIMEOUT_S} s", address=str(brokers))
            yield _batch(messages)
    finally:
        consumer.close()


def _consumed(consumer: Consumer, brokers: Brokers) -> list[Any]:
    """Return the client's messages that have arrived; none after half a second without one."""
    try:
        first = consumer.poll(_WAIT_SECONDS)
        # consume(n, timeout) blocks for all n messages, so it has a shorter timeout.
        messages = [] if first is None else [first, *consumer.consume(_MOST - 1, _GATHER_SECONDS)]
    except KafkaException as error:
        raise broker_error(brokers, error) from None
    check_messages(brokers, messages)
    return messages


def _answers(consumer: Consumer) -> bool:
    """Return whether a broker answers a request."""
    try:
        consumer.list_topics(timeout=_WAIT_SECONDS)
    except KafkaException:
        return False
    return True


def _batch(messages: list[Any]) -> StoredMessageBatch:
    messages.sort(key=lambda message: (message.topic(), message.partition(), message.offset()))
    topics = [message.topic() for message in messages]
    return client_batch(messages, topics, [message.partition() for message in messages])
