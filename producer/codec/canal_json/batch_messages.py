"""A batch of rows as messages: in full, and those over ``max-message-bytes`` as their handle key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from producer.codec.base import EncodedRow, RowBatch
from producer.codec.canal_json import json_text, row_batch
from producer.codec.canal_json.row_form import Forms
from producer.codec.compression import compressed
from producer.codec.large_message import RECORD_OVERHEAD


def row_texts(
    forms: Forms, batch: RowBatch, *, large: bool = False, locations: Sequence[str] = ()
) -> list[bytes]:
    """One message per row, in the batch's order.

    :param large: the rows were too large and show their handle keys alone.
    :param locations: of their claim-check objects, one per row or none at all.
    """
    texts = [b""] * len(batch.op)
    for op, places, part in row_batch.by_op(batch):
        stored = [json_text.string(locations[place]) for place in places] if locations else []
        for place, text in zip(places, forms[op, large].texts(part, stored), strict=True):
            texts[place] = text
    return texts


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The rows of one batch.

    :param compression: of their messages.
    """

    forms: Forms
    batch: RowBatch
    compression: str

    def length(self, row: EncodedRow) -> int:
        return len(row.value) + RECORD_OVERHEAD

    def whole(self, row: EncodedRow) -> tuple[bytes | None, bytes]:
        return None, row.value

    def handle_key_forms(
        self, places: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        chosen = row_batch.at(self.batch, places)
        for text in row_texts(self.forms, chosen, large=True, locations=locations):
            yield b"", compressed(text, self.compression)
