"""Batches that exceed the memory of this process: temporary files, and a sort that merges sorted ones."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import EnvironmentFailure
from ticdc_producer.model.column_functions import Numbers, concatenated

_MOST_BYTES = 64 << 20


class MemoryLimit:
    """The number of bytes that several spools hold together.

    :param most: above this number of bytes, a spool that gets a batch moves its batches to its file.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self.most, self.held = most, 0


class Spool:
    """Batches of one schema, in the order in which they were added.

    :ivar nbytes: bytes of all batches.
    """

    def __init__(self, schema: pa.Schema, limit: MemoryLimit) -> None:
        self.schema, self._limit = schema, limit
        self.nbytes = self._held_bytes = 0
        self._held: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Add a batch; an empty batch is ignored.

        :raises EnvironmentFailure: if a temporary file is needed and cannot be written.
        """
        if not batch.num_rows:
            return
        size = batch.nbytes
        self._held.append(batch)
        self.nbytes += size
        self._held_bytes += size
        self._limit.held += size
        if self._limit.held > self._limit.most:
            try:
                self._move_to_file()
            except OSError as error:
                reason = os.strerror(error.errno) if error.errno else error
                what = f"temporary files cannot be written: {reason}"
                hint = "free space there, or set TMPDIR to another folder"
                raise EnvironmentFailure(what, where=tempfile.tempdir or "", hint=hint) from None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; may be called several times, after the last one was added."""
        if self._file is not None:
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._file.flush()
            with pa.OSFile(self._file.name) as file, pa.ipc.open_stream(file) as reader:
                yield from reader
        yield from self._held

    def one_batch(self) -> pa.RecordBatch:
        """Return all rows as one batch."""
        return joined([*self], self.schema)

    def _move_to_file(self) -> None:
        if self._writer is None:
            self._file = tempfile.NamedTemporaryFile(prefix="ticdc-producer-")  # noqa: SIM115 - ends with the spool
            self._writer = pa.ipc.new_stream(self._file, self.schema)
        for batch in self._held:
            self._writer.write_batch(batch if batch.schema.equals(self.schema) else batch.cast(self.schema))
        self._held.clear()
        self._limit.held -= self._held_bytes
        self._held_bytes = 0


def joined(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of some batches of one schema as one batch, in their order."""
    return concatenated(batches) if batches else empty(schema)


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows."""
    return pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)


MOST_SORTED_BYTES = 256 << 20
"""Rows up to this size are sorted in memory."""
SORTED_ROWS = 1 << 16
"""Rows of a batch of rows whose order changed. Each step that follows allocates as much again: memory that is
new to the process if the batch is large, with a page fault per 4 KiB."""
RUN_ROWS = 8192
"""Rows of a batch of a run; a merge has one such batch of each run in memory."""
_MERGED_BYTES = 16 << 20
_PARTS_AT_ONCE = 4
"""Parts of many rows that share the memory in which rows are sorted."""
_Key: TypeAlias = tuple[Any, ...]
RowOrder: TypeAlias = Callable[[pa.Table], Numbers]
"""Returns the numbers of the rows in their order."""


