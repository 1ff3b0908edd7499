"""The sample of a stream: bounded, with the messages that findings name, and decoded once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from tests.reports.verdicts import event, finding
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.page.sample import LONGEST_EVENT, MOST_BYTES, MOST_MESSAGES, Sample, message_sample
from ticdc_producer.page.timeline import PartitionCount
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.verifier.messages import Messages

COUNT = 1000


def row_message(number: int, text: str = "x") -> dict[str, Any]:
    value = (
        '{"id":0,"database":"bank","table":"accounts","pkNames":["id"],"isDdl":false,"type":"INSERT","es":ES,'
        '"ts":1,"sql":"","sqlType":{"id":4,"v":2005},"mysqlType":{"id":"int","v":"text"},"old":null,'
        f'"data":[{{"id":"{number}","v":"{text}"}}],"_tidb":{{"commitTs":{number + 1 << 18}}}}}'
    ).replace("ES", str(number + 1))
    return {
        "topic": "bank",
        "partition": number % 2,
        "offset": number // 2,
        "value": value.encode(),
        "headers": [],
    }


def sample(
    rows: Sequence[dict[str, Any]], *offsets: int, size: int = 1, read: list[int] | None = None
) -> Sample:
    """Return the sample of a stream with findings at some offsets.

    :param size: bytes of a partition.
    :param read: gets the numbers of messages that are decoded for the sample.
    """
    table = pa.Table.from_pylist([{"timestamp": 0, **row} for row in rows], MESSAGES)
    decoder = event_decoder("canal-json", {"enable_tidb_extension": True})

    def decode(batches: Batches) -> Batches:
        few = [*batches]
        if read is not None:
            read.append(sum(batch.num_rows for batch in few))
        return decoder(iter(few))

    partitions = [
        PartitionCount(
            topic="bank", partition=number, first=0, last=COUNT // 2 - 1, messages=COUNT // 2, size=size,
            rows=1, ddls=0, resolved=0, errors=0,
        )
        for number in (0, 1)
    ]  # fmt: skip
    named = [replace(event(offset), topic="bank", partition=0) for offset in offsets]
    messages = Messages(LocalEngine().of_batches(table.to_batches(), MESSAGES))
    findings = [finding("INV-RESOLVED", "error", len(named), *named)]
    return message_sample(messages, decode, lambda _key, _value: [], partitions, findings)


def test_the_messages_of_findings_and_the_first_of_each_partition() -> None:
    result = sample([row_message(number) for number in range(COUNT)], 490)
    positions = [(message["partition"], message["offset"]) for message in result.messages]
    assert (0, 490) in positions
    assert positions == sorted(positions)
    assert {(0, 0), (1, 0)} <= set(positions)
    assert len(positions) <= MOST_MESSAGES
    assert result.examples == {("bank", 0, 490, 0): result.examples["bank", 0, 490, 0]}
    assert "id='980'" in result.examples["bank", 0, 490, 0]
    content: Any = next(message for message in result.messages if message["offset"] == 490)
    assert content["events"][0]["rows"] == ['["bank", "accounts", "980"]']


def test_large_messages_make_no_large_sample() -> None:
    result = sample([row_message(number, "y" * 50_000) for number in range(COUNT // 2)], 100, 101)
    size = sum(len(str(message)) for message in result.messages)
    assert size < 2 * MOST_BYTES
    named = [message["offset"] for message in result.messages if message["partition"] == 0]
    assert {100, 101} <= set(named), "those of findings come first"
    assert all(len(text) < LONGEST_EVENT + 100 for text in result.examples.values())


def test_no_more_large_messages_are_read_than_fill_the_sample() -> None:
    read: list[int] = []
    sample([row_message(number) for number in range(COUNT)], size=COUNT // 2 * (MOST_BYTES // 3), read=read)
    assert read == [2 * 3], "three of each partition"


def test_a_position_that_a_file_has_many_times() -> None:
    result = sample([row_message(0)] * COUNT, 0)
    assert len(result.messages) == MOST_MESSAGES
    assert {message["offset"] for message in result.messages} == {0}


@pytest.mark.parametrize("offsets", [(), (9999,)])
def test_what_no_message_has_is_no_part_of_it(offsets: tuple[int, ...]) -> None:
    result = sample([row_message(number) for number in range(10)], *offsets)
    assert len(result.messages) == 10
    assert result.examples == {}
