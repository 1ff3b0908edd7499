"""The record of a changefeed's last batch, which the brokers keep."""

from __future__ import annotations

from dataclasses import replace

from confluent_kafka.admin import AdminClient, NewTopic

from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.runs.targets.batches import BatchRecord, BatchRecords

TOPIC = "batch_records"
FIRST = BatchRecord(number=0, query="q", query_batch=0, digest=(1 << 64) - 1, last_ts=5)
SECOND = replace(FIRST, number=1, query_batch=1)
STARTS, ENDS = ({(TOPIC, 0): 3, (TOPIC, 1): 4}, {(TOPIC, 0): 7, (TOPIC, 1): 9})


def test_a_record_that_was_stored_in_part_is_not_the_last_one(kafka: EmbeddedKafka) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.create_topics([NewTopic(TOPIC, num_partitions=2)]).values():
        future.result()
    records = BatchRecords(kafka.bootstrap, "test")
    assert records.load({TOPIC: 2}) is None
    records.save(FIRST, STARTS)
    assert records.load({TOPIC: 2}) == (FIRST, STARTS)
    complete, part = replace(FIRST, complete=True), (TOPIC, 1)
    records.save(complete, {part: STARTS[part]}, {part: ENDS[part]})
    assert records.load({TOPIC: 2}) == (FIRST, STARTS)
    records.save(complete, STARTS, ENDS)
    assert records.load({TOPIC: 2}) == (complete, ENDS)
    records.save(SECOND, {part: ENDS[part]})
    assert records.load({TOPIC: 2}) == (complete, ENDS)
    assert BatchRecords(kafka.bootstrap, "other").load({TOPIC: 2}) is None
