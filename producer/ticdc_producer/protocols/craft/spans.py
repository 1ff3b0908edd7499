"""The ranges of bytes in a Craft message."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.craft.decoder import CraftEnvelope, parse_envelope
from ticdc_producer.protocols.craft.group import GroupReader
from ticdc_producer.protocols.craft.wire import NEW_VALUES, ByteReader
from ticdc_producer.protocols.spans import ByteSpan, ImageName


def craft_spans(_key: bytes | None, value: bytes | None) -> Iterator[ByteSpan]:
    """Yield the sections of a message, and the values of its columns; NULL has no bytes."""
    data = value or b""
    try:
        message = parse_envelope(data)
        yield from _sections(data, message)
        yield from _columns(data, message)
    except DecodeError:
        return


def _sections(data: bytes, message: CraftEnvelope) -> Iterator[ByteSpan]:
    end = message.body + sum(message.sizes)
    sections = ((0, 1, "version"), (1, message.body, "headers"), (end, len(data), "dictionary and sizes"))
    for start, stop, name in sections:
        if start < stop:
            yield ByteSpan(part="value", start=start, end=stop, name=name, event=-1)


def _columns(data: bytes, message: CraftEnvelope) -> Iterator[ByteSpan]:
    reader, groups, start = GroupReader(message.terms, message.named), iter(message.groups), message.body
    for event, (header, size) in enumerate(zip(message.headers, message.sizes, strict=True)):
        group = start
        for length in next(groups) if header.kind == Kind.ROW else ():
            yield from _group(ByteReader(data, group, group + length), reader, event)
            group += length
        start += size


def _group(group: ByteReader, reader: GroupReader, event: int) -> Iterator[ByteSpan]:
    kind, described = reader.head(group)
    image: ImageName = "after" if kind == NEW_VALUES else "before"
    lengths = group.varints(len(described.columns))
    ends = accumulate((max(0, length) for length in lengths), initial=group.position)
    for column, length, (start, end) in zip(described.columns, lengths, pairwise(ends), strict=True):
        if length >= 0 and end <= group.end:
            yield ByteSpan(
                part="value",
                start=start,
                end=end,
                name=f"{image}.{column.name}",
                event=event,
                image=image,
                column=column.name,
            )
