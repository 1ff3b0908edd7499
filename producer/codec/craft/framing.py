"""How rows share a message.

TiCDC closes a message after the row that brings it over one of the limits, so it never finds a row too
large. Source: tiflow ``craft_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from producer.codec.craft.message import CraftRow, row_message
from producer.codec.craft.options import CraftOptions
from producer.model.event import Message


def batched(rows: Iterable[CraftRow], options: CraftOptions) -> Iterator[Message]:
    """Messages of consecutive rows of one group each.

    :raises EncodeError: the refusal of a row that has one.
    """
    by_partition = options.batch_by == "partition"
    batch: list[CraftRow] = []
    estimate = 0
    for row in rows:
        if row.refusal is not None:
            raise row.refusal
        if batch and not by_partition and row.group != batch[0].group:
            yield row_message(batch)
            batch, estimate = [], 0
        batch.append(row)
        estimate += row.estimate
        if estimate > options.max_message_bytes or len(batch) >= options.max_batch_size:
            yield row_message(batch)
            batch, estimate = [], 0
    if batch:
        yield row_message(batch)
