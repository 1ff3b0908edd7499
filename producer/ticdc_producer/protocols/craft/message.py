"""Messages of DDLs and resolved events: ``version header body dictionary size-tables length``.

Only the size tables give the ends of the sections. Their own length is at the end of the message in reverse
byte order, so that a reader starts there. Source: tiflow craft ``message_encoder.go`` (``Encode``).
``row_messages`` builds the messages of rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.protocols.craft.layout import NO_NAME, NO_PARTITION, VERSION
from ticdc_producer.protocols.craft.terms import TermDictionary
from ticdc_producer.protocols.craft.varint import delta_varint_chunk, uvarint, varint


def ddl_message(event: DDLEvent) -> Message:
    terms = TermDictionary()
    header = _header(event.commit_ts, Kind.DDL, terms.id(event.schema), terms.id(event.table))
    query = event.query.encode()
    body = uvarint(event.ddl_type) + uvarint(len(query)) + query
    return Message(None, _assemble(header, body, terms.encoded()), Kind.DDL.label, event.commit_ts)


def resolved_message(ts: int) -> Message:
    header = _header(ts, Kind.RESOLVED, NO_NAME, NO_NAME)
    return Message(None, _assemble(header, b"", b""), Kind.RESOLVED.label, ts)


def _header(commit_ts: int, kind: Kind, schema: int, table: int) -> bytes:
    names = map(varint, (NO_PARTITION, schema, table))
    return uvarint(commit_ts) + uvarint(kind) + b"".join(names)


def _assemble(header: bytes, body: bytes, dictionary: bytes) -> bytes:
    tables = _size_table((len(header), len(dictionary))) + _size_table((len(body),))
    length = uvarint(len(tables))[::-1]
    return b"".join((uvarint(VERSION), header, body, dictionary, tables, length))


def _size_table(sizes: Sequence[int]) -> bytes:
    return uvarint(len(sizes)) + delta_varint_chunk(sizes)
