"""Golden Craft messages: the messages of one Build call, and the bytes that TiCDC's FLOAT bug overwrites."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.golden_events import GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow, Image
from tests.protocols.golden_messages import GoldenMessage, encode_other, row_messages
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Message, Op, ResolvedEvent, RowEvent
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.base import Encoder

Events = dict[int, GoldenEvent]


def units(messages: Sequence[GoldenMessage], events: Events) -> Iterator[list[GoldenMessage]]:
    """Consecutive row messages, the result of one Build call; every other message alone."""
    unit: list[GoldenMessage] = []
    for message in messages:
        if isinstance(events[message.events[0]], GoldenRow):
            unit.append(message)
            continue
        if unit:
            yield unit
        unit = []
        yield [message]
    if unit:
        yield unit


def encoded(encoder: Encoder, unit: Sequence[GoldenMessage], events: Events) -> list[Message]:
    """The encoder's messages of the events of a unit."""
    rows = [event for event in _flat(unit, events) if isinstance(event, GoldenRow)]
    if rows:
        return row_messages(encoder, rows)
    others = [event for event in _flat(unit, events) if isinstance(event, GoldenDDL | GoldenResolved)]
    return [message for message in (encode_other(encoder, event) for event in others) if message]


def _flat(unit: Sequence[GoldenMessage], events: Events) -> list[GoldenEvent]:
    return [events[seq] for message in unit for seq in message.events]


# Two FLOATs whose 8 bytes differ in just the last four.
_ZERO = b"0"
_ONES = plain_text(struct.unpack("<d", bytes(4) + b"\xff\xff\xff\xbf")[0], MySQLType.FLOAT)


def damaged_offsets(encoder: Encoder, unit: Sequence[GoldenMessage], events: Events) -> list[list[int]]:
    """Per message, the offsets of the bytes that TiCDC's FLOAT bug overwrites.

    Its encoder reserves 4 bytes for the 8 of a FLOAT, so the next value overwrites the last four; the first
    four are correct. The offsets are found by encoding two numbers that differ there.
    """
    if not any(isinstance(event, GoldenRow) and has_float(event) for event in _flat(unit, events)):
        return [[] for _ in unit]
    zeros = encoded(encoder, unit, _with_floats(events, unit, _ZERO))
    ones = encoded(encoder, unit, _with_floats(events, unit, _ONES))
    return [
        [offset for offset, (a, b) in enumerate(zip(x.value or b"", y.value or b"", strict=True)) if a != b]
        for x, y in zip(zeros, ones, strict=True)
    ]


def has_float(row: GoldenRow) -> bool:
    """Whether the message of the row contains a FLOAT value other than NULL."""
    return any(
        column.type == MySQLType.FLOAT and value is not None
        for image in (row.before, row.after)
        if image is not None
        for column, value in zip(row.table.sent_columns, image, strict=True)
    )


def _with_floats(events: Events, unit: Sequence[GoldenMessage], text: bytes) -> Events:
    numbers = [seq for message in unit for seq in message.events]
    return {seq: _row_with_floats(events[seq], text) for seq in numbers}


def _row_with_floats(event: GoldenEvent, text: bytes) -> GoldenEvent:
    if not isinstance(event, GoldenRow):
        return event
    before, after = (_image_with_floats(event, image, text) for image in (event.before, event.after))
    return replace(event, before=before, after=after)


def _image_with_floats(row: GoldenRow, image: Image | None, text: bytes) -> Image | None:
    if image is None:
        return None
    columns = zip(row.table.sent_columns, image, strict=True)
    return tuple(
        text if column.type == MySQLType.FLOAT and value is not None else value for column, value in columns
    )


def without(value: bytes | None, offsets: Sequence[int]) -> bytes:
    """The bytes of a message, with zeros at ``offsets``."""
    blanked = bytearray(value or b"")
    for offset in offsets:
        blanked[offset] = 0
    return bytes(blanked)


def expected(event: GoldenEvent, fidelity: Fidelity) -> Event:
    """The golden event as a consumer of Craft must see it, without the row id and what else is not sent."""
    if isinstance(event, GoldenResolved):
        return ResolvedEvent(commit_ts=event.commit_ts)
    if isinstance(event, GoldenDDL):
        fields = ("commit_ts", "schema", "table", "query", "ddl_type")
        return DDLEvent(**{field: getattr(event, field) for field in fields})
    assert isinstance(event, GoldenRow)
    return _expected_row(event, event.op == Op.DELETE and fidelity.deletes == "handle-key")


def _expected_row(row: GoldenRow, keys_only: bool) -> RowEvent:
    table = row.table
    sent = [name in row.handle_key_columns or not keys_only for name in (c.name for c in table.sent_columns)]

    def named(image: Image | None) -> dict[str, bytes | None] | None:
        if image is None:
            return None
        columns = zip(table.sent_columns, image, sent, strict=True)
        return {column.name: value for column, value, is_sent in columns if is_sent}

    described = zip(table.sent_columns, table.sent_flags, sent, strict=True)
    return RowEvent(
        commit_ts=row.commit_ts,
        schema=table.schema,
        table=table.name,
        op=row.op,
        columns=tuple(
            EventColumn(column.name, column.type_name, flag) for column, flag, is_sent in described if is_sent
        ),
        before=named(row.before),
        after=named(row.after),
        table_id=row.table_id if row.is_partitioned else 0,
    )
