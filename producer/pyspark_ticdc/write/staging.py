"""The rows of a batch between its tasks and its commit: an Arrow file per task, in a shared folder."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import WriterCommitMessage

from ticdc_producer.config.storage import failures, file_system, make_folder, storage_error
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import StorageError
from ticdc_producer.model.shapes import CHANGE_LOG, ChangeBatch
from ticdc_producer.scenario.dataframe.change_columns import changes_digest

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_SUFFIX = ".arrow"
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True, kw_only=True)
class StagedRows(WriterCommitMessage):
    """The rows of one task.

    :param file: name of the file; empty without rows.
    :param rows: their number.
    :param digest: see ``changes_digest``.
    :param first: lowest ``commit_seq``; 0 without rows.
    :param last: highest ``commit_seq``.
    """

    file: str = ""
    rows: int = 0
    digest: int = 0
    first: int = 0
    last: int = 0

    def __repr__(self) -> str:
        """Return the number of rows: paths may hold secrets."""
        return f"StagedRows({self.rows})"


@dataclass(frozen=True)
class StagingFolder:
    """The folder of the files.

    :param location: path or URI.
    """

    location: str

    def write(self, changes: Iterable[ChangeBatch]) -> StagedRows:
        """Write the rows of a task.

        :param changes: shape ``CHANGE_LOG``.
        :raises StorageError: if the folder cannot be written.
        """
        filled = (batch for batch in changes if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return StagedRows()
        file = f"{uuid4().hex}{_SUFFIX}"
        try:
            system, folder = self._system()
            make_folder(system, folder)
            with (
                system.open(f"{folder}/{file}", "wb") as sink,
                pa.ipc.new_stream(sink, CHANGE_LOG, options=_COMPRESSED) as writer,
            ):
                parts = [_written(writer, batch) for batch in chain([first], filled)]
        except failures() as error:
            raise storage_error("the staging folder cannot be written", self.location, error) from None
        rows, digests, lowest, highest = zip(*parts, strict=True)
        return StagedRows(
            file=file,
            rows=sum(rows),
            digest=sum(digests) % (1 << 64),
            first=min(lowest),
            last=max(highest),
        )

    def read(self, file: str) -> Batches:
        """Yield the rows of a file.

        :raises StorageError: if it cannot be read.
        """
        try:
            system, folder = self._system()
            with system.open(f"{folder}/{file}", "rb") as source, pa.ipc.open_stream(source) as reader:
                yield from reader
        except FileNotFoundError:
            what = "the file of a task is missing: driver and executors must share the folder of `staging`"
            raise StorageError(what, location=self.location) from None
        except failures() as error:
            raise storage_error("the staging folder cannot be read", self.location, error) from None

    def clear(self) -> None:
        """Delete all files, also those of tasks that failed, and the folder if nothing else is in it."""
        with suppress(*failures()):
            system, folder = self._system()
            for path in system.glob(f"{folder}/*{_SUFFIX}"):
                system.rm_file(path)
            system.rmdir(folder)

    def _system(self) -> tuple[AbstractFileSystem, str]:
        if "://" in self.location:
            return file_system(self.location, "staging")
        from fsspec.implementations.local import LocalFileSystem

        return LocalFileSystem(), str(Path(self.location.removeprefix("file:")).absolute())


def _written(writer: pa.RecordBatchStreamWriter, batch: ChangeBatch) -> tuple[int, int, int, int]:
    """Write a batch; return its number of rows, their digest, and their lowest and highest ``commit_seq``."""
    writer.write_batch(batch)
    numbers = pc.min_max(batch.column("commit_seq")).as_py()
    return batch.num_rows, changes_digest(batch), numbers["min"], numbers["max"]
