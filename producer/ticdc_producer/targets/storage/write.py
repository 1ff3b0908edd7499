"""Writes row events to files, and schema files and metadata beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ticdc_producer.config.file_system import failures, file_system, folder_exists, make_folder, storage_error
from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.errors import FolderError, StorageError
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.registry import file_format, protocol_spec
from ticdc_producer.protocols.storage_files import METADATA, SchemaFile, metadata
from ticdc_producer.targets.encoding.encode import EncodePlan
from ticdc_producer.targets.encoding.encode_partition import split_by_partition
from ticdc_producer.targets.encoding.stored_messages import SENT_COLUMNS, stored_messages
from ticdc_producer.targets.storage.data_files import DataFiles, FileCounts, FileRules
from ticdc_producer.targets.storage.plan import version_folder_of

_PARAMETER = "sink-uri"


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


@dataclass(frozen=True)
class Directory:
    """What was written to one directory."""

    name: str
    counts: FileCounts


def write_data(
    messages: Dataset, headers: Mapping[str, bytes], uri: str, rules: FileRules
) -> list[Directory]:
    """Write the rows of an encoded stream.

    A part that is tried again writes the same files again.

    :param messages: made of the events that ``in_directories`` returns (``message_rows.STORED_MESSAGES``).
    :param headers: first bytes of every file, by version directory.
    :param uri: URI of the folder, without parameters.
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
                    headers.get(version_folder_of(directory), b""),
                    uri,
                    rules,
                ),
            )
            for (directory, _), rows in split_by_partition(batches)
        ]

    of_parts = messages.select(*SENT_COLUMNS).execute(write)
    return sorted((entry for of_part in of_parts for entry in of_part), key=lambda entry: entry.name)


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
