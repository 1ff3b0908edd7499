"""The golden files of Simple, and the events that went into them."""

from __future__ import annotations

from producer.codec.simple.encoder import SimpleEncoder
from producer.codec.simple.options import SimpleOptions
from producer.model.event import Message
from tests.codec.debezium_events import DebeziumDDL
from tests.codec.golden_messages import row_messages
from tests.golden_events import GOLDEN, GoldenEvent, GoldenResolved, GoldenRow

BUILT = 946684800000
VARIANTS = {
    "simple.json": SimpleOptions(build_ts_ms=BUILT),
    "new-simple.json": SimpleOptions(profile="new", build_ts_ms=BUILT),
}
FILES = sorted(
    (path, variant)
    for part in ("visible", "fuzz", "new")
    for variant in VARIANTS
    for path in (GOLDEN / part).glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def encoded(encoder: SimpleEncoder, event: GoldenEvent | DebeziumDDL) -> Message:
    """The message of one event."""
    if isinstance(event, GoldenRow):
        (message,) = row_messages(encoder, [event])
        return message
    if isinstance(event, DebeziumDDL):
        return encoder.ddl(event.event, event.table, event.before)
    assert isinstance(event, GoldenResolved)
    return encoder.resolved(event.commit_ts)
