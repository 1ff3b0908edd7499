"""Orders of delivery: each is one that Kafka allows."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.conformance.fuzz.in_process import InProcess
from tests.conformance.fuzz.reference import consumer
from ticdc_producer.conformance.case import TopicCase
from ticdc_producer.conformance.delivery import ORDERS, Order, delivered
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.wire import KafkaRecord

RECORDS = [
    KafkaRecord(topic="t", partition=partition, offset=offset, key=None, value=f"{partition}/{offset}")
    for partition, count in enumerate([8, 5, 0, 3])
    for offset in range(count)
]


def first_deliveries(records: list[KafkaRecord]) -> list[KafkaRecord]:
    return list({(record.partition, record.offset): record for record in records}.values())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(5))
def test_every_message_arrives_and_partitions_are_in_order(order: Order, seed: int) -> None:
    records = delivered(RECORDS, order, seed)
    assert sorted(first_deliveries(records), key=lambda record: (record.partition, record.offset)) == RECORDS
    for partition in range(4):
        offsets = [record.offset for record in first_deliveries(records) if record.partition == partition]
        assert offsets == sorted(offsets)
    assert delivered(RECORDS, order, seed) == records


@pytest.mark.parametrize("order", [order for order in ORDERS if order != "rebalance"])
def test_only_a_rebalance_delivers_again(order: Order) -> None:
    assert len(delivered(RECORDS, order, 0)) == len(RECORDS)


def test_after_a_rebalance_partitions_are_read_from_the_commit_again() -> None:
    records = delivered(RECORDS, "rebalance", 3)
    assert len(records) > len(RECORDS)
    for partition in range(4):
        offsets = [record.offset for record in records if record.partition == partition]
        falls = [index for index in range(1, len(offsets)) if offsets[index] <= offsets[index - 1]]
        assert len(falls) <= 1  # from then on nothing is left out
        assert all(later == earlier + 1 for earlier, later in pairwise(offsets) if later > earlier)


def test_one_partition_after_the_other() -> None:
    partitions = [record.partition for record in delivered(RECORDS, "one-after-the-other", 1)]
    changes = sum(earlier != other for earlier, other in pairwise(partitions))
    assert changes == 2


def test_far_apart_means_that_a_partition_waits_for_all_others() -> None:
    records = delivered(RECORDS, "far-apart", 2)
    last = records[-1].partition
    others = max(index for index, record in enumerate(records) if record.partition != last)
    assert all(record.partition == last for record in records[others + 1 :])
    assert len(records) - others - 1 >= 2


def test_no_messages() -> None:
    assert [delivered([], order, 0) for order in ORDERS] == [[]] * len(ORDERS)


@pytest.mark.parametrize(
    ("further", "requested"),
    [
        ((), ["test.u"]),
        (("RENAME TABLE test.t TO test.s",), ["test.u"]),
        (("DROP TABLE test.t", "CREATE TABLE test.t (k INT PRIMARY KEY)"), ["test.u"]),
    ],
    ids=["", "renamed", "created again"],
)
def test_tables_with_rows_of_the_handle_key_alone_are_not_requested(
    further: tuple[str, ...], requested: list[str]
) -> None:
    example = FuzzExample(
        sql=(
            "CREATE TABLE test.t (k INT PRIMARY KEY, v VARCHAR(2000))",
            "CREATE TABLE test.u (k INT PRIMARY KEY)",
            f"INSERT INTO test.t VALUES (1, '{'x' * 1000}')",
            "INSERT INTO test.u VALUES (1)",
            *further,
        ),
        protocol="canal-json",
        options={
            "enable-tidb-extension": True,
            "large-message-handle-option": "handle-key-only",
            "max-message-bytes": 900,
        },
        follows_ddl=True,
    )
    cases = [*build_topic(example).cases("x")]
    of_topic = [case.request for case in cases if isinstance(case, TopicCase)]
    assert [request.tables for request in of_topic] == [requested]
    assert asyncio.run(InProcess(consumer()).answer(cases)).wrong is None
