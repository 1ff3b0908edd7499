"""Encoded row changes that are not yet framed as messages, and their distribution to messages.

A message starts with every new batch key or segment, after ``MessageLimits.rows`` rows, and before a row that
would exceed the size limit or, if the protocol notices it only afterwards, after that row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import as_int64


@dataclass(frozen=True, slots=True, kw_only=True)
class RowStatus:
    """The status of a row that is not sent as usual.

    :param refusal: the reason why TiCDC would not send it. Framing raises this error; a caller that continues
        without such rows removes them first.
    :param handle_key_only: the row was too large and contains only its handle key.
    :param claim: the row was too large, and its complete message must be stored as this object.
    """

    refusal: EncodeError | None = None
    handle_key_only: bool = False
    claim: ClaimObject | None = None


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Row changes in delivery order.

    :param columns: ``key`` and ``value`` (binary), ``commit_ts`` (int64, TSO), and other columns that the
        codec needs to frame them. Rows with different ``batch_key`` may not share a message. ``segment``
        numbers the rows between two DDL or resolved events; no message contains rows of two segments.
    :param statuses: row index to status, for the rows that are not sent as usual.
    """

    columns: pa.RecordBatch
    statuses: Mapping[int, RowStatus] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def column(self, name: str) -> pa.Array:
        return self.columns.column(name)

    def slice(self, start: int, length: int) -> EncodedRows:
        """Return consecutive rows, without a copy."""
        end = start + length
        statuses = {index - start: status for index, status in self.statuses.items() if start <= index < end}
        return EncodedRows(self.columns.slice(start, length), statuses)

    def without(self, indices: Sequence[int]) -> EncodedRows:
        """Return all rows except those at these indices."""
        return self.take(np.delete(np.arange(len(self)), indices))

    def take(self, indices: Numbers) -> EncodedRows:
        """Return the rows at these indices, in this order."""
        new_index = {int(old): new for new, old in enumerate(indices)} if self.statuses else {}
        statuses = {new_index[old]: status for old, status in self.statuses.items() if old in new_index}
        return EncodedRows(self.columns.take(pa.array(indices)), statuses)

    def rejected(self) -> Iterator[tuple[int, EncodeError]]:
        """Yield the indices and errors of the rows that TiCDC would not send, in order."""
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
        """Return the rows with an additional column."""
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

    >>> parts = [EncodedRows(pa.record_batch({"key": keys})) for keys in (["a", "c"], ["b"])]
    >>> merge_by_position(parts, [np.array([0, 2]), np.array([1])]).column("key").to_pylist()
    ['a', 'b', 'c']

    :param positions: for each part, the positions of its rows in the result.
    """
    if len(parts) == 1:
        return parts[0]
    order = pc.array_sort_indices(pa.array(np.concatenate(positions))).to_numpy()
    return concat_rows(parts).take(order)


def encoded_rows(
    key: pa.Array, value: pa.Array, commit_ts: pa.Array, statuses: Mapping[int, RowStatus] | None = None
) -> EncodedRows:
    """Return rows of a codec that needs only key and value."""
    columns = pa.record_batch([key, value, commit_ts], names=["key", "value", "commit_ts"])
    return EncodedRows(columns, statuses or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLimits:
    """Limits of one message.

    :param rows: maximum number of rows.
    :param size: maximum sum of the rows' sizes, in bytes, of a multi-row message.
    :param rows_beyond: number of rows that a message takes after the row that reaches ``size``.
    """

    rows: int
    size: int
    rows_beyond: int = 0


@dataclass(frozen=True, slots=True)
class BatchedRows:
    """Rows that form complete messages.

    :param starts: index of the first row of each message.
    """

    rows: EncodedRows
    starts: Numbers

    @property
    def counts(self) -> Numbers:
        """Number of rows of each message."""
        return np.diff(self.starts, append=len(self.rows))

    def first(self, name: str) -> pa.Array:
        """Return a column's value in the first row of each message."""
        return self.rows.column(name).take(pa.array(self.starts))

    @property
    def claims(self) -> dict[int, tuple[ClaimObject, ...]]:
        """Claim-check objects by the index of their message."""
        claims: dict[int, tuple[ClaimObject, ...]] = defaultdict(tuple)
        for row, status in sorted(self.rows.statuses.items()):
            if status.claim is not None:
                claims[int(np.searchsorted(self.starts, row, side="right")) - 1] += (status.claim,)
        return claims


