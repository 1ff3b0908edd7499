"""Messages that were stored are written as they were encoded, with their headers and claim-check objects."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.event import ClaimObject, Message
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages
from ticdc_producer.targets.encoding.encoded_stream import CLAIM, COUNTS, ENCODED
from ticdc_producer.targets.encoding.message_rows import MessageRows
from ticdc_producer.targets.encoding.stored_messages import stored_messages

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


def entries(rows: MessageRows, batch: MessageBatch) -> pa.Table:
    """The entries of some messages, as an encoded stream has them: claim-check objects first."""
    messages = rows.with_offsets(batch)
    claims = [
        {
            "offset": messages["offset"][index].as_py(),
            "type": CLAIM,
            "key": one.name.encode(),
            "value": one.content,
        }
        for index, objects in batch.claims.items()
        for one in objects
    ]
    stored = pa.table([*messages.columns, batch.commit_ts], names=[*MESSAGES.names, "commit_ts"])
    parts = [pa.Table.from_pylist(claims, schema=_SCHEMA), stored.cast(_SCHEMA)]
    return pa.concat_tables(parts)


_SCHEMA = pa.schema([*MESSAGES, ENCODED.field("commit_ts")])


@given(st.lists(_MESSAGES, max_size=4), st.integers(1, 7))
def test_they_come_back_from_arrow_batches_of_any_size(parts: list[list[Message]], size: int) -> None:
    rows = MessageRows("t", 1)
    counts = pa.Table.from_pylist([{"type": COUNTS, "value": b"{}"}], schema=_SCHEMA)
    stored = pa.concat_tables([*(entries(rows, from_messages(part)) for part in parts), counts])
    batches = stored.combine_chunks().to_batches(max_chunksize=size)
    found = [message for batch in stored_messages(batches) for message in batch.messages()]
    assert found == [message for part in parts for message in part]
