"""The ranges of bytes in a Canal message."""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.canal.decoder import Span, entries, entry_header
from ticdc_producer.protocols.canal.wire import fields
from ticdc_producer.protocols.spans import ByteSpan, ImageName

_IMAGES: dict[int, ImageName] = {1: "before", 2: "after"}


def canal_spans(_key: bytes | None, value: bytes | None) -> Iterator[ByteSpan]:
    """Yield the values of the columns of all rows; NULL has no bytes."""
    data, event = value or b"", 0
    try:
        for entry in entries(data):
            _, change = entry_header(data, entry)
            parts = [*fields(data, *change)]
            rows = [(first, last) for number, first, last in parts if number == 12]
            for row in rows:
                yield from _row(data, row, event)
                event += 1
            event += not rows
    except DecodeError:
        return


def _row(data: bytes, row: Span, event: int) -> Iterator[ByteSpan]:
    for number, first, last in fields(data, *row):
        if number in _IMAGES and last >= 0:
            yield from _column(data, (first, last), event, _IMAGES[number])


def _column(data: bytes, column: Span, event: int, image: ImageName) -> Iterator[ByteSpan]:
    parts = {number: (first, last) for number, first, last in fields(data, *column)}
    is_null, _ = parts.get(6, (0, -1))
    start, end = parts.get(8, (0, -1))
    if is_null or end < 0:
        return
    first, last = parts.get(3, (0, 0))
    name = data[first : max(first, last)].decode("utf-8", "replace")  # a number has the end -1
    yield ByteSpan(
        part="value", start=start, end=end, name=f"{image}.{name}", event=event, image=image, column=name
    )
