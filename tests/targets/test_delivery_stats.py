"""Delivery statistics of a partition, counted per batch."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.event import Message
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages
from ticdc_producer.targets.message_rows import DeliveryStats, KindCount

_MESSAGES = st.lists(
    st.builds(
        Message,
        key=st.none() | st.binary(max_size=5),
        value=st.none() | st.binary(max_size=9),
        type=st.sampled_from(["row", "ddl", "resolved"]),
        commit_ts=st.just(1),
        events=st.integers(0, 3),
    ),
    max_size=12,
)


@given(st.lists(_MESSAGES, max_size=4))
def test_counting_batches_equals_counting_messages(parts: list[list[Message]]) -> None:
    account, batches = DeliveryStats(), [from_messages(part) for part in parts]
    assert list(account.counted(batches)) == batches
    messages = [message for part in parts for message in part]
    assert account.messages == len(messages)
    assert Counter(message.type for message in messages) == {
        kind: tally.messages for kind, tally in account.kinds.items()
    }
    for kind, tally in account.kinds.items():
        of_kind = [message for message in messages if message.type == kind]
        assert tally.events == sum(message.events for message in of_kind)
        assert tally.size == sum(message.size for message in of_kind)


def test_a_batch_without_types_has_rows() -> None:
    whole = from_messages([Message(b"k", b"value", "row", 1, events=2)])
    account = DeliveryStats()
    batch = MessageBatch(key=whole.key, value=whole.value, commit_ts=whole.commit_ts, events=whole.events)
    assert len(list(account.counted([batch]))) == 1
    assert account.kinds == {"row": KindCount(messages=1, events=2, size=6)}
