"""Distributes consecutive rows to messages: as many rows of one batch key as fit.

A message starts with every new batch key or segment, after ``Limits.rows`` rows, and before a row that
would exceed the size limit or, if the protocol notices it only afterwards, after that row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.encoded_rows import EncodedRows, concat_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
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
        """A column's value in the first row of each message."""
        return self.rows.column(name).take(pa.array(self.starts))

    @property
    def claims(self) -> dict[int, tuple[ClaimObject, ...]]:
        """Claim-check objects by the index of their message."""
        found: dict[int, tuple[ClaimObject, ...]] = defaultdict(tuple)
        for row, status in sorted(self.rows.statuses.items()):
            if status.claim is not None:
                found[int(np.searchsorted(self.starts, row, side="right")) - 1] += (status.claim,)
        return found


def batched(
    rows: Iterable[EncodedRows],
    sizes: Callable[[EncodedRows], Numbers],
    limits: Limits,
    *,
    by_batch_key: bool,
) -> Iterator[BatchedRows]:
    """Divide consecutive rows into messages; how the input is divided does not change the result.

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


def _starts(rows: EncodedRows, sizes: Numbers, limits: Limits, by_batch_key: bool) -> Numbers:
    indices = np.arange(len(rows))
    runs = _run_starts(rows, ["segment", "batch_key"] if by_batch_key else ["segment"])
    in_run = indices - np.repeat(runs, np.diff(runs, append=len(rows)))
    starts: Numbers = indices[in_run % limits.rows == 0]
    if np.add.reduceat(sizes, starts).max() <= limits.size:
        return starts
    return _fitting(sizes, runs, limits)


def _run_starts(rows: EncodedRows, names: Iterable[str]) -> Numbers:
    """Where the value of one of these columns changes; a column may be missing."""
    starts: Numbers = np.zeros(1, np.int64)
    for name in names:
        if name in rows.columns.schema.names:
            values = rows.column(name)
            changes = pc.indices_nonzero(pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)))
            starts = np.union1d(starts, as_int64(changes) + 1)
    return starts


def _fitting(sizes: Numbers, runs: Numbers, limits: Limits) -> Numbers:
    """Where messages start if some reach the size limit before the row limit."""
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
