"""The events of one message as rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ticdc_producer.model.event import Event, ResolvedEvent
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.targets import decode as module


class Endless:
    """A decoder of a message that never ends."""

    def events(self, _key: bytes | None, _value: bytes | None) -> Iterator[Event]:
        while True:
            yield ResolvedEvent(commit_ts=1)


def test_a_message_with_too_many_events_is_an_error_after_the_first_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_EVENTS", 4)
    record = {"topic": "t", "partition": 0, "offset": 7, "key": b"", "value": b""}
    rows = module.event_rows(record, Endless())
    assert [(row["index"], row["kind"]) for row in rows] == [
        (0, "resolved"), (1, "resolved"), (2, "resolved"), (3, "error"),
    ]  # fmt: skip
    assert rows[-1]["error"] == "EVENTS-MANY"
    assert {row["events"] for row in rows} == {4}
    assert {tuple(row) for row in rows} == {tuple(DECODED.names)}
