"""Verifies the checksums of decoded rows, as TiCDC's consumers do.

A checksum of 0 says that TiCDC computed none. Source: tiflow and ticdc
``pkg/sink/codec/common/verify_checksum.go``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

import pyarrow as pa

from ticdc_producer.errors import ChangefeedError, DecodeError
from ticdc_producer.model.event import WRONG_CHECKSUM, Image, RowChecksum, RowEvent
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.avro.row_checksum import Checksums, row_checksums

_T = TypeVar("_T")


def with_checksum_errors(events: Sequence[_T]) -> list[_T | DecodeError]:
    """Return events with an error in place of each row whose checksum does not fit its columns.

    A row that TiCDC marked as corrupted is an error, too.

    :param events: decoded events, or others, which are returned as they are.
    """
    checked: list[_T | DecodeError] = [*events]
    groups: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    rows: dict[int, RowEvent] = {}
    for number, event in enumerate(events):
        if not isinstance(event, RowEvent) or event.checksum is None:
            continue
        if event.checksum.corrupted:
            checked[number] = _error("a row that TiCDC did not mark as corrupted")
        elif event.checksum.columns and not event.handle_key_only:
            rows[number] = event
            groups[event.columns, event.checksum.columns, event.checksum.time_zone].append(number)
    for numbers in groups.values():
        for number, error in _wrong([(number, rows[number]) for number in numbers]):
            checked[number] = error
    return checked


def _wrong(rows: Sequence[tuple[int, RowEvent]]) -> Iterator[tuple[int, DecodeError]]:
    """Yield the rows with a wrong checksum, whose columns and time zone are equal."""
    for name, image_name in (("current", "after"), ("previous", "before")):
        known = [
            (number, event, image, expected)
            for number, event in rows
            if (image := getattr(event, image_name)) is not None
            and (expected := getattr(event.checksum, name)) != 0
        ]
        if not known:
            continue
        numbers, events, images, stored = zip(*known, strict=True)
        try:
            checksums = _checksums(events[0], events[0].checksum, images)
        except ChangefeedError as error:
            yield from ((number, _error(error.what)) for number in numbers)
            return
        for number, expected, computed in zip(numbers, stored, checksums, strict=True):
            if computed is None:
                yield number, _error("values that the columns of the checksum can have")
            elif computed != expected:
                what = f"{expected} as checksum of the columns, not {computed}"
                yield number, _error(what + _zone_note(events[0]))


def _checksums(event: RowEvent, checksum: RowChecksum, images: Sequence[Image]) -> Sequence[int | None]:
    """Return the checksum of each row; None for one with a value that its column cannot have."""
    try:
        computed: list[int | None] = _computed(event, checksum, images).tolist()
    except ValueError:
        if len(images) == 1:
            return [None]
        half = len(images) // 2
        return [each for part in (images[:half], images[half:]) for each in _checksums(event, checksum, part)]
    return computed


def _computed(event: RowEvent, checksum: RowChecksum, images: Sequence[Image]) -> Checksums:
    types = {column.name: column.type for column in event.columns}
    columns = [
        (types[name], pa.array([image[name] for image in images], pa.binary())) for name in checksum.columns
    ]
    return row_checksums(columns, len(images), zone_of(checksum.time_zone))


def _zone_note(event: RowEvent) -> str:
    if event.checksum is None or not any(column.type == "timestamp" for column in event.columns):
        return ""
    return f", with TIMESTAMP values of the time zone {event.checksum.time_zone}"


def _error(expected: str) -> DecodeError:
    return DecodeError(WRONG_CHECKSUM, expected, part="value", byte=0)
