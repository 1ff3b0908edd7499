"""Encodes DDL events and watermarks. TiCDC uses this encoding in its own tests only.

The first byte is the kind of event. It is followed by JSON, or by a 64-bit number, big-endian. Source: tiflow
``pkg/sink/codec/avro/avro.go`` (``EncodeDDLEvent``, ``EncodeCheckpointEvent``).
"""

from __future__ import annotations

from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.protocols.avro.layout import DDL, WATERMARK
from ticdc_producer.protocols.go_json import STRINGS


def ddl(event: DDLEvent) -> Message:
    """The message of a DDL event."""
    value = b'{"query":%b,"type":%d,"schema":%b,"table":%b,"commitTs":%d}' % (
        STRINGS.literal(event.query),
        event.ddl_type,
        STRINGS.literal(event.schema),
        STRINGS.literal(event.table),
        event.commit_ts,
    )
    return Message(None, bytes((DDL,)) + value, Kind.DDL.label, event.commit_ts)


def watermark(ts: int) -> Message:
    """The message of a resolved event."""
    return Message(None, bytes((WATERMARK,)) + ts.to_bytes(8, "big"), Kind.RESOLVED.label, ts)
