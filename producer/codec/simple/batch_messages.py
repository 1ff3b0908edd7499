"""A batch of rows as messages: in full, and those over ``max-message-bytes`` as their handle key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import pyarrow as pa

from producer.codec.base import RowBatch
from producer.codec.compression import all_compressed
from producer.codec.encoded_rows import EncodedRows
from producer.codec.go_json import STRINGS
from producer.codec.large_message import RECORD_OVERHEAD
from producer.codec.pieces import Numbers, lengths
from producer.codec.simple.row_form import Forms


@dataclass(frozen=True, slots=True)
class BatchMessages:
    """The rows of one batch.

    :param compression: of their messages.
    """

    forms: Forms
    batch: RowBatch
    compression: str

    def values(self) -> pa.Array:
        """The message of every row."""
        return all_compressed(self.forms[self.batch.op, False].texts(self.batch), self.compression)

    def length(self, rows: EncodedRows) -> Numbers:
        return lengths(rows.column("value")) + RECORD_OVERHEAD

    def whole(self, _key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        return None, value

    def handle_key_forms(
        self, places: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        chosen = self.batch.take(pa.array(places))
        told = pa.array(map(STRINGS.literal, locations), pa.binary()) if locations else None
        values = all_compressed(self.forms[self.batch.op, True].texts(chosen, told), self.compression)
        return zip(repeat(b""), values.to_pylist(), strict=False)
