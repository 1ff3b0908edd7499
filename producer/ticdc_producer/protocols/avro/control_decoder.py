"""Decodes DDL events and watermarks; ``control_encoder`` describes their encoding."""

from __future__ import annotations

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, ResolvedEvent
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.avro.layout import DDL, WATERMARK


class _DDL(msgspec.Struct, rename="camel"):
    query: str
    type: int
    schema: str
    table: str
    commit_ts: int = msgspec.field(name="commitTs")


_DECODER = msgspec.json.Decoder(_DDL)


def control_event(value: bytes) -> Event | None:
    """The event of a DDL or watermark message; None for any other message.

    :raises DecodeError: for a malformed DDL or watermark message.
    """
    if value[:1] == bytes((WATERMARK,)):
        ts = int.from_bytes(value[1:], "big")
        if len(value) != 9 or ts > MAX_TS:
            raise DecodeError("AVRO-WATERMARK", "a time stamp of 8 bytes", part="value", byte=1)
        return ResolvedEvent(commit_ts=ts)
    return _ddl_of(value[1:]) if value[:1] == bytes((DDL,)) else None


def _ddl_of(text: bytes) -> DDLEvent:
    try:
        ddl = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise DecodeError("AVRO-DDL", "a DDL event as JSON", part="value", byte=1) from None
    if not (0 <= ddl.commit_ts <= MAX_TS and 0 <= ddl.type < 1 << 8):
        raise DecodeError("AVRO-DDL", "a commitTs of 0 … 2^63-1 and a type of TiDB's", part="value", byte=1)
    return DDLEvent(
        commit_ts=ddl.commit_ts,
        schema=ddl.schema,
        table=ddl.table,
        query=ddl.query,
        ddl_type=ddl.type,
    )
