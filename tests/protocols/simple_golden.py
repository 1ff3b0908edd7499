"""The golden files of Simple, and encoding of their events."""

from __future__ import annotations

from tests.golden_events import GOLDEN, GoldenEvent, GoldenResolved, GoldenRow
from tests.protocols.debezium_events import DebeziumDDL
from tests.protocols.golden_messages import row_messages
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.avro.field_reader import AvroCursor
from ticdc_producer.protocols.craft.wire import varint
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple.encoder import SimpleEncoder
from ticdc_producer.protocols.simple.envelope import BYTES, DML, DOUBLE, FLOAT, MESSAGE, STRING, TIMESTAMP

BUILT = 946684800000
_NAMES = (3, 4)
"""Indexes of database and table among the fields before the images: type, payload, version, these two, …"""
VARIANTS = {
    "simple.json": SimpleOptions(build_ts_ms=BUILT),
    "simple.avro": SimpleOptions(build_ts_ms=BUILT, encoding_format="avro"),
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


def comparable(value: bytes | None) -> bytes | None:
    """The value with its map entries sorted by name: TiCDC writes them in random order."""
    if value is None or not value.startswith(MESSAGE + varint(DML)):
        return value
    cursor = AvroCursor(value, "value", len(MESSAGE))
    for field in range(12):
        cursor.length_prefixed() if field in _NAMES else cursor.long()
    parts = [value[: cursor.position]]
    while cursor.position < len(value):
        parts += _image(cursor)
    return b"".join(parts)


def _image(cursor: AvroCursor) -> list[bytes]:
    """One image: its branch, the number of its entries, and the entries in order."""
    start = cursor.position
    if cursor.long() == 0:
        return [cursor.data[start : cursor.position]]
    count = cursor.long()
    head = cursor.data[start : cursor.position]
    entries = {}
    for _ in range(count):
        start = cursor.position
        name = cursor.length_prefixed()
        _skip(cursor, cursor.long())
        entries[name] = cursor.data[start : cursor.position]
    return [head, *(entries[name] for name in sorted(entries)), cursor.take(1)]


def _skip(cursor: AvroCursor, branch: int) -> None:
    widths = {FLOAT: 4, DOUBLE: 8}
    if branch in widths:
        cursor.take(widths[branch])
    elif branch in (STRING, BYTES, TIMESTAMP):
        for _ in range(2 if branch == TIMESTAMP else 1):
            cursor.length_prefixed()
    elif branch:
        cursor.long()
