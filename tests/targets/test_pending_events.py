"""Events find the messages that carry them, in batches of any size, also if messages are lost or repeated."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.shapes import CARRIED, EVENT_OFFSETS
from ticdc_producer.targets.message_rows import PendingEvents

EVENTS = pa.schema([field for field in CARRIED if field.name not in ("offset", "index", "handle_key_only")])


def events(first: int, count: int) -> pa.RecordBatch:
    """Successive events; the commit-ts of each is its ordinal."""
    rows = [{"topic": "t", "partition": 0, "commit_ts": first + n, "kind": 1} for n in range(count)]
    return pa.RecordBatch.from_pylist(rows, schema=EVENTS)


def offsets(first_offset: int, messages: list[list[int]]) -> pa.RecordBatch:
    """The positions of the events of some messages, by their ordinals."""
    rows: list[dict[str, Any]] = [
        {"event_ordinal": ordinal, "offset": first_offset + number, "index": index, "handle_key_only": False}
        for number, message in enumerate(messages)
        for index, ordinal in enumerate(message)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=EVENT_OFFSETS)


def positions(
    pending: PendingEvents, first_offset: int, messages: list[list[int]]
) -> list[tuple[int, int, int]]:
    rows = [row for batch in pending.at_offsets(offsets(first_offset, messages)) for row in batch.to_pylist()]
    return [(row["commit_ts"], row["offset"], row["index"]) for row in rows]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=8),
    st.sets(st.integers(0, 31)),
    st.integers(1, 3),
    st.integers(1, 4),
)
def test_each_event_gets_its_position(
    batches: list[int], rejected: set[int], per_message: int, per_batch: int
) -> None:
    pending, first = PendingEvents(), 0
    source = []
    for count in batches:
        source.append(events(first, count))
        first += count
    for _ in pending.passing(source):
        pass
    sent = [ordinal for ordinal in range(first) if ordinal not in rejected]
    messages = [sent[at : at + per_message] for at in range(0, len(sent), per_message)]
    expected = [
        (ordinal, offset, index)
        for offset, message in enumerate(messages)
        for index, ordinal in enumerate(message)
    ]
    parts = [
        positions(pending, at, messages[at : at + per_batch]) for at in range(0, len(messages), per_batch)
    ]
    assert [row for part in parts for row in part] == expected


def test_a_message_that_is_sent_again_finds_its_events() -> None:
    pending = PendingEvents(repeat_distance=3)
    for _ in pending.passing(events(first, 1) for first in range(8)):
        pass
    assert positions(pending, 0, [[0], [1]]) == [(0, 0, 0), (1, 1, 0)]
    assert positions(pending, 2, [[3]]) == [(3, 2, 0)], "message 2 is lost"
    assert positions(pending, 3, [[0, 1], [4, 5]]) == [(0, 3, 0), (1, 3, 1), (4, 4, 0), (5, 4, 1)]
    assert positions(pending, 5, [[1], [6]]) == [(1, 5, 0), (6, 6, 0)]
    assert positions(pending, 7, [[3], [4, 5]]) == [(3, 7, 0), (4, 8, 0), (5, 8, 1)]
    assert positions(pending, 9, []) == []
