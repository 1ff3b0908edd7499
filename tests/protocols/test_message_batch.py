"""Messages as columns and as Python objects are the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.event import ClaimObject, Message
from ticdc_producer.protocols.message_batch import from_messages

MESSAGES = st.builds(
    Message,
    key=st.none() | st.binary(max_size=3),
    value=st.none() | st.binary(max_size=3),
    type=st.sampled_from(["row", "ddl", "resolved"]),
    commit_ts=st.integers(1, 9),
    events=st.integers(0, 3),
    headers=st.sampled_from([(), (("name", b"value"),)]),
    claims=st.sampled_from([(), (ClaimObject("1.json", b"{}"),)]),
)


@given(st.lists(MESSAGES, max_size=9))
def test_conversion_to_columns_and_objects_keeps_messages(messages: list[Message]) -> None:
    assert list(from_messages(messages).messages()) == messages


@given(st.lists(MESSAGES, max_size=600), st.data())
def test_slices_of_columns_equal_slices_of_the_list(messages: list[Message], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(messages)))
    length = data.draw(st.none() | st.integers(0, len(messages)))
    end = None if length is None else start + length
    assert list(from_messages(messages).slice(start, length).messages()) == messages[start:end]


@given(st.lists(MESSAGES, min_size=1, max_size=9))
def test_parts_contain_all_messages(messages: list[Message]) -> None:
    many = messages * 100
    parts = list(from_messages(many).parts())
    assert [message for part in parts for message in part.messages()] == many
