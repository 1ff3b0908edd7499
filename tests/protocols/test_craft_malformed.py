"""Each rule of the strict decoder, violated separately; and the cost of hostile messages."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.protocols.craft_dumps import ROW
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Op, ResolvedEvent, RowEvent
from ticdc_producer.protocols.craft.decoder import CraftDecoder
from ticdc_producer.protocols.craft.wire import delta_varint_chunk, uvarint, varint

HEAD = b"\x05\x01\x01\x01\x01"
DDL_HEAD = b"\x05\x02\x01\x01\x01"


def _sizes(*sizes: int) -> bytes:
    return uvarint(len(sizes)) + delta_varint_chunk(sizes)


def _message(
    body: bytes,
    *groups: bytes,
    header: bytes = HEAD,
    terms: bytes = b"\x01\x01c",
    meta: bytes = b"",
) -> bytes:
    """A message of one event, correct except for the given parts."""
    meta = meta or _sizes(len(header), len(terms))
    return _closed(header + body + terms, meta + _sizes(len(body)) + b"".join(groups))


def _closed(sections: bytes, tables: bytes) -> bytes:
    return b"\x01" + sections + tables + uvarint(len(tables))[::-1]


def _group(code: int, flag: int, value: bytes | None, *, kind: int = 1, name: int = 0) -> bytes:
    length = -1 if value is None else len(value)
    return bytes((kind, 1)) + varint(name) + uvarint(code) + uvarint(flag) + varint(length) + (value or b"")


def _one_group(group: bytes) -> bytes:
    return _message(group, _sizes(len(group)))


def _code(value: bytes | None) -> str:
    with pytest.raises(DecodeError) as error:
        list(CraftDecoder().events(None, value))
    assert error.value.part == "value"
    return error.value.code


GOOD = _group(3, 0, b"\x02")


def test_the_message_that_the_next_tests_damage_is_correct() -> None:
    (event,) = CraftDecoder().events(b"whatever", _one_group(GOOD))
    assert isinstance(event, RowEvent)
    assert event.after == {"c": b"1"}


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "CRAFT-EMPTY"),
        (b"", "CRAFT-EMPTY"),
        (b"\x02" + ROW[1:], "CRAFT-VERSION"),
        (b"\x80", "CRAFT-VARINT"),
        (b"\x01", "CRAFT-TAIL"),
        (b"\x01\x80", "CRAFT-TAIL"),
        (b"\x01\x00\x02", "CRAFT-TAIL"),
        (b"\x01\x00", "CRAFT-TABLES"),
        (b"\x01\x00\x01", "CRAFT-TABLES"),
        (_message(GOOD, _sizes(len(GOOD)), meta=_sizes(5)), "CRAFT-TABLES"),
        (_message(GOOD, _sizes(len(GOOD)), meta=_sizes(5, -3)), "CRAFT-TABLES"),
        (_message(GOOD, _sizes(len(GOOD)), meta=_sizes(5, 4)), "CRAFT-LAYOUT"),
        (_message(GOOD, _sizes(len(GOOD)), meta=_sizes(4, 3)), "CRAFT-LAYOUT"),
        (_message(b"x", header=b"\x05\x03\x01\x01\x01"), "CRAFT-LAYOUT"),
        (_message(GOOD, _sizes(len(GOOD)), header=HEAD + b"\x00"), "CRAFT-HEADER"),
        (_message(GOOD, _sizes(len(GOOD)), header=HEAD[:-1]), "CRAFT-HEADER"),
        (_message(GOOD, _sizes(len(GOOD)), header=uvarint(1 << 63) + HEAD[1:]), "CRAFT-HEADER"),
        (_message(GOOD, _sizes(len(GOOD)), header=b"\x05\x01\x03\x01\x01"), "CRAFT-HEADER"),
        (_message(GOOD, _sizes(len(GOOD)), header=b"\x05\x04\x01\x01\x01"), "CRAFT-TYPE"),
        (_message(GOOD, _sizes(len(GOOD)), header=b"\x05\x01\x01\x02\x01"), "CRAFT-TERM"),
        (_message(GOOD, _sizes(len(GOOD)), header=b"\x05\x01\x01\x03\x01"), "CRAFT-TERM"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x00"), "CRAFT-DICT"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x01\x02c"), "CRAFT-DICT"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x01\x01cc"), "CRAFT-DICT"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x01\x01\xff"), "CRAFT-DICT"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x02\x01\x01cc"), "CRAFT-DICT"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x02\x01\x00c"), "CRAFT-DICT"),
        (_message(GOOD, _sizes(len(GOOD)), terms=b"\x02\x01\x01cd"), "CRAFT-TERM"),
        (_message(b"\x01\x00", header=DDL_HEAD[:-1] + b"\x02", terms=b"\x02\x01\x01cd"), "CRAFT-TERM"),
        (_message(GOOD, _sizes(len(GOOD)), header=b"\x85\x00" + HEAD[1:]), "CRAFT-VARINT"),
        (_message(GOOD, _sizes(len(GOOD)), header=b"\x05\x81\x00\x01\x01\x01"), "CRAFT-VARINT"),
        (_one_group(_group(3, 0, b"\x82\x00")), "CRAFT-VALUE"),
        (_message(GOOD), "CRAFT-GROUPS"),
        (_message(GOOD, _sizes(len(GOOD)), _sizes(1)), "CRAFT-GROUPS"),
        (_message(GOOD, _sizes(len(GOOD) - 1)), "CRAFT-GROUPS"),
        (_message(GOOD + GOOD, _sizes(len(GOOD), len(GOOD))), "CRAFT-GROUPS"),
        (_message(GOOD, _sizes(len(GOOD), 0)), "CRAFT-GROUPS"),
        (_message(GOOD, _sizes(len(GOOD), 0, 0)), "CRAFT-GROUPS"),
        (_one_group(_group(3, 0, b"\x02", kind=3)), "CRAFT-GROUPS"),
        (_one_group(b"\x01\x00"), "CRAFT-GROUPS"),
        (_one_group(GOOD + b"\x00"), "CRAFT-GROUPS"),
        (_one_group(_group(3, 0, b"\x02", name=-1)), "CRAFT-TERM"),
        (_one_group(_group(3, 0, b"\x02", name=1)), "CRAFT-TERM"),
        (_one_group(b"\x01\x02" + b"\x00\x00" + b"\x03\x03" + b"\x00\x00" + b"\x01\x01"), "CRAFT-TERM"),
        (_one_group(_group(256, 0, None)), "CRAFT-COLUMN"),
        (_one_group(_group(3, 1 << 32, None)), "CRAFT-COLUMN"),
        (_one_group(b"\x01\x01\x00\x03\x00\x03"), "CRAFT-LENGTH"),
        (_one_group(b"\x01\x01\x00\x03\x00\x04\x02"), "CRAFT-LENGTH"),
        (_one_group(b"\x01\x01\x00\x03\x00\x80"), "CRAFT-VARINT"),
        (_message(b"\x80", header=DDL_HEAD), "CRAFT-VARINT"),
        (_message(b"\x80\x02\x00", header=DDL_HEAD), "CRAFT-DDL"),
        (_message(b"\x01\x02q", header=DDL_HEAD), "CRAFT-DDL"),
        (_message(b"\x01\x01qq", header=DDL_HEAD), "CRAFT-DDL"),
        (_message(b"\x01\x01\xff", header=DDL_HEAD), "CRAFT-DDL"),
    ],
)  # fmt: skip
def test_each_broken_rule_has_its_code(value: bytes | None, code: str) -> None:
    assert _code(value) == code


@pytest.mark.parametrize(
    ("code", "flag", "content"),
    [
        (1, 0, varint(128)),
        (1, 0x80, uvarint(256)),
        (13, 0x80, varint(2156)),
        (13, 0x80, varint(-1)),
        (247, 0, uvarint(65536)),
        (3, 0, b""),
        (3, 0, b"\x02\x00"),
        (8, 0x80, b"\x80"),
        (16, 0x80, b"\xff" * 9 + b"\x02"),
        (4, 0, bytes(4)),
        (5, 0, bytes(9)),
        (5, 0, b"\x00" * 6 + b"\xf0\x7f"),  # infinity
        (5, 0, b"\x00" * 6 + b"\xf8\x7f"),  # not a number
        (4, 0, b"\x01" + b"\x00" * 5 + b"\xf0\x3f"),  # more digits than 32 bits have
        (4, 0, b"\x00" * 6 + b"\xf0\x7e"),  # too large for 32 bits
        (10, 1, b"yesterday"),
        (10, 1, b"2021-01/02"),
        (12, 1, b"2021-01-02"),
        (11, 1, b"1:00:00"),
        (246, 1, b"1e3"),
        (225, 1, b"1,2"),
        (245, 1, b'"\xff"'),
        (0, 0, b""),
        (6, 0, b"x"),
        (255, 0, b"x"),
        (99, 0, b"x"),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_rejected(code: int, flag: int, content: bytes) -> None:
    assert _code(_one_group(_group(code, flag, content))) == "CRAFT-VALUE"


def test_year_is_signed_whatever_its_flag() -> None:
    (event,) = CraftDecoder().events(None, _one_group(_group(13, 0x80, b"\xa0\x1f")))
    assert isinstance(event, RowEvent)
    assert event.after == {"c": b"2000"}


def test_old_values_may_come_first() -> None:
    old, new = _group(3, 0, b"\x02", kind=2), _group(3, 0, b"\x04", kind=1)
    (event,) = CraftDecoder().events(None, _message(old + new, _sizes(len(old), len(new))))
    assert isinstance(event, RowEvent)
    assert (event.op, event.before, event.after) == (Op.UPDATE, {"c": b"1"}, {"c": b"2"})


def test_events_of_several_kinds_in_one_message_keep_their_groups() -> None:
    header = b"\x05\x00" + b"\x03\x01" + b"\x01\x00" + b"\x01\x00" + b"\x01\x00"
    tables = _sizes(len(header), 3) + _sizes(0, len(GOOD)) + _sizes(len(GOOD))
    first, second = CraftDecoder().events(None, _closed(header + GOOD + b"\x01\x01c", tables))
    assert first == ResolvedEvent(commit_ts=5)
    assert isinstance(second, RowEvent)
    assert second.after == {"c": b"1"}


def _claiming(size: int) -> list[bytes]:
    """Messages in which one part claims this number of elements or bytes."""
    right = _sizes(len(GOOD))
    return [
        _message(GOOD, right, meta=uvarint(size) + b"\x0a\x06"),
        _message(GOOD, right, meta=_sizes(size, 3)),
        _message(GOOD, uvarint(size) + b"\x02"),
        _message(GOOD, _sizes(size)),
        _message(GOOD, right, terms=uvarint(size) + b"\x01c"),
        _message(GOOD, right, terms=b"\x01" + uvarint(size) + b"c"),
        _one_group(b"\x01" + uvarint(size) + bytes(4)),
        _one_group(b"\x01\x01\x00\x0f\x00" + varint(size)),
        _message(b"\x01" + uvarint(size), header=DDL_HEAD),
        _closed(HEAD, b"")[:-1] + uvarint(size)[::-1],
    ]


@pytest.mark.parametrize("value", _claiming(1 << 40) + _claiming(1 << 62))
def test_claimed_sizes_are_checked_before_anything_is_allocated(value: bytes) -> None:
    assert _peak_memory(value) < 1 << 20


def test_events_without_headers_cost_no_more_than_their_sizes() -> None:
    header, count = bytes(100), 300_000
    tables = _sizes(len(header), 0) + uvarint(count) + bytes(count)
    value = _closed(header, tables)
    assert _code(value) == "CRAFT-HEADER"
    # A few lists with one pointer per number, and no object per event.
    assert _peak_memory(value) < 64 * count


def _peak_memory(value: bytes) -> int:
    """Peak memory while the message was read and rejected."""
    tracemalloc.start()
    try:
        _code(value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
