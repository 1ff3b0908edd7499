"""Messages of several partitions, written by one process."""

from __future__ import annotations

import signal
import threading
from itertools import count

import pytest

from tests.kafka_topic import read_topic
from ticdc_producer.config import resolve
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import DeliveryError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.targets.kafka.write import Delivery
from ticdc_producer.targets.message_rows import STORED_MESSAGES, MessageRows


def _write(kafka: EmbeddedKafka, topic: str, values: list[list[bytes]], largest: int = 1 << 20) -> None:
    """Write the values of each partition."""
    changefeed = resolve(f"kafka://{kafka.bootstrap}/{topic}?partition-num={len(values)}")
    starts = Topics(changefeed.brokers).prepare(changefeed, [topic], append=False)
    properties = {**changefeed.producer_properties(changefeed.brokers), "message.max.bytes": largest}
    delivery = Delivery(brokers=changefeed.brokers, properties=properties, starts=starts)

    def messages(partition: int) -> Batches:
        sent = [Message(None, value, "row", commit_ts=1) for value in values[partition]]
        yield MessageRows(topic, partition).with_offsets(from_messages(sent))

    LocalEngine().of_parts(len(values), messages, STORED_MESSAGES).execute(delivery.write)


def _read(kafka: EmbeddedKafka, topic: str, partitions: int) -> list[list[bytes | None]]:
    messages = read_topic(kafka.bootstrap, topic)
    return [[value for _, value, _ in messages.get(number, [])] for number in range(partitions)]


def test_each_partition_gets_its_messages_in_order(kafka: EmbeddedKafka) -> None:
    values = [[f"{number}-{message}".encode() for message in range(30)] for number in range(10)]
    _write(kafka, "side-by-side", values)
    assert _read(kafka, "side-by-side", 10) == values


def test_a_failure_names_its_partition_and_other_partitions_are_written(kafka: EmbeddedKafka) -> None:
    with pytest.raises(DeliveryError, match="too large") as raised:
        _write(kafka, "one-fails", [[b"a"], [b"x" * 2000], [b"b"]], largest=1000)
    assert raised.value.partition == 1
    assert _read(kafka, "one-fails", 3) == [[b"a"], [], [b"b"]]


def test_an_interrupt_ends_all_writers(kafka: EmbeddedKafka) -> None:
    """Without an end of their messages they would write for ever."""

    def endless(partition: int) -> Batches:
        rows = MessageRows("interrupted", partition)
        for number in count():
            if partition == 0 and number == 3:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            yield rows.with_offsets(from_messages([Message(None, b"x", "row", commit_ts=1)]))

    changefeed = resolve(f"kafka://{kafka.bootstrap}/interrupted?partition-num=2")
    starts = Topics(changefeed.brokers).prepare(changefeed, ["interrupted"], append=False)
    properties = changefeed.producer_properties(changefeed.brokers)
    delivery = Delivery(brokers=changefeed.brokers, properties=properties, starts=starts)
    with pytest.raises(KeyboardInterrupt):
        LocalEngine().of_parts(2, endless, STORED_MESSAGES).execute(delivery.write)
