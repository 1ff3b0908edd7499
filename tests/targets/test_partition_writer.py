"""Messages of one partition as the broker stores them."""

from __future__ import annotations

import pytest

from tests.kafka_topic import read_topic
from ticdc_producer.config import resolve
from ticdc_producer.errors import DeliveryError
from ticdc_producer.kafka.client import Properties
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.targets.kafka.write import PartitionWriter


def _written(kafka: EmbeddedKafka, topic: str, messages: list[Message], own: Properties) -> None:
    changefeed = resolve(f"kafka://{kafka.bootstrap}/{topic}?partition-num=1")
    Topics(changefeed.brokers).prepare(changefeed, [topic], append=False)
    properties = {**changefeed.producer_properties(changefeed.brokers), **own}
    writer = PartitionWriter(changefeed.brokers, properties, topic, 0)
    writer.write([from_messages(messages)], 0)


def _row(value: bytes, key: bytes | None = None, *headers: tuple[str, bytes]) -> Message:
    return Message(key, value, "row", commit_ts=1, headers=headers)


def test_keys_values_and_headers_arrive(kafka: EmbeddedKafka) -> None:
    messages = [_row(b"0"), _row(b"1", b"k", ("a", b"x"), ("b", b"y")), _row(b"2", b"k")]
    _written(kafka, "headed", messages, {})
    delivered = read_topic(kafka.bootstrap, "headed")[0]
    assert delivered == [(message.key, message.value, list(message.headers)) for message in messages]


def test_a_full_queue_is_waited_for_and_keeps_the_order(kafka: EmbeddedKafka) -> None:
    messages = [_row(str(number).encode()) for number in range(1200)]
    _written(kafka, "crowded", messages, {"queue.buffering.max.messages": 500})
    assert [value for _, value, _ in read_topic(kafka.bootstrap, "crowded")[0]] == [
        message.value for message in messages
    ]


def test_what_the_client_does_not_take_is_a_failure_even_behind_a_full_queue(kafka: EmbeddedKafka) -> None:
    messages = [_row(str(number).encode()) for number in range(500)]
    own: Properties = {"queue.buffering.max.messages": 500, "message.max.bytes": 1000}
    with pytest.raises(DeliveryError, match="too large"):
        _written(kafka, "too-large", [*messages, _row(b"x" * 2000), *messages], own)
