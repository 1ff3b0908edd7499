"""A sort of rows that exceed the memory of this process: sorted runs in temporary files, which are merged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.spool import MemoryLimit, Spool, empty, grouped_batches, joined, merged
from ticdc_producer.model.column_functions import Numbers

MOST_SORTED_BYTES = 256 << 20
"""Rows up to this size are sorted in memory."""
SORTED_ROWS = 1 << 16
"""Rows of a batch of rows whose order changed. Each step that follows allocates as much again: memory that is
new to the process if the batch is large, with a page fault per 4 KiB."""
RUN_ROWS = 8192
"""Rows of a batch of a run; a merge has one such batch of each run in memory."""
_Key: TypeAlias = tuple[Any, ...]
RowOrder: TypeAlias = Callable[[pa.Table], Numbers]
"""Returns the numbers of the rows in their order."""


@dataclass(frozen=True)
class _Taken:
    """The rows with some numbers, in the order of the numbers."""

    rows: pa.RecordBatch
    numbers: Numbers

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for start in range(0, max(len(self.numbers), 1), SORTED_ROWS):
            yield self.rows.take(pa.array(self.numbers[start : start + SORTED_ROWS]))


def _ascends(numbers: Numbers) -> bool:
    """Return whether the numbers of rows are in order; then their rows need no copy."""
    return bool((numbers[1:] > numbers[:-1]).all())


@dataclass(frozen=True)
class _Sort:
    """An order of rows, and a sort by it.

    :param columns: the columns that are compared, in this order.
    :param order: returns the order of rows by these columns.
    :param run_rows: rows of a batch of a run.
    """

    schema: pa.Schema
    columns: tuple[str, ...]
    order: RowOrder
    run_rows: int = RUN_ROWS

    def sorted(self, batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the rows of batches in their order."""
        return self.taken(batches, self.order(pa.Table.from_batches(batches, self.schema)))

    def taken(self, batches: list[pa.RecordBatch], numbers: Numbers) -> Iterator[pa.RecordBatch]:
        """Return the rows of batches in the order of the numbers; a few rows in one batch."""
        in_order = _ascends(numbers)
        if in_order and len(numbers) > SORTED_ROWS:
            return merged(batches, self.run_rows // 2)  # most are large enough to stay as they are
        rows = joined(batches, self.schema)
        return iter([rows] if in_order else _Taken(rows, numbers))

    def add_to_run(self, run: Spool, batches: Iterable[pa.RecordBatch]) -> None:
        """Add sorted rows to a run."""
        for batch in batches:
            for start in range(0, batch.num_rows, self.run_rows):
                run.add(batch.slice(start, self.run_rows))

    def merged(self, runs: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        """Merge runs block by block: a block ends at the lowest last row of the runs' batches."""
        heads = {number: batch for number, run in enumerate(runs) if (batch := next(run, None)) is not None}
        while heads:
            bound = min(self.key(batch, batch.num_rows - 1) for batch in heads.values())
            block: list[pa.RecordBatch] = []
            for number, batch in [*heads.items()]:
                if not (end := self._end(batch, bound)):
                    continue
                block.append(batch.slice(0, end))
                rest = batch.slice(end) if end < batch.num_rows else next(runs[number], None)
                if rest is None:
                    del heads[number]
                else:
                    heads[number] = rest
            yield from self.sorted(block)

    def _end(self, batch: pa.RecordBatch, bound: _Key) -> int:
        """Return the number of rows that are not beyond a key."""
        if self.key(batch, 0) > bound:  # as in most runs, if the rows came almost in order
            return 0
        low, high = 0, batch.num_rows
        while low < high:
            middle = (low + high) // 2
            if self.key(batch, middle) > bound:
                high = middle
            else:
                low = middle + 1
        return low

    def key(self, batch: pa.RecordBatch, row: int) -> _Key:
        """Return the key of a row; NULL is the highest value."""
        values = (batch.column(name)[row].as_py() for name in self.columns)
        return tuple((value is None, value) for value in values)


class OrderedRows:
    """Rows in an order; after the last one was added, they can be read several times.

    :param rows: the first rows; ``add`` adds more.
    :param columns: the columns that are compared, in this order.
    :param order: returns the order of rows by these columns.
    :param most: bytes that are sorted in memory.
    :param run_rows: rows of a batch of a run.
    """

    def __init__(
        self,
        rows: Iterable[pa.RecordBatch],
        schema: pa.Schema,
        columns: tuple[str, ...],
        order: RowOrder,
        most: int = MOST_SORTED_BYTES,
        run_rows: int = RUN_ROWS,
    ) -> None:
        self._sort, self._most = _Sort(schema, columns, order, run_rows), most
        self._runs: list[Spool] = []
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._descent = 0
        self._numbers: Numbers | None = None
        for batch in rows:
            self.add(batch)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows.

        :raises EnvironmentFailure: if a temporary file is needed and cannot be written.
        """
        if not batch.num_rows:
            return
        key = self._sort.key
        if self._held and key(batch, 0) < key(self._held[-1], self._held[-1].num_rows - 1):
            self._descent = len(self._held)
        self._held.append(batch)
        self._held_bytes += batch.nbytes
        self._numbers = None
        if self._held_bytes > self._most:
            self._add_run(self._descent or len(self._held), MemoryLimit(0))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Return the rows in their order, which is computed once."""
        if not self._runs:
            if self._numbers is None:
                self._numbers = self._sort.order(pa.Table.from_batches(self._held, self._sort.schema))
            return self._sort.taken(self._held, self._numbers)
        limit = MemoryLimit(self._most)  # the last rows stay in memory
        for count in (self._descent, len(self._held) - self._descent):
            if count:
                self._add_run(count, limit)
        return self._sort.merged([iter(run) for run in self._runs])

    def _add_run(self, count: int, limit: MemoryLimit) -> None:
        """Sort the first batches that are held, as a run.

        :param count: their number. Where the rows descend at last, those of a partition begin, which are in
            order: a run without rows of the next partition is not sorted.
        :param limit: bytes of the run that stay in memory; above it, they are written to a file.
        """
        run = Spool(self._sort.schema, limit)
        self._sort.add_to_run(run, self._sort.sorted(self._held[:count]))
        self._held = self._held[count:]
        self._held_bytes = sum(batch.nbytes for batch in self._held)
        self._descent = 0
        self._runs.append(run)


def divided_rows(
    rows: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    by: str,
    parts: int,
    columns: tuple[str, ...],
    order: RowOrder,
    most: int = MOST_SORTED_BYTES,
) -> Sequence[Iterable[pa.RecordBatch]]:
    """Return the rows of each part in their order.

    :param by: the column with the number of the part.
    :param columns: as of ``OrderedRows``, like ``most``.
    :param order: returns the order of rows by the number of the part, and then by these columns.
    :raises EnvironmentFailure: if a temporary file is needed and cannot be written.
    """
    sort, limit = _Sort(schema, columns, order), MemoryLimit()
    runs: list[_DividedRun] = []
    for held in grouped_batches(rows, sys.maxsize, most):
        if not runs and sum(batch.nbytes for batch in held) < most:
            return _divided(joined(held, schema), by, parts, order)
        runs.append(_DividedRun(_divided(joined(held, schema), by, parts, order), sort, limit))
        held.clear()  # while the next ones are collected
    if not runs:
        return _divided(empty(schema), by, parts, order)
    return [_PartOfRuns(runs, part, sort) for part in range(parts)]


class _DividedRun:
    """A run of rows that are divided; the batches of a part follow each other.

    :param divided: the rows of each part in their order.
    """

    def __init__(self, divided: Iterable[Iterable[pa.RecordBatch]], sort: _Sort, limit: MemoryLimit) -> None:
        self._rows, self._ends = Spool(sort.schema, limit), [0]
        for share in divided:
            sort.add_to_run(self._rows, share)
            self._ends.append(self._rows.count)
        self._rows.complete()  # threads read the parts

    def of_part(self, part: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part."""
        return self._rows.batches(self._ends[part], self._ends[part + 1])


@dataclass(frozen=True)
class _PartOfRuns:
    """The rows of a part in their order, which are merged each time they are read."""

    runs: Sequence[_DividedRun]
    part: int
    sort: _Sort

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.sort.merged([run.of_part(self.part) for run in self.runs])


def _divided(
    rows: pa.RecordBatch, by: str, parts: int, order: RowOrder
) -> Sequence[Iterable[pa.RecordBatch]]:
    """Return the rows of each part in their order.

    >>> rows = pa.record_batch({"part": [2, 0, 0], "id": [1, 2, 3]})
    >>> divided = _divided(rows, "part", 3, lambda rows: np.argsort(rows.column("part"), kind="stable"))
    >>> [[batch.column("id").to_pylist() for batch in batches] for batches in divided]
    [[[2, 3]], [[]], [[1]]]
    """
    numbers = order(pa.Table.from_batches([rows]))
    ends = np.searchsorted(rows.column(by).to_numpy()[numbers], np.arange(parts), side="right").tolist()
    bounds = [*zip([0, *ends], ends, strict=False)]
    if _ascends(numbers):
        return [[rows.slice(start, end - start)] for start, end in bounds]
    return [_Taken(rows, numbers[start:end]) for start, end in bounds]
