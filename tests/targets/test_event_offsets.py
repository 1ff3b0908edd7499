"""Event offsets with rejected, too large, lost and repeated events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.encode import EncodePlan, PartitionEncoder, PartitionEventOffsets

PLAN = EncodePlan(protocol="open-protocol", options={}, catalog=Catalog(()))


def encoder(rejected: Iterable[int] = (), large: Iterable[int] = ()) -> PartitionEncoder:
    """An encoder that has already reported these rejected and large events."""
    partition_encoder = PartitionEncoder(PLAN, "t", 1)
    error = EncodeError("too large", code="X", table="d.t", commit_ts=5)
    partition_encoder.rejected.update(dict.fromkeys(sorted(rejected), error))
    partition_encoder.handle_key_only.extend(sorted(large))
    return partition_encoder


def rows_of(offsets: PartitionEventOffsets, counts: list[int]) -> list[dict[str, Any]]:
    """The rows of messages with these event counts."""
    messages = [Message(b"", b"", "row", 1, events=count) for count in counts]
    return list(offsets.event_offsets(from_messages(messages)).to_pylist())


def positions(rows: list[dict[str, Any]]) -> list[tuple[int, int, int]]:
    return [(row["event_ordinal"], row["offset"], row["index"]) for row in rows]


def test_ordinals_skip_rejected_events() -> None:
    offsets = PartitionEventOffsets(encoder(rejected=[1, 2, 5], large=[3]))
    rows = rows_of(offsets, [2, 0, 3])
    assert positions(rows) == [(0, 0, 0), (3, 0, 1), (4, 2, 0), (6, 2, 1), (7, 2, 2)]
    assert [row["event_ordinal"] for row in rows if row["handle_key_only"]] == [3]


def test_a_lost_and_a_repeated_message() -> None:
    faulty = encoder()
    offsets = PartitionEventOffsets(faulty)
    assert positions(rows_of(offsets, [1, 2])) == [(0, 0, 0), (1, 1, 0), (2, 1, 1)]
    # Events 3 and 4 are lost, then 5 comes, then 1 and 2 again, and 6.
    faulty.faults.extend([{"trap": "lost-message", "offset": 2}, {"offset": 2, "event_ordinal": 5}])
    faulty.faults.extend([{"offset": 3, "event_ordinal": 1}, {"offset": 4, "event_ordinal": 6}])
    assert positions(rows_of(offsets, [1, 2, 1])) == [(5, 2, 0), (1, 3, 0), (2, 3, 1), (6, 4, 0)]
    assert positions(rows_of(offsets, [1])) == [(7, 5, 0)]


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=5),
    st.sets(st.integers(0, 40)),
)
def test_messages_may_come_in_batches_of_any_size(batches: list[list[int]], rejected: set[int]) -> None:
    together = PartitionEventOffsets(encoder(rejected))
    apart = PartitionEventOffsets(encoder(rejected))
    whole = rows_of(together, [count for batch in batches for count in batch])
    assert [row for batch in batches for row in rows_of(apart, batch)] == whole
    sent = [number for number in range(100) if number not in rejected]
    assert [row["event_ordinal"] for row in whole] == sent[: len(whole)]


def test_a_partition_without_messages_has_no_rows() -> None:
    assert rows_of(PartitionEventOffsets(encoder()), []) == []
