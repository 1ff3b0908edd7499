"""Debezium against the bytes of real TiCDC: every file, every option, there and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from producer.codec.debezium import DebeziumEncoder, DebeziumOptions
from producer.model.event import Message
from tests.codec.debezium_events import DebeziumDDL, events_of
from tests.codec.golden_messages import encode_rows, load_messages
from tests.golden_events import GOLDEN, GoldenEvent, GoldenResolved, GoldenRow

BUILT = 946684800000
VARIANTS = {
    "debezium": DebeziumOptions(output_ddl=True, build_ts_ms=BUILT),
    "debezium.disable-schema": DebeziumOptions(output_ddl=True, build_ts_ms=BUILT, disable_schema=True),
    "debezium.output-old-value-false": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, output_old_value=False
    ),
    "debezium.tidb-extension": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, enable_tidb_extension=True
    ),
    "debezium.tidb-extension.disable-schema": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, enable_tidb_extension=True, disable_schema=True
    ),
}
FILES = sorted(
    (path, variant)
    for part in ("visible", "fuzz")
    for variant in VARIANTS
    for path in (GOLDEN / part).glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def test_every_file_is_there() -> None:
    assert len(FILES) == 16 * 5 + 20 * 2


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str) -> None:
    events = events_of(path)
    encoder = DebeziumEncoder(VARIANTS[variant])
    expected = [message for message in load_messages(path) if not message.error]
    assert expected
    for message in expected:
        (seq,) = message.events
        (got,) = encoded(encoder, [events[seq]])
        assert got is not None
        assert (got.key, got.value) == (message.key, message.value)


def encoded(encoder: DebeziumEncoder, events: Sequence[GoldenEvent | DebeziumDDL]) -> list[Message | None]:
    messages: list[Message | None] = []
    for event in events:
        if isinstance(event, GoldenRow):
            messages += encoder.messages(encode_rows(encoder, [event]))
        elif isinstance(event, DebeziumDDL):
            messages.append(encoder.ddl(event.event, event.table, event.before))
        elif isinstance(event, GoldenResolved):
            messages.append(encoder.resolved(event.commit_ts))
    return messages
