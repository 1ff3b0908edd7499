"""Messages of a partition: single ones at their offsets, and the batches of a range."""

from __future__ import annotations

import pyarrow as pa
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.targets.kafka.read import OffsetRange, range_rows, read, read_at
from ticdc_producer.targets.record_batches import BATCH_ROWS, record_batches


def test_the_messages_are_those_at_the_offsets(kafka: EmbeddedKafka) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap}
    admin, producer = AdminClient(settings), Producer(settings)
    admin.create_topics([NewTopic("read-at", num_partitions=1)])["read-at"].result()
    for number in range(3000):
        producer.produce("read-at", value=str(number).encode(), partition=0)
    producer.flush()
    messages = [
        (message.offset, message.value)
        for message in read_at(kafka.bootstrap, "read-at", 0, [0, 1, 2000, 2999])
    ]
    assert messages == [(0, b"0"), (1, b"1"), (2000, b"2000"), (2999, b"2999")]


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
    messages = [
        (message.offset, message.value) for message in read_at(kafka.bootstrap, "read-at-gap", 0, [0, 1, 2])
    ]
    assert messages == [(0, b"a"), (2, b"b")]


def test_the_batches_of_a_range_are_its_messages(kafka: EmbeddedKafka) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap}
    admin, producer = AdminClient(settings), Producer(settings)
    admin.create_topics([NewTopic("read-range", num_partitions=1)])["read-range"].result()
    for number in range(12_000):
        key, value = (None if number % part == 0 else str(number).encode() for part in (3, 5))
        headers = [("h", b"1"), ("h", b"2")] if number % 7 == 0 else None
        producer.produce("read-range", key=key, value=value, partition=0, headers=headers)
    producer.flush()
    part = OffsetRange(topic="read-range", partition=0, start=5, end=11_000)
    batches = [*range_rows(LocalEngine(), kafka.bootstrap, [part]).batches()]
    assert len(batches) > 1
    assert max(batch.num_rows for batch in batches) <= BATCH_ROWS
    records = pa.Table.from_batches(record_batches(read(kafka.bootstrap, part)), MESSAGES)
    assert pa.Table.from_batches(batches, MESSAGES).combine_chunks().equals(records.combine_chunks())
    assert records.column("offset").to_pylist() == [*range(5, 11_000)]


def test_large_keys_end_a_batch(kafka: EmbeddedKafka) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap, "message.max.bytes": 2 << 20}
    admin, producer = AdminClient(settings), Producer(settings)
    limits = {"max.message.bytes": str(2 << 20)}
    topic = NewTopic("large-keys", num_partitions=1, replication_factor=1, config=limits)
    admin.create_topics([topic])["large-keys"].result()
    count = 80  # more bytes than the 64 MiB that the client holds at most, and could return at once
    for number in range(count):
        producer.produce("large-keys", key=b"%03d" % number + b"k" * (1 << 20), partition=0)
        producer.flush()
    part = OffsetRange(topic="large-keys", partition=0, start=0, end=count)
    batches = [*range_rows(LocalEngine(), kafka.bootstrap, [part]).batches()]
    assert sum(batch.num_rows for batch in batches) == count
    assert len(batches) > 1
