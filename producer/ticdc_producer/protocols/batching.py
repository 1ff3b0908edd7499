"""How many rows share a message: as many of one group as fit.

A message starts with every new group or stretch, every ``Limits.rows`` rows, and where a row would not fit
any more or, if the protocol sees that too late, after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.encoded_rows import EncodedRows, appended


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """:param size: most that the sizes of a message's rows may come to, unless it is one row.
    :param rows_beyond: how many rows more a message takes that comes to more with them.
    """

    rows: int
    size: int
    rows_beyond: int = 0


@dataclass(frozen=True, slots=True)
class BatchedRows:
    """Rows that make whole messages.

    :param starts: place of the first row of each message.
    """

    rows: EncodedRows
    starts: Numbers

    @property
    def counts(self) -> Numbers:
        """Rows of each message."""
        return np.diff(self.starts, append=len(self.rows))

    def first(self, name: str) -> pa.Array:
        """A column at the first row of each message."""
        return self.rows.column(name).take(pa.array(self.starts))

    @property
    def claims(self) -> dict[int, tuple[ClaimObject, ...]]:
        """Claim-check objects by the place of their message."""
        found: dict[int, tuple[ClaimObject, ...]] = defaultdict(tuple)
        for place, note in sorted(self.rows.notes.items()):
            if note.claim is not None:
                found[int(np.searchsorted(self.starts, place, side="right")) - 1] += (note.claim,)
        return found


def batched(
    rows: Iterable[EncodedRows],
    sizes: Callable[[EncodedRows], Numbers],
    limits: Limits,
    *,
    by_group: bool,
) -> Iterator[BatchedRows]:
    """Consecutive rows as messages, the same however the rows are divided.

    :param sizes: what each row adds to a message.
    :param by_group: whether rows of different groups stand apart.
    :raises EncodeError: the refusal of a row that has one.
    """
    open_rows: list[EncodedRows] = []
    for part in filter(len, rows):
        part.check()
        whole = appended([*open_rows, part])
        starts = _starts(whole, sizes(whole), limits, by_group)
        last = int(starts[-1])  # rows to come may join the last message
        if last:
            yield BatchedRows(whole.slice(0, last), starts[:-1])
        open_rows = [whole.slice(last, len(whole) - last)]
    for rest in open_rows:
        yield BatchedRows(rest, np.zeros(1, np.int64))


def _starts(rows: EncodedRows, sizes: Numbers, limits: Limits, by_group: bool) -> Numbers:
    places = np.arange(len(rows))
    runs = _run_starts(rows, ["stretch", "group"] if by_group else ["stretch"])
    in_run = places - np.repeat(runs, np.diff(runs, append=len(rows)))
    starts: Numbers = places[in_run % limits.rows == 0]
    if np.add.reduceat(sizes, starts).max() <= limits.size:
        return starts
    return _fitting(sizes, runs, limits)


def _run_starts(rows: EncodedRows, names: Iterable[str]) -> Numbers:
    """Where one of some columns has another value than before; a column may be missing."""
    starts: Numbers = np.zeros(1, np.int64)
    for name in names:
        if name in rows.columns.schema.names:
            values = rows.column(name)
            changes = pc.indices_nonzero(pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)))
            starts = np.union1d(starts, numbers(changes) + 1)
    return starts


def _fitting(sizes: Numbers, runs: Numbers, limits: Limits) -> Numbers:
    """Where messages start when some of them are full before they have all their rows."""
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
