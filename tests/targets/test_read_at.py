"""Single messages of a partition, read at their offsets."""

from __future__ import annotations

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.read import read_at


def test_the_messages_are_those_at_the_offsets(kafka: EmbeddedKafka) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap}
    admin, producer = AdminClient(settings), Producer(settings)
    admin.create_topics([NewTopic("read-at", num_partitions=1)])["read-at"].result()
    for number in range(3000):
        producer.produce("read-at", value=str(number).encode(), partition=0)
    producer.flush()
    found = [(one.offset, one.value) for one in read_at(kafka.bootstrap, "read-at", 0, [0, 1, 2000, 2999])]
    assert found == [(0, b"0"), (1, b"1"), (2000, b"2000"), (2999, b"2999")]


def test_offsets_without_a_message_are_left_out(kafka: EmbeddedKafka) -> None:
    """The end of a transaction takes an offset, as a message does that was compacted later."""
    settings = {"bootstrap.servers": kafka.bootstrap}
    admin, producer = AdminClient(settings), Producer({**settings, "transactional.id": "read-at"})
    admin.create_topics([NewTopic("read-at-gap", num_partitions=1)])["read-at-gap"].result()
    producer.init_transactions()
    for value in (b"a", b"b"):
        producer.begin_transaction()
        producer.produce("read-at-gap", value=value, partition=0)
        producer.commit_transaction()
    found = [(one.offset, one.value) for one in read_at(kafka.bootstrap, "read-at-gap", 0, [0, 1, 2])]
    assert found == [(0, b"a"), (2, b"b")]
