"""The events of one message as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Event, Record, ResolvedEvent
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.targets.decode import event_columns, event_rows


class Damaged:
    """A decoder of a message that has no event."""

    def events(self, _key: bytes | None, _value: bytes | None) -> Iterator[Event]:
        raise DecodeError("VALUE", "another byte", part="value", byte=0)


class Endless:
    """A decoder of a message that never ends."""

    def events(self, _key: bytes | None, _value: bytes | None) -> Iterator[Event]:
        while True:
            yield ResolvedEvent(commit_ts=1)


def test_a_message_with_too_many_events_is_an_error_after_the_first_ones() -> None:
    (count,), columns = event_columns([(b"", b"")], Endless())
    assert count == 1 << 20
    assert Counter(columns["kind"]) == {"resolved": count - 1, "error": 1}
    assert {len(column) for column in columns.values()} == {count}
    assert (columns["kind"][-1], columns["error"][-1], columns["index"][-1]) == (
        "error", "EVENTS-MANY", count - 1,
    )  # fmt: skip


def test_the_rows_of_a_record_have_all_columns() -> None:
    record = Record(topic="t", partition=0, offset=7, key=b"", value=b"\0")
    (row,) = event_rows(record, Damaged())
    assert tuple(row) == tuple(DECODED.names)
    assert (row["topic"], row["offset"], row["size"], row["error"]) == ("t", 7, 1, "VALUE")
