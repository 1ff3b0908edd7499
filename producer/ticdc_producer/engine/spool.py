"""Batches that exceed the memory of this process: they are moved to temporary files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import pyarrow as pa

from ticdc_producer.errors import EnvironmentFailure
from ticdc_producer.model.column_functions import concatenated

_MOST_BYTES = 64 << 20
_MERGED_BYTES = 16 << 20


class MemoryLimit:
    """The number of bytes that several spools hold together.

    :param most: above this number of bytes, a spool that gets a batch moves its batches to its file.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self.most, self.held = most, 0


class Spool:
    """Batches of one schema, in the order in which they were added.

    :ivar nbytes: bytes of all batches.
    :ivar count: number of batches.
    """

    def __init__(self, schema: pa.Schema, limit: MemoryLimit) -> None:
        self.schema, self._limit = schema, limit
        self.nbytes = self.count = self._held_bytes = 0
        self._held: list[pa.RecordBatch] = []
        self._file: IO[bytes] | None = None
        self._writer: pa.RecordBatchFileWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        """Add a batch; an empty batch is ignored.

        :raises EnvironmentFailure: if a temporary file is needed and cannot be written.
        """
        if not batch.num_rows:
            return
        size = batch.nbytes
        self._held.append(batch)
        self.nbytes += size
        self.count += 1
        self._held_bytes += size
        self._limit.held += size
        if self._limit.held > self._limit.most:
            with _errors_of_files():
                self._move_to_file()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches; may be called several times, after the last one was added."""
        return self.batches(0, self.count)

    def batches(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield the batches with numbers from ``start`` to below ``stop``, as ``__iter__`` yields all."""
        moved = self.count - len(self._held)
        if self._file is not None and start < moved:
            self.complete()
            with pa.OSFile(self._file.name) as file, pa.ipc.open_file(file) as reader:
                for number in range(start, min(stop, moved)):
                    yield reader.get_batch(number)
        yield from self._held[max(start - moved, 0) : max(stop - moved, 0)]

    def complete(self) -> None:
        """Complete the temporary file, before several threads read it; otherwise the first reader does.

        :raises EnvironmentFailure: if the rest of it cannot be written.
        """
        if self._file is not None and self._writer is not None:
            with _errors_of_files():
                self._writer.close()
                self._file.flush()
            self._writer = None

    def one_batch(self) -> pa.RecordBatch:
        """Return all rows as one batch."""
        return joined([*self], self.schema)

    def _move_to_file(self) -> None:
        if self._writer is None:
            self._file = tempfile.NamedTemporaryFile(prefix="ticdc-producer-")  # noqa: SIM115 - ends with the spool
            self._writer = pa.ipc.new_file(self._file, self.schema)
        for batch in self._held:
            self._writer.write_batch(batch if batch.schema.equals(self.schema) else batch.cast(self.schema))
        self._held.clear()
        self._limit.held -= self._held_bytes
        self._held_bytes = 0


@contextmanager
def _errors_of_files() -> Iterator[None]:
    """Convert errors of the operating system into an ``EnvironmentFailure``."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        what = f"temporary files cannot be written: {reason}"
        hint = "free space there, or set TMPDIR to another folder"
        raise EnvironmentFailure(what, where=tempfile.tempdir or "", hint=hint) from None


def joined(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of some batches of one schema as one batch, in their order."""
    return concatenated(batches) if batches else empty(schema)


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows."""
    return pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)


def merged(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in larger batches, see :func:`grouped_batches`."""
    return map(concatenated, grouped_batches(batches, rows, _MERGED_BYTES))


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
