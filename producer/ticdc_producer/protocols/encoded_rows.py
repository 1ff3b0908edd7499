"""Encoded row changes, not yet framed."""

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
class RowNote:
    """What is unusual with one row.

    :param refusal: why TiCDC would not send it; framing raises it, a caller that goes on without such rows
        takes them out first.
    :param handle_key_only: it was too large, and shows its handle key alone.
    :param claim: likewise, and the whole row is to be stored as this object.
    """

    refusal: EncodeError | None = None
    handle_key_only: bool = False
    claim: ClaimObject | None = None


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Row changes in order.

    :param columns: ``key``, ``value``, ``commit_ts``, what else the codec needs to frame them, ``group``
        where rows of different groups may not share a message, and ``stretch``, which no message crosses:
        the number of the stretch between two other events.
    :param notes: by place, of the few rows that have one.
    """

    columns: pa.RecordBatch
    notes: Mapping[int, RowNote] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def column(self, name: str) -> pa.Array:
        return self.columns.column(name)

    def slice(self, start: int, length: int) -> EncodedRows:
        """Some rows that stand together, without a copy."""
        end = start + length
        notes = {place - start: note for place, note in self.notes.items() if start <= place < end}
        return EncodedRows(self.columns.slice(start, length), notes)

    def without(self, places: Sequence[int]) -> EncodedRows:
        """The rows but those at some places."""
        kept = np.delete(np.arange(len(self)), places)
        return self.take(kept)

    def take(self, places: Numbers) -> EncodedRows:
        """The rows at some places, in their order."""
        back = {int(place): new for new, place in enumerate(places)} if self.notes else {}
        notes = {back[place]: note for place, note in self.notes.items() if place in back}
        return EncodedRows(self.columns.take(pa.array(places)), notes)

    def refused(self) -> Iterator[tuple[int, EncodeError]]:
        """Places and reasons of the rows that TiCDC would not send, in order."""
        for place, note in sorted(self.notes.items()):
            if note.refusal is not None:
                yield place, note.refusal

    def check(self) -> None:
        """:raises EncodeError: the first refusal."""
        for _, refusal in self.refused():
            raise refusal

    def with_column(self, name: str, values: pa.Array) -> EncodedRows:
        """The rows with one column more."""
        return EncodedRows(self.columns.append_column(name, values), self.notes)


def appended(parts: Sequence[EncodedRows]) -> EncodedRows:
    """One after the other."""
    if len(parts) == 1:
        return parts[0]
    notes, start = {}, 0
    for part in parts:
        notes.update({start + place: note for place, note in part.notes.items()})
        start += len(part)
    return EncodedRows(pa.concat_batches([part.columns for part in parts]), notes)


def in_places(parts: Sequence[EncodedRows], places: Sequence[Numbers]) -> EncodedRows:
    """Rows that were encoded apart, each at the place where it belongs."""
    if len(parts) == 1:
        return parts[0]
    order = pc.array_sort_indices(pa.array(np.concatenate(places))).to_numpy()
    return appended(parts).take(order)


def encoded_rows(
    key: pa.Array, value: pa.Array, commit_ts: pa.Array, notes: Mapping[int, RowNote] | None = None
) -> EncodedRows:
    """Rows of a codec that needs no more than key and value."""
    columns = pa.record_batch([key, value, commit_ts], names=["key", "value", "commit_ts"])
    return EncodedRows(columns, notes or {})
