"""Writes row events to files inside Spark workers, and schema files and metadata on the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.config.file_system import failures, file_system, folder_exists, make_folder, storage_error
from ticdc_producer.errors import FolderError, ProducerError, StorageError
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.registry import file_format, protocol_spec
from ticdc_producer.protocols.storage_files import METADATA, SchemaFile, metadata
from ticdc_producer.targets.encoding.encode import EncodePlan
from ticdc_producer.targets.encoding.ordered_events import split_by_partition
from ticdc_producer.targets.encoding.stored_messages import sendable, stored_messages
from ticdc_producer.targets.storage.data_files import DataFiles, FileCounts, FileRules
from ticdc_producer.targets.storage.plan import version_folder_of

_PARAMETER = "sink-uri"
WRITTEN = "directory string, files long, rows long, bytes long, failure string"
"""The reports of the workers: counts per directory, or a failure."""
_ARROW = pa.schema(
    [
        ("directory", pa.string()),
        ("files", pa.int64()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("failure", pa.string()),
    ]
)


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
        raise _failure(uri, error) from None
    if filled:
        raise FolderError("the folder of the sink URI is not empty", path=uri, hint="name a new one")


def write_data(entries: DataFrame, headers: Mapping[str, bytes], uri: str, rules: FileRules) -> DataFrame:
    """Write the rows of an encoded stream; evaluating the result (``WRITTEN``) writes the files.

    A retried task writes the same files again.

    :param entries: shape ``ENCODED``, made of the events that ``in_directories`` returns.
    :param headers: first bytes of every file, by version directory.
    :param uri: URI of the folder, without parameters.
    """

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (directory, _), rows in split_by_partition(batches):
            header = headers.get(version_folder_of(directory), b"")
            try:
                counts, failure = write_directory(directory, stored_messages(rows), header, uri, rules), None
            except ProducerError as error:
                # A row instead of an exception: the driver needs the message, not Spark's stack trace.
                counts, failure = FileCounts(), error.what
            row = {"directory": directory, "files": counts.files, "rows": counts.rows, "bytes": counts.size}
            yield pa.RecordBatch.from_pylist([{**row, "failure": failure}], schema=_ARROW)

    return sendable(entries).mapInArrow(write, WRITTEN)


def write_directory(
    directory: str, messages: Iterable[MessageBatch], header: bytes, uri: str, rules: FileRules
) -> FileCounts:
    """Write the data files of one directory.

    :param messages: one per row.
    :param header: first bytes of every file.
    :raises StorageError: if the storage rejects a file.
    """
    system, folder = file_system(uri, _PARAMETER)
    files = DataFiles(system, f"{folder}/{directory}", rules, header)
    try:
        return files.write(messages)
    except failures() as error:
        raise _failure(uri, error) from None


def file_headers(plan: EncodePlan, folders: Mapping[int, str]) -> dict[str, bytes]:
    """The first bytes of every file, by version directory; empty if files have none.

    Table versions that share a directory have the same columns.

    :param folders: version directories by table version.
    """
    header = file_format(plan.protocol).header
    if header is None:
        return {}
    options = protocol_spec(plan.protocol).typed(plan.options)
    return {folder: header(options, plan.catalog.tables[version]) for version, folder in folders.items()}


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
    return storage_error(f"files cannot be written to {uri}", uri, error)
