"""Encoded row changes that are not yet framed as messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class RowStatus:
    """What is unusual about one row.

    :param refusal: why TiCDC would not send it. Framing raises this error; a caller that continues without
        such rows removes them first.
    :param handle_key_only: the row was too large and carries only its handle key.
    :param claim: the row was too large, and its complete message must be stored as this object.
    """

    refusal: EncodeError | None = None
    handle_key_only: bool = False
    claim: ClaimObject | None = None


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Row changes in order.

    :param columns: ``key``, ``value``, ``commit_ts``, and what else the codec needs to frame them. Rows with
        different ``batch_key`` may not share a message. ``segment`` numbers the rows between two DDL or
        resolved events; no message contains rows of two segments.
    :param statuses: by row index, of the few rows that have one.
    """

    columns: pa.RecordBatch
    statuses: Mapping[int, RowStatus] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def column(self, name: str) -> pa.Array:
        return self.columns.column(name)

    def slice(self, start: int, length: int) -> EncodedRows:
        """Consecutive rows, without a copy."""
        end = start + length
        statuses = {index - start: status for index, status in self.statuses.items() if start <= index < end}
        return EncodedRows(self.columns.slice(start, length), statuses)

    def without(self, indices: Sequence[int]) -> EncodedRows:
        """All rows except those at these indices."""
        return self.take(np.delete(np.arange(len(self)), indices))

    def take(self, indices: Numbers) -> EncodedRows:
        """The rows at these indices, in this order."""
        new_index = {int(old): new for new, old in enumerate(indices)} if self.statuses else {}
        statuses = {new_index[old]: status for old, status in self.statuses.items() if old in new_index}
        return EncodedRows(self.columns.take(pa.array(indices)), statuses)

    def rejected(self) -> Iterator[tuple[int, EncodeError]]:
        """Indices and errors of the rows that TiCDC would not send, in order."""
        for index, status in sorted(self.statuses.items()):
            if status.refusal is not None:
                yield index, status.refusal

    def check(self) -> None:
        """Raise the error of the first rejected row.

        :raises EncodeError: if TiCDC would not send a row.
        """
        for _, refusal in self.rejected():
            raise refusal

    def with_column(self, name: str, values: pa.Array) -> EncodedRows:
        """The rows with an additional column."""
        return EncodedRows(self.columns.append_column(name, values), self.statuses)


def concat_rows(parts: Sequence[EncodedRows]) -> EncodedRows:
    """Concatenate rows."""
    if len(parts) == 1:
        return parts[0]
    statuses, start = {}, 0
    for part in parts:
        statuses.update({start + index: status for index, status in part.statuses.items()})
        start += len(part)
    return EncodedRows(pa.concat_batches([part.columns for part in parts]), statuses)


def merge_by_position(parts: Sequence[EncodedRows], positions: Sequence[Numbers]) -> EncodedRows:
    """Merge rows that were encoded separately.

    :param positions: for each part, the positions of its rows in the result.
    """
    if len(parts) == 1:
        return parts[0]
    order = pc.array_sort_indices(pa.array(np.concatenate(positions))).to_numpy()
    return concat_rows(parts).take(order)


def encoded_rows(
    key: pa.Array, value: pa.Array, commit_ts: pa.Array, statuses: Mapping[int, RowStatus] | None = None
) -> EncodedRows:
    """Rows of a codec that needs only key and value."""
    columns = pa.record_batch([key, value, commit_ts], names=["key", "value", "commit_ts"])
    return EncodedRows(columns, statuses or {})
