"""Message faults do not depend on how messages are batched, and their notes locate every event."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import load_messages
from ticdc_producer.errors import DecodeError
from ticdc_producer.faults.message_faults import MessageFaults
from ticdc_producer.faults.plan import plan_faults
from ticdc_producer.faults.trap import TrapSetting
from ticdc_producer.model.event import Message, RowEvent
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.delivery import TopicPartitions
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages

CLOCK = CommitClock()
FILES = {
    "open-protocol": "keys.open.max-batch-size-1.jsonl",
    "craft": "keys.craft.max-batch-size-1.jsonl",
    "canal-json": "keys.canal-json.tidb-extension.jsonl",
    "debezium": "keys.debezium.jsonl",
}
MESSAGES = 400


def _options(protocol: str) -> dict[str, Any]:
    return registry.protocol_spec(protocol).select({"enable_tidb_extension": True, "max_batch_size": 3})


@cache
def samples(protocol: str) -> list[tuple[bytes | None, bytes | None]]:
    """Row messages of real TiCDC, of one event each."""
    decode = registry.decoder(protocol, _options(protocol)).events
    pairs = [
        (message.key, message.value)
        for message in load_messages(GOLDEN / "visible" / FILES[protocol])
        if not message.error
    ]
    return [pair for pair in pairs if [type(event) for event in decode(*pair)] == [RowEvent]]


def stream(protocol: str) -> list[Message]:
    """One message a second; every tenth is a resolved event."""
    rows = samples(protocol)
    resolved = registry.encoder(protocol, _options(protocol)).resolved
    messages: list[Message] = []
    for number in range(MESSAGES):
        key, value = rows[number % len(rows)]
        end = resolved(CLOCK.ts(number))
        messages.append(
            end if number % 10 == 9 and end is not None else Message(key, value, "row", CLOCK.ts(number))
        )
    return messages


def batches(messages: list[Message], cuts: list[int]) -> list[MessageBatch]:
    bounds = sorted({0, len(messages), *(cut % len(messages) for cut in cuts)})
    return [from_messages(messages[start:end]) for start, end in pairwise(bounds)]


def faulty(
    protocol: str, settings: dict[str, TrapSetting], cuts: list[int]
) -> tuple[list[Message], list[dict[str, Any]]]:
    plan = plan_faults(settings, seed=5, clock=CLOCK, commits=range(MESSAGES), ddl_ts=())
    options = _options(protocol)
    stage = MessageFaults(
        plan=plan, partitions=TopicPartitions(("t",), (1,)), protocol=protocol, options=options
    )
    notes: list[dict[str, Any]] = []
    sent = [
        message
        for batch in stage(batches(stream(protocol), cuts), "t", 0, notes)
        for message in batch.messages()
    ]
    return sent, notes


def numbered(sent: list[Message], notes: list[dict[str, Any]]) -> list[tuple[int, Message]]:
    """Each message with the ordinal of its first event, as the notes give it."""
    jumps = {note["offset"]: note["event_ordinal"] for note in notes if "event_ordinal" in note}
    event, pairs = 0, []
    for offset, message in enumerate(sent):
        event = jumps.get(offset, event)
        pairs.append((event, message))
        event += message.events
    return pairs


@given(cuts=st.lists(st.integers(1, MESSAGES - 1), max_size=6))
@pytest.mark.parametrize(
    "settings",
    [
        {"duplicate-message": TrapSetting(rate=0.2)},
        {"lost-message": TrapSetting(times=3), "duplicate-message": TrapSetting(rate=0.1)},
        {"poison": TrapSetting(), "truncated": TrapSetting(), "corrupt-bytes": TrapSetting()},
        {"mixed-kinds": TrapSetting(), "oversized": TrapSetting()},
    ],
    ids=lambda settings: "+".join(settings),
)
def test_every_event_is_found_again_however_the_messages_arrive(
    settings: dict[str, TrapSetting], cuts: list[int]
) -> None:
    clean = stream("open-protocol")
    sent, notes = faulty("open-protocol", settings, cuts)
    whole = faulty("open-protocol", settings, [])
    if "mixed-kinds" not in settings:  # two messages have to arrive together to be joined
        assert (sent, notes) == whole
    for event, message in numbered(sent, notes):
        if message.events == 1:
            assert message == clean[event]
    assert {note["trap"] for note in notes if "trap" in note} == settings.keys()


@pytest.mark.parametrize("protocol", FILES)
def test_damaged_messages_do_not_decode_and_their_neighbours_do(protocol: str) -> None:
    settings = {name: TrapSetting(times=3) for name in ("corrupt-bytes", "truncated", "poison")}
    sent, notes = faulty(protocol, settings, [])
    decode = registry.decoder(protocol, _options(protocol)).events
    damaged = {note["offset"] for note in notes if "trap" in note}
    assert len(damaged) == 9
    for offset, message in enumerate(sent):
        if offset not in damaged:
            assert list(decode(message.key, message.value))
            continue
        with pytest.raises(DecodeError):
            list(decode(message.key, message.value))


def test_joined_messages_hold_the_events_of_all() -> None:
    sent, notes = faulty("open-protocol", {"oversized": TrapSetting(), "mixed-kinds": TrapSetting()}, [])
    decode = registry.decoder("open-protocol", {}).events
    faulty_messages = {note["trap"]: sent[note["offset"]] for note in notes}
    assert {
        name: len(list(decode(message.key, message.value))) for name, message in faulty_messages.items()
    } == {
        "oversized": 4,
        "mixed-kinds": 2,
    }