def batched(
    rows: Iterable[EncodedRows],
    sizes: Callable[[EncodedRows], Numbers],
    limits: MessageLimits,
    *,
    by_batch_key: bool,
) -> Iterator[BatchedRows]:
    """Divide consecutive rows into messages. The division of the input into parts does not change the result.

    :param sizes: computes the bytes that each row adds to a message.
    :param by_batch_key: whether rows with different batch keys get different messages.
    :raises EncodeError: for the first row that TiCDC rejects.
    """
    open_rows: list[EncodedRows] = []
    for part in filter(len, rows):
        part.check()
        whole = concat_rows([*open_rows, part])
        starts = _starts(whole, sizes(whole), limits, by_batch_key)
        last = int(starts[-1])  # rows to come may join the last message
        if last:
            yield BatchedRows(whole.slice(0, last), starts[:-1])
        open_rows = [whole.slice(last, len(whole) - last)]
    for rest in open_rows:
        yield BatchedRows(rest, np.zeros(1, np.int64))


def _starts(rows: EncodedRows, sizes: Numbers, limits: MessageLimits, by_batch_key: bool) -> Numbers:
    """Return the index of the first row of each message.

    >>> rows = EncodedRows(pa.record_batch({"batch_key": ["a", "a", "a", "b"]}))
    >>> _starts(rows, np.array([1, 1, 1, 1]), MessageLimits(rows=2, size=9), by_batch_key=True).tolist()
    [0, 2, 3]
    """
    indices = np.arange(len(rows))
    runs = _run_starts(rows, ["segment", "batch_key"] if by_batch_key else ["segment"])
    in_run = indices - np.repeat(runs, np.diff(runs, append=len(rows)))
    starts: Numbers = indices[in_run % limits.rows == 0]
    if np.add.reduceat(sizes, starts).max() <= limits.size:
        return starts
    return _fitting(sizes, runs, limits)


def _run_starts(rows: EncodedRows, names: Iterable[str]) -> Numbers:
    """Return the indexes at which the value of one of these columns changes; a column may be missing.

    >>> rows = EncodedRows(pa.record_batch({"batch_key": ["a", "a", "b"]}))
    >>> _run_starts(rows, ["segment", "batch_key"]).tolist()
    [0, 2]
    """
    starts: Numbers = np.zeros(1, np.int64)
    for name in names:
        if name in rows.columns.schema.names:
            values = rows.column(name)
            changes = pc.indices_nonzero(pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)))
            starts = np.union1d(starts, as_int64(changes) + 1)
    return starts


def _fitting(sizes: Numbers, runs: Numbers, limits: MessageLimits) -> Numbers:
    """Return the starts of messages, some of which reach the size limit before the row limit.

    :param runs: indexes at which a message must start.

    Four rows of 4 bytes, the last of them in its own run:

    >>> _fitting(np.array([4, 4, 4, 4]), np.array([0, 3]), MessageLimits(rows=10, size=8)).tolist()
    [0, 2, 3]
    """
    total = np.cumsum(sizes)
    starts: list[int] = []
    for run, end in zip(runs.tolist(), [*runs[1:].tolist(), len(sizes)], strict=True):
        start = run
        while start < end:
            starts.append(start)
            used = total[start] - sizes[start]
            fit = int(np.searchsorted(total, used + limits.size, side="right"))
            start = min(max(fit + limits.rows_beyond, start + 1), start + limits.rows, end)
    return np.array(starts)
