"""Which message carries which event, whatever was refused, too large, lost or repeated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import of_messages
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.event_offsets import PartitionPlaces

PLAN = EncodePlan(protocol="open-protocol", options={}, catalog=Catalog(()))


def encoder(refused: Iterable[int] = (), large: Iterable[int] = ()) -> PartitionEncoder:
    """One that has told so much already."""
    found = PartitionEncoder(PLAN, "t", 1)
    error = EncodeError("too large", code="X", table="d.t", commit_ts=5)
    found.refused.update(dict.fromkeys(sorted(refused), error))
    found.handle_key_only.extend(sorted(large))
    return found


def carried(places: PartitionPlaces, counts: list[int]) -> list[dict[str, Any]]:
    """The lines of messages that carry so many events each."""
    messages = [Message(b"", b"", "row", 1, events=count) for count in counts]
    return list(places.carried(of_messages(messages)).to_pylist())


def spots(lines: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
    return [(line["event"], line["offset"], line["index"]) for line in lines]


def test_numbers_pass_over_what_was_refused() -> None:
    places = PartitionPlaces("t", 1, encoder(refused=[1, 2, 5], large=[3]))
    lines = carried(places, [2, 0, 3])
    assert spots(lines) == [(0, 0, 0), (3, 0, 1), (4, 2, 0), (6, 2, 1), (7, 2, 2)]
    assert [line["event"] for line in lines if line["handle_key_only"]] == [3]
    assert {(line["topic"], line["partition"], line["refused"]) for line in lines} == {("t", 1, None)}
    refused = places.refused().to_pylist()
    assert [line["event"] for line in refused] == [1, 2, 5]
    assert {(line["offset"], line["refused"]) for line in refused} == {(None, "d.t")}


def test_a_lost_message_and_one_that_comes_twice() -> None:
    told = encoder()
    places = PartitionPlaces("t", 1, told)
    assert spots(carried(places, [1, 2])) == [(0, 0, 0), (1, 1, 0), (2, 1, 1)]
    # Events 3 and 4 are lost, then 5 comes, then 1 and 2 again, and 6.
    told.faults.extend([{"trap": "lost-message", "offset": 2}, {"offset": 2, "event": 5}])
    told.faults.extend([{"offset": 3, "event": 1}, {"offset": 4, "event": 6}])
    assert spots(carried(places, [1, 2, 1])) == [(5, 2, 0), (1, 3, 0), (2, 3, 1), (6, 4, 0)]
    assert spots(carried(places, [1])) == [(7, 5, 0)]


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=5),
    st.sets(st.integers(0, 40)),
)
def test_messages_may_come_in_batches_of_any_size(batches: list[list[int]], refused: set[int]) -> None:
    together = PartitionPlaces("t", 1, encoder(refused))
    apart = PartitionPlaces("t", 1, encoder(refused))
    whole = carried(together, [count for batch in batches for count in batch])
    assert [line for batch in batches for line in carried(apart, batch)] == whole
    sent = [number for number in range(100) if number not in refused]
    assert [line["event"] for line in whole] == sent[: len(whole)]


def test_a_partition_without_messages_has_no_lines() -> None:
    places = PartitionPlaces("t", 1, encoder())
    assert carried(places, []) == []
    assert isinstance(places.refused(), pa.RecordBatch)
    assert places.refused().num_rows == 0
