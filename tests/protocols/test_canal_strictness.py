"""Packets of Canal that are damaged, in other forms, or of several rows."""

from __future__ import annotations

import pytest

from tests.protocols.encoding import ID_AND_TEXT, messages_of
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Op, RowEvent
from ticdc_producer.protocols.batch_options import MAX_ROWS, WorkerOptions
from ticdc_producer.protocols.canal.decoder import CanalDecoder
from ticdc_producer.protocols.canal.encoder import CanalEncoder
from ticdc_producer.protocols.canal.wire import content, number, text

HEADER = number(1, 1) + number(6, 1000) + text(8, "s") + text(9, "t") + number(11, 1)
ID = number(2, 4) + text(3, "id") + number(4, 1) + number(6, 0) + text(8, "7") + text(10, "int")
ROW = content(2, ID)


def packet(*entries: bytes, head: bytes = number(2, 1) + number(3, 7)) -> bytes:
    return head + content(5, b"".join(content(2, entry) for entry in entries))


def entry(row: bytes = ROW, *, header: bytes = HEADER, kind: bytes = number(2, 2), event: int = 1) -> bytes:
    return content(1, header) + kind + content(3, number(2, event) + number(10, 0) + content(12, row))


def events_of(value: bytes) -> list[RowEvent]:
    events = list(CanalDecoder().events(None, value))
    assert all(isinstance(event, RowEvent) for event in events)
    return [event for event in events if isinstance(event, RowEvent)]


def test_a_packet_of_two_entries_has_two_events() -> None:
    (first, second) = events_of(packet(entry(), entry(ROW.replace(b"7", b"8"))))
    assert (first.after, second.after) == ({"id": b"7"}, {"id": b"8"})


def test_unknown_fields_and_defaults_mean_nothing() -> None:
    """Among them fields of fixed size, several rows in an entry, and UPDATE as the default event type."""
    more = text(99, "x") + b"\xb9\x06" + bytes(8) + b"\xbd\x06" + bytes(4)
    (event,) = events_of(packet(more + entry(more + ROW + more, header=HEADER + more, kind=b"") + more))
    assert event.after == {"id": b"7"}
    header = HEADER.removesuffix(number(11, 1))
    update = content(1, ID) + content(2, ID.replace(b"7", b"8"))
    (event,) = events_of(packet(content(1, header) + content(3, content(12, update))))
    assert (event.op, event.before, event.after) == (Op.UPDATE, {"id": b"7"}, {"id": b"8"})
    rows = content(3, number(2, 1) + content(12, ROW) + content(12, ROW))
    assert len(events_of(packet(content(1, HEADER) + rows))) == 2


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (b"", "CANALPB-PACKET"),
        (packet(entry(), head=number(2, 2) + number(3, 7)), "CANALPB-PACKET"),
        (packet(entry(), head=number(2, 1) + number(3, 11)), "CANALPB-PACKET"),
        (packet(entry(), head=number(2, 1) + number(3, 7) + number(4, 3)), "CANALPB-PACKET"),
        (packet(entry())[:-1], "CANALPB-LENGTH"),
        (packet(entry()) + b"\x08", "CANALPB-NUMBER"),
        (b"\xff" * 20, "CANALPB-NUMBER"),
        (b"\x0b", "CANALPB-FIELD"),
        (b"\x09\x00", "CANALPB-FIELD"),
        (packet(entry(kind=number(2, 1))), "CANALPB-ENTRY"),
        (packet(entry(header=HEADER.replace(number(1, 1), number(1, 2)))), "CANALPB-HEADER"),
        (packet(entry(header=HEADER.replace(number(6, 1000), number(6, -1)))), "CANALPB-TIME"),
        (packet(entry(header=HEADER.replace(b"\x01s", b"\x01\xff"))), "CANALPB-TEXT"),
        (packet(entry(event=3)), "CANALPB-EVENT-TYPE"),
        (packet(entry(header=HEADER[:-1] + b"\x04", event=4)), "CANALPB-EVENT-TYPE"),
        (packet(content(1, HEADER) + content(3, number(2, 1))), "CANALPB-ROW"),
        (packet(entry(content(1, ID))), "CANALPB-ROW"),
        (packet(entry(ROW + ROW)), "CANALPB-COLUMN"),
        (packet(entry(number(2, 5))), "CANALPB-FIELD"),
        (packet(entry(ROW.replace(b"\x017", b"\x01x"))), "CANALPB-VALUE"),
        (packet(entry(ROW.replace(b"int", b"ant"))), "CANALPB-MYSQL-TYPE"),
        (packet(entry(ROW.replace(number(2, 4), number(2, 12)))), "CANALPB-SQL-TYPE"),
    ],
)  # fmt: skip
def test_a_damaged_packet_is_a_decode_error(value: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(CanalDecoder().events(None, value))
    assert error.value.code == code
    assert 0 <= error.value.byte <= len(value)


def test_bytes_that_are_not_utf8_are_a_value() -> None:
    (message,) = messages_of(CanalEncoder(), ID_AND_TEXT, [(Op.INSERT, 1 << 18, (), (b"1", b"a\xff"))])
    (event,) = events_of(message.value or b"")
    assert event.after == {"id": b"1", "v": b"a\xff"}


def test_a_message_ends_after_2048_rows_and_before_it_is_too_large() -> None:
    changes = [(Op.INSERT, 1 << 18, (), (b"1", b"abc"))] * (MAX_ROWS + 1)
    sizes = [message.events for message in messages_of(CanalEncoder(), ID_AND_TEXT, changes)]
    assert sizes == [MAX_ROWS, 1]
    limited = messages_of(CanalEncoder(WorkerOptions(max_message_bytes=1000)), ID_AND_TEXT, changes)
    assert all(message.size <= 1000 for message in limited)
    large = messages_of(CanalEncoder(WorkerOptions(max_message_bytes=10)), ID_AND_TEXT, changes[:2])
    assert [message.events for message in large] == [1, 1]
