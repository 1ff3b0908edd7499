"""What the canonical form of a message ignores, and what it does not."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.compression import compressed
from ticdc_producer.protocols.open_protocol.decoder import LENGTH, VERSION
from ticdc_producer.protocols.registry import wire_digests
from ticdc_producer.protocols.wire import EventBytes
from ticdc_producer.protocols.wire_digests import WireDigests, contents

TEXTS = st.text(alphabet='ab<"\\\u2028ü', max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


def digests_of(
    protocol: str, messages: Sequence[EventBytes], counts: Sequence[int], *, canonical: bool = True
) -> list[int]:
    digests = wire_digests(protocol, {}, canonical=canonical)
    assert digests is not None
    keys, values = zip(*messages, strict=True)
    return [*digests.of_messages(keys, values, counts, contents({})).tolist()]


def digest_of(protocol: str, value: bytes, *, canonical: bool = True) -> int:
    return digests_of(protocol, [(None, value)], [1], canonical=canonical)[0]


def shuffled(value: Any, order: random.Random) -> Any:
    """JSON with the members of its objects in another order."""
    if isinstance(value, dict):
        members = [(name, shuffled(member, order)) for name, member in value.items()]
        order.shuffle(members)
        return dict(members)
    return [shuffled(element, order) for element in value] if isinstance(value, list) else value


@given(VALUES, st.randoms(use_true_random=False), st.sampled_from((None, "lz4", "snappy")))
def test_order_of_members_white_space_escapes_and_compression_mean_nothing(
    value: Any, order: random.Random, method: str | None
) -> None:
    value = {"value": value, "more": value}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    other = json.dumps(shuffled(value, order), indent=1).encode()
    packed = other if method is None else compressed(json.dumps(value).encode(), method)
    assert digest_of("canal-json", text) == digest_of("canal-json", other) == digest_of("canal-json", packed)


@pytest.mark.parametrize("other", ["1.0", "1.00", "10", "-1", "true", "null", '"1"', "[1]", '{"a":1}'])
@pytest.mark.parametrize("canonical", [True, False])
def test_another_value_is_different(other: str, canonical: bool) -> None:
    first, second = (
        digest_of("canal-json", b'{"a":%b}' % text, canonical=canonical) for text in (b"1", other.encode())
    )
    assert first != second


TWO_CLOCKS = {
    "canal-json": b'{"id":0,"es":1,"ts":%d,"sqlType":{"ts":%d},"mysqlType":{"ts":"int"},"old":null}',
    "debezium": b'{"payload":{"source":{"ts_ms":1},"ts_ms":%d,"after":{"ts_ms":%d}}}',
    "simple": b'{"version":1,"buildTs":%d,"data":{"buildTs":%d}}',
}
"""Messages with a wall clock, and a column of the same name."""


@pytest.mark.parametrize("protocol", TWO_CLOCKS)
def test_a_wall_clock_costs_no_parser(protocol: str) -> None:
    first, later, other = (
        digest_of(protocol, TWO_CLOCKS[protocol] % numbers, canonical=False)
        for numbers in ((17, 4), (1234, 4), (17, 5))
    )
    assert first == later
    assert first != other


@pytest.mark.parametrize("clock", [b'"17"', b"1.7", b"-17", b"null", b"true", b"[17]"])
def test_another_type_of_a_wall_clock_is_different(clock: bytes) -> None:
    values = (b'{"version":1,"buildTs":%b}' % text for text in (b"17", clock))
    first, second = (digest_of("simple", value, canonical=False) for value in values)
    assert first != second


TYPES = b'{"id":0,"ts":1,"mysqlType":{%b},"old":null}'


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (b'"b":"enum(\'},\')","a":"int"', True),
        (b'"a":"enum(\'},\')","b":"int"', False),
        (b'"b":"enum(\'},\')","a":"int","a":"int"', False),
    ],
)
def test_the_order_of_types_in_canal_json_means_nothing(other: bytes, same: bool) -> None:
    values = (TYPES % types for types in (b'"a":"int","b":"enum(\'},\')"', other))
    first, second = (digest_of("canal-json", value, canonical=False) for value in values)
    assert (first == second) is same


def test_bytes_that_are_not_utf8_are_compared() -> None:
    first, second = (digest_of("debezium", b'{"a":"%b"}' % byte) for byte in (b"\xff", b"\xfe"))
    assert first != second


def test_a_key_is_compared() -> None:
    keys = (None, b"", b"{}", b'{"id":1}')
    assert len({*digests_of("debezium", [(key, b"{}") for key in keys], [1] * 4)}) == 4
    assert len({*digests_of("debezium", [(key, b"{}") for key in keys], [1] * 4, canonical=False)}) == 4


EVENTS = [(b'{"ts":%d}' % number, b'{"u":%d}' % number) for number in range(12)]


def batched(starts: set[int]) -> tuple[list[EventBytes], list[int]]:
    """The events in messages that start at some of them."""
    bounds = sorted({0, *starts, len(EVENTS)})
    messages: list[EventBytes] = []
    for start, end in pairwise(bounds):
        keys, values = (
            b"".join(LENGTH.pack(len(text)) + text for text in texts)
            for texts in zip(*EVENTS[start:end], strict=True)
        )
        messages.append((VERSION + keys, values))
    return messages, np.diff(bounds).tolist()


@given(st.sets(st.integers(1, len(EVENTS) - 1)), st.booleans())
def test_the_division_of_events_into_messages_means_nothing(starts: set[int], canonical: bool) -> None:
    alone = digests_of("open-protocol", *batched(set(range(len(EVENTS)))), canonical=canonical)
    assert digests_of("open-protocol", *batched(starts), canonical=canonical) == alone
    assert len(set(alone)) == len(EVENTS)


def test_the_events_of_a_message_with_fewer_parts_have_other_digests() -> None:
    messages, counts = batched({4})
    correct = digests_of("open-protocol", messages, counts)
    others = digests_of("open-protocol", messages, [counts[0], counts[1] + 1])
    assert others[:4] == correct[:4]
    assert not {0, *correct} & {*others[4:]}


@pytest.mark.parametrize("canonical", [True, False])
def test_a_value_of_no_bytes_differs_from_none(canonical: bool) -> None:
    key = VERSION + LENGTH.pack(16) + b'{"ts":1,"t":3}  '
    messages = [(key, value) for value in (LENGTH.pack(0), b"", None)]
    empty, *others = digests_of("open-protocol", messages, [1] * 3, canonical=canonical)
    assert empty not in others


@pytest.mark.parametrize("canonical", [True, False])
def test_two_rows_in_a_message_of_one_event_are_different(canonical: bool) -> None:
    messages = [(None, b'{"data":[{"a":"1"}]}'), (None, b'{"data":[{"a":"1"},{"a":"1"}]}')]
    digests = digests_of("canal-json", messages, [1, 2], canonical=canonical)
    assert 0 not in digests
    assert digests[0] not in digests[1:]


def claim_check(*, canonical: bool) -> WireDigests:
    digests = wire_digests("canal-json", {"large_message_handle_option": "claim-check"}, canonical=canonical)
    assert digests is not None
    return digests


def digest_with_object(name: str, content: bytes, *, canonical: bool = True) -> int:
    value = b'{"_tidb":{"claimCheckLocation":"s3://b/%b"}}' % name.encode()
    objects = contents({0: [ClaimObject(name, content)]})
    return int(claim_check(canonical=canonical).of_messages([None], [value], [1], objects)[0])


@pytest.mark.parametrize("canonical", [True, False])
def test_the_content_of_a_claim_check_object_is_compared(canonical: bool) -> None:
    first, second = (
        digest_with_object("a", content, canonical=canonical) for content in (b'{"a":1}', b'{"a":2}')
    )
    assert first != second


def test_the_location_of_a_claim_check_object_is_not_compared() -> None:
    assert digest_with_object("a", b'{"a":1,"b":2}') == digest_with_object("b", b'{"b":2,"a":1}')
    assert "value._tidb.claimCheckLocation" in claim_check(canonical=True).not_compared


def test_an_object_that_cannot_be_read_is_not_compared() -> None:
    def missing(_index: int, location: str) -> bytes:
        raise DecodeError("CLAIM-MISSING", "an object", part="claim", byte=0)

    value = b'{"_tidb":{"claimCheckLocation":"s3://b/a"}}'
    for canonical in (True, False):
        digests = claim_check(canonical=canonical)
        assert digests.of_messages([None], [value], [1], missing).tolist() == [0]


@pytest.mark.parametrize("included", [False, True])
def test_messages_that_differ_in_excluded_numbers_have_equal_digests(included: bool) -> None:
    digests = wire_digests("debezium", {"debezium_include_start_ts": included})
    assert digests is not None
    source = (
        b'{"payload":{"source":{"commit_ts":9,"start_ts":%d,"cluster_id":"c"},"ts_ms":%d,"after":{"id":%d}}}'
    )
    values = [source % numbers for numbers in ((1, 1, 1), (1, 20, 1), (30, 1, 1), (1, 1, 4))]
    first, later, started, other = digests.of_messages([None] * 4, values, [1] * 4, contents({}))
    assert (later == first, started == first, other == first) == (True, included, False)