def merged(
    batches: Iterable[pa.RecordBatch], rows: int = RUN_ROWS, size: int = _MERGED_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in larger batches, see :func:`grouped_batches`."""
    return map(concatenated, grouped_batches(batches, rows, size))


def grouped_batches(
    batches: Iterable[pa.RecordBatch], rows: int, size: int
) -> Iterator[list[pa.RecordBatch]]:
    """Yield batches together, in their order; their rows are not copied.

    :param rows, size: the least number of rows or bytes of those that are yielded together; the last ones may
        have less.
    """
    held: list[pa.RecordBatch] = []
    held_rows = held_bytes = 0
    for batch in batches:
        held.append(batch)
        held_rows, held_bytes = held_rows + batch.num_rows, held_bytes + batch.nbytes
        if held_rows >= rows or held_bytes >= size:
            yield held
            held, held_rows, held_bytes = [], 0, 0
    if held:
        yield held


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
        self._schema, self._columns, self._order = schema, columns, order
        self._most, self._run_rows = most, run_rows
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
        if self._held and self._key(batch, 0) < self._key(self._held[-1], self._held[-1].num_rows - 1):
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
                self._numbers = self._order(pa.Table.from_batches(self._held, self._schema))
            return self._taken(self._held, self._numbers)
        limit = MemoryLimit(self._most)  # the last rows stay in memory
        for count in (self._descent, len(self._held) - self._descent):
            if count:
                self._add_run(count, limit)
        return self._merged()

    def _sorted(self, batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self._taken(batches, self._order(pa.Table.from_batches(batches, self._schema)))

    def _taken(self, batches: list[pa.RecordBatch], numbers: Numbers) -> Iterator[pa.RecordBatch]:
        """Return the rows of batches in the order of the numbers; a few rows in one batch."""
        in_order = _ascends(numbers)
        if in_order and len(numbers) > SORTED_ROWS:
            return merged(batches, self._run_rows // 2)  # most are large enough to stay as they are
        rows = joined(batches, self._schema)
        return iter([rows] if in_order else _Taken(rows, numbers))

    def _add_run(self, count: int, limit: MemoryLimit) -> None:
        """Sort the first batches that are held, as a run.

        :param count: their number. Where the rows descend at last, those of a partition begin, which are in
            order: a run without rows of the next partition is not sorted.
        :param limit: bytes of the run that stay in memory; above it, they are written to a file.
        """
        run = Spool(self._schema, limit)
        for batch in self._sorted(self._held[:count]):
            for start in range(0, batch.num_rows, self._run_rows):
                run.add(batch.slice(start, self._run_rows))
        self._held = self._held[count:]
        self._held_bytes = sum(batch.nbytes for batch in self._held)
        self._descent = 0
        self._runs.append(run)

    def _merged(self) -> Iterator[pa.RecordBatch]:
        """Merge the runs block by block: a block ends at the lowest last row of the runs' batches."""
        runs = [iter(run) for run in self._runs]
        heads = {number: batch for number, run in enumerate(runs) if (batch := next(run, None)) is not None}
        while heads:
            bound = min(self._key(batch, batch.num_rows - 1) for batch in heads.values())
            block: list[pa.RecordBatch] = []
            for number, batch in [*heads.items()]:
                end = self._end(batch, bound)
                block.append(batch.slice(0, end))
                rest = batch.slice(end) if end < batch.num_rows else next(runs[number], None)
                if rest is None:
                    del heads[number]
                else:
                    heads[number] = rest
            yield from self._sorted([batch for batch in block if batch.num_rows])

    def _end(self, batch: pa.RecordBatch, bound: _Key) -> int:
        """Return the number of rows that are not beyond a key."""
        low, high = 0, batch.num_rows
        while low < high:
            middle = (low + high) // 2
            if self._key(batch, middle) > bound:
                high = middle
            else:
                low = middle + 1
        return low

    def _key(self, batch: pa.RecordBatch, row: int) -> _Key:
        """Return the key of a row; NULL is the highest value."""
        values = (batch.column(name)[row].as_py() for name in self._columns)
        return tuple((value is None, value) for value in values)


def divided_rows(
    rows: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    by: str,
    parts: int,
    columns: tuple[str, ...],
    order: RowOrder,
    most: int = MOST_SORTED_BYTES,
) -> Sequence[Iterable[pa.RecordBatch]]:
    """Return the rows of each part in their order. Many rows are divided before they are sorted.

    :param by: the column with the number of the part.
    :param columns: as of ``OrderedRows``, like ``most``.
    :param order: returns the order of rows by the number of the part, and then by these columns.
    """
    batches, held, size = iter(rows), deque[pa.RecordBatch](), 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size > most:
            break
    else:
        return _divided(joined([*held], schema), by, parts, order)
    limit = MemoryLimit()
    spools = [Spool(schema, limit) for _ in range(parts)]
    for batch in chain(_emptied(held), batches):
        for part, share in zip(spools, _divided(batch, by, parts, partial(_by_part, by)), strict=True):
            for own in share:
                part.add(own)
    return [_SpooledPart(part, columns, order, most // _PARTS_AT_ONCE) for part in spools]


def _emptied(batches: deque[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, and hold them no longer."""
    while batches:
        yield batches.popleft()


@dataclass(frozen=True)
class _SpooledPart:
    """The rows of a spool in an order. They are in memory only while they are read, which several parts are
    at a time.
    """

    rows: Spool
    columns: tuple[str, ...]
    order: RowOrder
    most: int

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(OrderedRows(self.rows, self.rows.schema, self.columns, self.order, self.most))


def _by_part(by: str, rows: pa.Table) -> Numbers:
    return np.argsort(rows.column(by).to_numpy(), kind="stable")


def _divided(
    rows: pa.RecordBatch, by: str, parts: int, order: RowOrder
) -> Sequence[Iterable[pa.RecordBatch]]:
    """Return the rows of each part in their order.

    >>> rows = pa.record_batch({"part": [2, 0, 0], "id": [1, 2, 3]})
    >>> divided = _divided(rows, "part", 3, partial(_by_part, "part"))
    >>> [[batch.column("id").to_pylist() for batch in batches] for batches in divided]
    [[[2, 3]], [[]], [[1]]]
    """
    numbers = order(pa.Table.from_batches([rows]))
    ends = np.searchsorted(rows.column(by).to_numpy()[numbers], np.arange(parts), side="right").tolist()
    bounds = [*zip([0, *ends], ends, strict=False)]
    if _ascends(numbers):
        return [[rows.slice(start, end - start)] for start, end in bounds]
    return [_Taken(rows, numbers[start:end]) for start, end in bounds]
