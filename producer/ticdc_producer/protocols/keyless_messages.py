"""Messages without a key of a batch of rows: complete, or with the handle key only if too large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Protocol

import pyarrow as pa

from ticdc_producer.model.event import Op
from ticdc_producer.protocols.arrow_text import Numbers, lengths
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.compression import all_compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD


class RowTexts(Protocol):
    """One form of row message."""

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """One message per row.

        :param locations: locations of the rows' claim-check objects as JSON; None if nothing is stored.
        """
        ...


@dataclass(frozen=True, slots=True)
class KeylessMessages:
    """The messages of one batch of rows.

    :param forms: by operation, and whether the row was too large and carries only its handle key.
    :param compression: compression of the messages: ``none``, ``snappy`` or ``lz4``.
    :param literal: formats a text as the protocol's JSON string.
    """

    forms: Mapping[tuple[Op, bool], RowTexts]
    batch: RowBatch
    compression: str
    literal: Callable[[str], bytes]

    def values(self) -> pa.Array:
        """The message of every row."""
        return all_compressed(self.forms[self.batch.op, False].texts(self.batch), self.compression)

    def length(self, rows: EncodedRows) -> Numbers:
        return lengths(rows.column("value")) + RECORD_OVERHEAD

    def complete_message(self, _key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        return None, value

    def handle_key_messages(
        self, rows: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        large = self.batch.take(pa.array(rows))
        literals = pa.array(map(self.literal, locations), pa.binary()) if locations else None
        values = all_compressed(self.forms[self.batch.op, True].texts(large, literals), self.compression)
        return zip(repeat(b""), values.to_pylist(), strict=False)
