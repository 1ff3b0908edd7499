"""Batches of this process: in memory, and in temporary files above a number of bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from ticdc_producer.errors import EnvironmentFailure

_MOST_BYTES = 64 << 20
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


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
        batches = [*self]
        return batches[0] if len(batches) == 1 else joined(batches, self.schema)

    def _move_to_file(self) -> None:
        if self._writer is None:
            self._file = tempfile.NamedTemporaryFile(prefix="ticdc-producer-")  # noqa: SIM115 - ends with the spool
            self._writer = pa.ipc.new_stream(self._file, self.schema, options=_COMPRESSED)
        for batch in self._held:
            self._writer.write_batch(batch if batch.schema.equals(self.schema) else batch.cast(self.schema))
        self._held.clear()
        self._limit.held -= self._held_bytes
        self._held_bytes = 0


def joined(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of some batches of one schema as one batch, in their order."""
    return pa.concat_batches(batches) if batches else empty(schema)


def empty(schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch without rows."""
    return pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)
