"""Messages that were stored are written as they were encoded, with their headers and claim-check objects."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.event import ClaimObject, Message
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.message_rows import STORED_MESSAGES, MessageRows
from ticdc_producer.targets.record_batches import claim_objects, stored_messages

_CLAIMS = st.lists(
    st.builds(ClaimObject, st.text("ab", min_size=1, max_size=3), st.binary(max_size=3)), max_size=2
)
_HEADERS = st.lists(st.tuples(st.text("xy", max_size=2), st.binary(max_size=2)), max_size=2)
_MESSAGES = st.lists(
    st.builds(
        Message,
        key=st.none() | st.binary(max_size=3),
        value=st.none() | st.binary(max_size=3),
        type=st.sampled_from(["row", "ddl", "resolved", "schema"]),
        commit_ts=st.integers(0, 1 << 60),
        events=st.integers(0, 3),
        headers=st.one_of(st.just(()), _HEADERS.map(tuple)),
        claims=st.one_of(st.just(()), _CLAIMS.map(tuple)),
    ),
    max_size=8,
)


@given(st.lists(_MESSAGES, max_size=4), st.integers(1, 7))
def test_they_come_back_from_arrow_batches_of_any_size(parts: list[list[Message]], size: int) -> None:
    rows = MessageRows("t", 1)
    batches = [rows.with_offsets(from_messages(part)) for part in parts]
    stored = pa.Table.from_batches(batches, STORED_MESSAGES)
    cut = stored.combine_chunks().to_batches(max_chunksize=size)
    arrived = [message for batch in stored_messages(cut) for message in batch.messages()]
    assert arrived == [message for part in parts for message in part]
    claims = [claim for part in parts for message in part for claim in message.claims]
    assert [*claim_objects(cut)] == claims
