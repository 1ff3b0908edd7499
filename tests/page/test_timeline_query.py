"""The timeline of a stream: every event is counted once, and outliers are not lost."""

from __future__ import annotations

import dataclasses

import pyarrow as pa

from tests.reports.verdicts import event, finding
from tests.verifier.topic import Topic, account, ts
from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.page.timeline import DRAWN
from ticdc_producer.page.timeline_query import timeline_query


def small() -> Topic:
    """Partition 0: a DDL, resolved events and rows; partition 1: a DDL, resolved events and damage."""
    topic = Topic().ddl(ts(0), "CREATE TABLE bank.accounts (id BIGINT)").resolved(ts(0))
    for second in (1, 2, 3):
        topic.row(0, ts(second), before=account(1, second - 1), after=account(1, second))
    topic.resolved(ts(3))
    return topic.add(1, "error", error="OPEN-KEY-SHORT", error_byte=3, error_expected="8 bytes (key)")


def _dataset(rows: pa.Table) -> Dataset:
    return LocalEngine().of_batches(rows.to_batches(), DECODED)


def decoded(topic: Topic) -> Dataset:
    """The decoded events of a topic."""
    return _dataset(topic.table())


def test_every_message_is_counted_once() -> None:
    topic = small()
    topic.row(0, ts(4), after=account(2), offset=6, index=0, events=2, size=5000)
    topic.row(0, ts(4), after=account(3), offset=6, index=1, events=2, size=5000)
    result = timeline_query(decoded(topic), [])
    first, second = result.partitions
    assert (first.topic, first.partition, first.first, first.last) == ("bank", 0, 0, 6)
    assert (first.messages, first.rows, first.ddls, first.resolved, first.errors) == (7, 5, 1, 2, 0)
    assert first.size == 6 * 100 + 5000, "a message's size counts once, however many events it has"
    assert (second.messages, second.rows, second.ddls, second.resolved, second.errors) == (4, 0, 1, 2, 1)
    assert result.sizes == {7: 10, 13: 1}, "64 to 127 bytes, and 4096 to 8191"


def test_of_few_messages_each_is_its_own_bucket() -> None:
    buckets = timeline_query(decoded(small()), []).buckets
    rows = [
        (bucket.first, bucket.lowest, bucket.highest)
        for bucket in buckets["bank", 0]
        if bucket.lowest is not None
    ]
    assert rows == [(2, ts(1), ts(1)), (3, ts(2), ts(2)), (4, ts(3), ts(3))]
    assert [bucket.ddl_offset for bucket in buckets["bank", 0]] == [0, None, None, None, None, None]
    assert [bucket.resolved for bucket in buckets["bank", 0] if bucket.resolved] == [(ts(0), 1), (ts(3), 5)]
    assert [bucket.error_offset for bucket in buckets["bank", 1]] == [None, None, None, 3]


def test_many_messages_are_thinned_without_losing_the_outliers() -> None:
    """Ten thousand rows from offset 500,000 on, with one that is late, in 500 buckets."""
    rows = [
        {"topic": "big", "partition": 0, "offset": 500_000 + number, "index": 0, "events": 1, "size": 100,
         "kind": "row", "commit_ts": 5 if number == 7777 else 1000 + number}
        for number in range(10_000)
    ]  # fmt: skip
    result = timeline_query(_dataset(pa.Table.from_pylist(rows, DECODED)), [])
    buckets = result.buckets["big", 0]
    assert len(buckets) == 500
    assert buckets[0].first == 500_000
    assert min(bucket.lowest or 0 for bucket in buckets) == 5
    assert [bucket.first for bucket in buckets if bucket.lowest == 5] == [507_760]
    assert result.partitions[0].messages == 10_000


def test_partitions_that_findings_name_are_drawn_first() -> None:
    last = DRAWN + 1
    stream = decoded(Topic(partitions=last + 1).resolved(ts(0)))
    assert set(timeline_query(stream, []).buckets) == {("bank", number) for number in range(DRAWN)}
    named = timeline_query(
        stream, [finding("INV-RESOLVED", "error", 1, dataclasses.replace(event(0), partition=last))]
    )
    assert set(named.buckets) == {("bank", number) for number in (*range(DRAWN - 1), last)}
    assert len(named.partitions) == last + 1, "all are counted"


def test_an_empty_stream() -> None:
    result = timeline_query(decoded(Topic()), [finding("INV-FRAME", "not checked", 0)])
    assert (result.partitions, result.buckets, result.sizes) == ((), {}, {})
