"""The bytes of each event apart from its message, as a JSON text.

A decoded event has neither the id of a table partition nor the order of its column groups. The ids of terms
depend on the other events of the message, so the names are here in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.craft.decoder import CraftEnvelope, Header, parse_envelope
from ticdc_producer.protocols.craft.group import Description, GroupReader
from ticdc_producer.protocols.craft.wire import ByteReader
from ticdc_producer.protocols.wire import EventBytes

_JSON = msgspec.json.Encoder()


def event_texts(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    """Return the key of a message and the text of each event; nothing for a message that does not decode."""
    data = value or b""
    try:
        return [(key, text) for text in _texts(data, parse_envelope(data))]
    except DecodeError:
        return ()


def _texts(data: bytes, message: CraftEnvelope) -> Iterator[bytes]:
    groups, sizes, position = _GroupTexts(message), iter(message.groups), message.body
    for header, size in zip(message.headers, message.sizes, strict=True):
        end = position + size
        if header.kind == Kind.ROW:
            body = b"[%b]" % b",".join(groups.of_row(data, position, next(sizes)))
        else:
            body = b'"%b"' % data[position:end].hex().encode()
        position = end
        yield b'{"event":%b,"body":%b}' % (_header(header), body)


def _header(header: Header) -> bytes:
    return _JSON.encode({
        "ts": header.commit_ts, "type": header.kind, "partition": header.partition,
        "schema": header.schema, "table": header.table,
    })  # fmt: skip


class _GroupTexts:
    """Makes the texts of column groups; most groups of a message have the same columns."""

    def __init__(self, message: CraftEnvelope) -> None:
        self._reader = GroupReader(message.terms, message.named)
        self._columns: dict[bytes, bytes] = {}

    def of_row(self, data: bytes, position: int, sizes: Sequence[int]) -> Iterator[bytes]:
        """Yield the groups of a row, with the hexadecimal digits of the sizes and bytes of their values."""
        for size in sizes:
            group = ByteReader(data, position, position + size)
            kind, described = self._reader.head(group)
            text = self._columns.get(described.encoded)
            if text is None:
                self._columns[described.encoded] = text = _columns(described)
            values = data[group.position : group.end].hex().encode()
            position = group.end
            yield b'{"type":%d,"columns":%b,"values":"%b"}' % (kind, text, values)


def _columns(described: Description) -> bytes:
    columns = zip(described.columns, described.types, strict=True)
    return _JSON.encode([(column.name, code, column.flag) for column, code in columns])
