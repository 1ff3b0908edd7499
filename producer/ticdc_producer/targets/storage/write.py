"""Writes row events to files, with schema files and metadata.

TiCDC ends a file when a transaction has filled it to ``file-size``, and every ``flush-interval`` of its own
clock. Here the interval refers to the commit clock, because no other clock is reproducible.
``meta/CDC.index`` names the last file. Source: tiflow ``cdc/sink/dmlsink/cloudstorage/dml_worker.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import pyarrow as pa
from fsspec import AbstractFileSystem

from ticdc_producer.config.storage import failures, file_system, folder_exists, make_folder, storage_error
from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.errors import FolderError, StorageError
from ticdc_producer.model import tso
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.protocols.arrow_text import as_int64, contents, lengths
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.registry import file_format, protocol_spec
from ticdc_producer.protocols.storage_files import (
    METADATA,
    SchemaFile,
    data_name,
    dispatcher_id,
    index_path,
    metadata,
)
from ticdc_producer.targets.encode import EncodePlan
from ticdc_producer.targets.encode_partition import split_by_partition
from ticdc_producer.targets.record_batches import SENT_COLUMNS, stored_messages
from ticdc_producer.targets.storage.plan import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """The rules by which files are named and end.

    :param extension: of the files, with its dot.
    :param width: digits of the file number.
    :param size: bytes; the transaction that reaches this size is the last one of a file.
    :param flush_ms: a file ends at multiples of this time of the commit clock, in ms; None: by size alone.
    :param with_dispatcher: whether names contain the id of the dispatcher that writes the file.
    """

    extension: str
    width: int
    size: int
    flush_ms: int | None = None
    with_dispatcher: bool = False


@dataclass
class FileCounts:
    """Counts of written files and rows; ``size`` in bytes."""

    files: int = 0
    rows: int = 0
    size: int = 0


class DataFiles:
    """A writer of the files of one directory, in order.

    :param folder: the directory in the file system.
    :param header: first bytes of every file.
    :param dispatcher: id of the dispatcher in the names of the files; empty if they have none.
    """

    def __init__(
        self,
        system: AbstractFileSystem,
        folder: str,
        rules: FileRules,
        header: bytes = b"",
        dispatcher: str = "",
    ) -> None:
        self._system, self._folder, self._rules, self._header = system, folder, rules, header
        self._dispatcher = dispatcher
        self._file: IO[bytes] | None = None
        self._name = ""
        self._size = 0
        self._last_ts = -1
        self.counts = FileCounts()

    def write(self, batches: Iterable[MessageBatch]) -> FileCounts:
        """Write rows with their terminators, and the index file.

        :raises Exception: one of ``failures``, if the file system rejects them.
        """
        make_folder(self._system, f"{self._folder}/meta")
        try:
            for batch in batches:
                self._add(batch.value, as_int64(batch.commit_ts))
        finally:
            self._close()
        if self._name:
            index = f"{self._folder}/{index_path(self._dispatcher)}"
            self._system.pipe_file(index, f"{self._name}\n".encode())
        return self.counts

    def _add(self, values: pa.Array, commit_ts: Numbers) -> None:
        starts = np.flatnonzero(np.diff(commit_ts, prepend=self._last_ts))
        ends = np.concatenate([[0], np.cumsum(lengths(values))])
        written = 0
        for cut in self._cuts(starts, ends, commit_ts):
            self._put(values.slice(written, cut - written))
            self._close()
            written = cut
        self._put(values.slice(written))
        self._last_ts = int(commit_ts[-1]) if len(commit_ts) else self._last_ts

    def _cuts(self, starts: Numbers, ends: Numbers, commit_ts: Numbers) -> list[int]:
        """Return the rows before which a file ends; each is the first row of a transaction.

        :param starts: first rows of the transactions in the batch.
        :param ends: bytes of the batch before each row.

        Transactions of 60, 60 and 10 bytes, with a file size of 100 bytes, end a file before the third one.
        """
        by_flush = starts[self._flushed(starts, commit_ts)].tolist()
        held, before, cuts, by_time = self._size, 0, list[int](), set(by_flush)
        could_fill = held + ends[-1] >= self._rules.size
        for start in starts.tolist() if could_fill else by_flush:
            if start in by_time or held + int(ends[start] - ends[before]) >= self._rules.size:
                cuts.append(start)
                held, before = 0, start
        return cuts

    def _flushed(self, starts: Numbers, commit_ts: Numbers) -> Flags:
        """Return which transactions are the first after a multiple of the flush interval."""
        if self._rules.flush_ms is None or not len(starts):
            return np.zeros(len(starts), bool)
        before = np.concatenate([[self._last_ts], commit_ts])[starts]
        return _ticks_between(before, commit_ts[starts], self._rules.flush_ms)

    def _put(self, values: pa.Array) -> None:
        if not len(values):
            return
        if self._file is None:
            self.counts.files += 1
            rules, number = self._rules, self.counts.files
            self._name = data_name(number, rules.width, rules.extension, self._dispatcher)
            self._file = self._system.open(f"{self._folder}/{self._name}", "wb")
            self._file.write(self._header)
        data = contents(values)
        self._file.write(data)
        self._size += len(data)
        self.counts.rows += len(values)
        self.counts.size += len(data)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._size = None, 0


def _ticks_between(before: Numbers, after: Numbers, every_ms: int) -> Flags:
    """Return whether a multiple of some milliseconds is between two TSOs; never after -1, which is not a TSO.

    >>> before, after = (np.array(seconds) * 1000 << tso.LOGICAL_BITS for seconds in ([1, 4, 6], [4, 6, 7]))
    >>> _ticks_between(before, after, 5000).tolist()
    [False, True, False]
    """
    old, new = ((ts >> tso.LOGICAL_BITS) // every_ms for ts in (before, after))
    ticks: Flags = (old != new) & (before >= 0)
    return ticks


_PARAMETER = "sink-uri"
_INCOMPLETE = "the files are incomplete, and `metadata` is missing: remove them before you run again"


def check_empty(uri: str) -> None:
    """Check that the folder of a run is empty.

    :param uri: URI of the folder, without parameters.
    :raises FolderError: if it is not empty.
    :raises ChangefeedError: if no file system is installed for its scheme.
    :raises StorageError: if it cannot be listed, for example because the bucket does not exist.
    """
    system, folder = file_system(uri, _PARAMETER)
    try:
        filled = folder_exists(system, folder) and bool(system.ls(folder, detail=False))
    except failures() as error:
        raise storage_error(f"files cannot be written to {uri}", uri, error) from None
    if filled:
        raise FolderError("the folder of the sink URI is not empty", path=uri, hint="name a new one")


@dataclass(frozen=True)
class Directory:
    """The files that were written to one directory."""

    name: str
    counts: FileCounts


def write_data(
    messages: Dataset, headers: Mapping[str, bytes], uri: str, rules: FileRules, layout: Layout
) -> list[Directory]:
    """Write the rows of an encoded stream.

    A part that is tried again writes the same files again.

    :param messages: made of the events that ``in_directories`` returns (``message_rows.STORED_MESSAGES``).
    :param headers: first bytes of every file, by version directory.
    :param uri: URI of the folder, without parameters.
    :param layout: of the directories.
    :return: the directories, by name.
    :raises StorageError: if the storage rejects a file.
    """

    def write(_part: Part, batches: Batches) -> list[Directory]:
        return [
            Directory(
                directory,
                write_directory(
                    directory,
                    stored_messages(rows),
                    headers.get(layout.version_folder(directory), b""),
                    uri,
                    rules,
                    dispatcher_id(layout.physical_table(directory)) if rules.with_dispatcher else "",
                ),
            )
            for (directory, _), rows in split_by_partition(batches)
        ]

    of_parts = messages.select(*SENT_COLUMNS).execute(write)
    return sorted((entry for of_part in of_parts for entry in of_part), key=lambda entry: entry.name)


def write_directory(
    directory: str,
    messages: Iterable[MessageBatch],
    header: bytes,
    uri: str,
    rules: FileRules,
    dispatcher: str = "",
) -> FileCounts:
    """Write the data files of one directory.

    :param messages: one per row.
    :param header: first bytes of every file.
    :param dispatcher: id of the dispatcher in the names of the files; empty if they have none.
    :raises StorageError: if the storage rejects a file.
    """
    system, folder = file_system(uri, _PARAMETER)
    files = DataFiles(system, f"{folder}/{directory}", rules, header, dispatcher)
    try:
        return files.write(messages)
    except failures() as error:
        raise _failure(uri, error) from None


def file_headers(plan: EncodePlan, folders: Mapping[int, Sequence[str]]) -> dict[str, bytes]:
    """Return the first bytes of every file, by version directory; empty if files have none.

    Table versions that share a directory have the same columns.

    :param folders: version directories by table version.
    """
    header = file_format(plan.protocol).header
    if header is None:
        return {}
    options = protocol_spec(plan.protocol).typed(plan.options)
    return {
        folder: header(options, plan.catalog.tables[version])
        for version, of_version in folders.items()
        for folder in of_version
    }


def write_schema_files(uri: str, files: Mapping[str, SchemaFile]) -> None:
    """Write schema files.

    :raises StorageError: if the storage rejects one.
    """
    _write(uri, {path: file.content for path, file in files.items()})


def write_metadata(uri: str, checkpoint_ts: int) -> None:
    """Write the last file of a run: the commit-ts up to which all data is complete.

    :raises StorageError: if the storage rejects it.
    """
    _write(uri, {METADATA: metadata(checkpoint_ts)})


def _write(uri: str, files: Mapping[str, bytes]) -> None:
    system, folder = file_system(uri, _PARAMETER)
    try:
        for parent in sorted({path.rpartition("/")[0] for path in files}):
            make_folder(system, f"{folder}/{parent}".rstrip("/"))
        for path, content in files.items():
            system.pipe_file(f"{folder}/{path}", content)
    except failures() as error:
        raise _failure(uri, error) from None


def _failure(uri: str, error: Exception) -> StorageError:
    failure = storage_error(f"files cannot be written to {uri}", uri, error)
    hints = (failure.hint, _INCOMPLETE)
    return StorageError(failure.what, location=uri, hint="; ".join(hint for hint in hints if hint))
