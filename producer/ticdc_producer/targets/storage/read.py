"""Lists the folder of a storage sink, checks that its files are consistent, and reads their rows.

Replay order: table, version, partition, date and file number; the schema file of a version precedes its data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fsspec import AbstractFileSystem

from ticdc_producer.config.storage import failures, file_system, folder_exists, storage_error
from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import DecodeError, FolderError
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.csv.decoder import CSVColumn, described_columns
from ticdc_producer.protocols.registry import file_format, protocol_spec
from ticdc_producer.protocols.spec import Options
from ticdc_producer.protocols.storage_files import (
    INDEX,
    METADATA,
    SchemaFile,
    SchemaName,
    data_number,
    read_schema_file,
    schema_name,
)
from ticdc_producer.targets.record_batches import record_batches

MAX_BYTES = 1 << 30
"""TiCDC ends a file at 512 MiB; larger files are not from TiCDC."""
_MAX_SCHEMA_BYTES = 16 << 20
_DIRECTORY = re.compile(r"([^/]+/[^/]+/[0-9]{1,20})(?:/[0-9]{1,19})?(?:/[0-9]{4}(?:-[0-9]{2}){0,2})?")


@dataclass(frozen=True, slots=True, order=True)
class DataFile:
    """One data file.

    :param directory: its directory, relative to the folder.
    :param version_folder: the first part of ``directory``, which names table and version.
    """

    directory: str
    number: int
    name: str
    version_folder: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An inconsistency: the path, and the description."""

    path: str
    what: str


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The content of a storage folder.

    :param uri: URI without parameters.
    :param data: data files in replay order.
    :param tables: the schema files, by version folder.
    :param checkpoint_ts: the checkpoint of ``metadata``; 0 if there is none.
    :param files: number of schema files.
    :param nbytes: bytes of all files.
    """

    uri: str
    data: tuple[DataFile, ...]
    tables: Mapping[str, SchemaFile]
    checkpoint_ts: int
    files: int
    problems: tuple[Problem, ...]
    nbytes: int


def list_storage(uri: str, protocol: str) -> Listing:
    """List a folder; data files are not read.

    :param uri: URI without parameters.
    :raises FolderError: if it does not exist.
    :raises StorageError: if it cannot be read.
    """
    system, folder = file_system(uri, "sink-uri")
    try:
        if not folder_exists(system, folder):
            raise FolderError("there is no such folder", path=uri)
        sizes = {
            str(path).removeprefix(folder).lstrip("/"): int(status.get("size") or 0)
            for path, status in system.find(folder, detail=True).items()
        }
        return _Reader(system, folder, uri, protocol, sizes).listing()
    except failures() as error:
        raise storage_error(f"{uri} cannot be read", uri, error) from None


class _Reader:
    def __init__(
        self, system: AbstractFileSystem, folder: str, uri: str, protocol: str, sizes: Mapping[str, int]
    ) -> None:
        self._system, self._folder, self._uri, self._sizes = system, folder, uri, sizes
        self._extension = file_format(protocol).extension
        self._problems: list[Problem] = []

    def listing(self) -> Listing:
        tables = dict(self._schema_files())
        data = tuple(sorted(self._data_files()))
        for directory in dict.fromkeys(file.directory for file in data):
            self._check_directory(directory, [file for file in data if file.directory == directory])
        for folder in dict.fromkeys(file.version_folder for file in data):
            if folder not in tables:
                self._wrong(folder, "no schema file describes the rows of this version")
        return Listing(
            uri=self._uri,
            data=data,
            tables=tables,
            checkpoint_ts=self._checkpoint(),
            files=len(tables),
            problems=tuple(self._problems),
            nbytes=sum(self._sizes.values()),
        )

    def _wrong(self, path: str, what: str) -> None:
        self._problems.append(Problem(path, what))

    def _content(self, path: str, max_bytes: int = _MAX_SCHEMA_BYTES) -> bytes:
        if not self._sizes[path]:  # object storage rejects range requests for empty objects
            return b""
        return bytes(self._system.cat_file(f"{self._folder}/{path}", start=0, end=max_bytes))

    def _schema_files(self) -> Iterator[tuple[str, SchemaFile]]:
        for path in sorted(self._sizes):
            parent, _, name = path.rpartition("/")
            parsed = schema_name(name)
            if parsed is None or not parent.endswith("/meta"):
                continue
            try:
                file = read_schema_file(self._content(path))
            except DecodeError as error:
                self._wrong(path, str(error))
                continue
            self._check_schema(path, parent.removesuffix("/meta"), parsed, file)
            yield f"{parent.removesuffix('/meta')}/{parsed.version}", file

    def _check_schema(self, path: str, parent: str, name: SchemaName, file: SchemaFile) -> None:
        if parent != "/".join(filter(None, (file.schema, file.table))):
            self._wrong(path, f"it describes {file.schema}.{file.table}, which does not match its path")
        if name.version != file.version:
            self._wrong(path, f"its TableVersion is {file.version}")
        if name.checksum != file.checksum:
            self._wrong(path, f"its content has the checksum {file.checksum:010}")

    def _data_files(self) -> Iterator[DataFile]:
        for path, size in self._sizes.items():
            directory, _, name = path.rpartition("/")
            number = data_number(name)
            if number is None:
                continue
            match = _DIRECTORY.fullmatch(directory)
            if match is None or not name.endswith(self._extension) or size > MAX_BYTES:
                self._wrong(path, f"not a data file of {self._extension[1:]}, by path, name or size")
                continue
            yield DataFile(directory, number, name, match[1])

    def _check_directory(self, directory: str, files: list[DataFile]) -> None:
        numbers = [file.number for file in files]
        if numbers != list(range(1, len(files) + 1)):
            missing = sorted(set(range(1, numbers[-1] + 1)) - set(numbers))[:3]
            self._wrong(directory, f"files are missing or duplicated: {missing or numbers}")
        index = f"{directory}/{INDEX}"
        if index not in self._sizes:
            self._wrong(index, "it is missing")
        elif self._content(index) != f"{files[-1].name}\n".encode():
            self._wrong(index, f"it does not name the last file, {files[-1].name}")

    def _checkpoint(self) -> int:
        if METADATA not in self._sizes:
            self._wrong(METADATA, "it is missing")
            return 0
        try:
            ts = json.loads(self._content(METADATA))["checkpoint-ts"]
        except (ValueError, KeyError, TypeError, RecursionError):
            ts = None
        if not isinstance(ts, int) or not 0 <= ts <= MAX_TS:
            self._wrong(METADATA, 'it is not {"checkpoint-ts":TSO}')
            return 0
        return ts


FILE_BITS = 32
"""Low bits of an offset, which hold the row number; the high bits hold the file number."""


def file_records(
    system: AbstractFileSystem, folder: str, file: DataFile, protocol: str, options: Options
) -> Iterator[Record]:
    """Yield the rows of one file, in order, with its directory as topic.

    Content that cannot be split into rows is the last record; the decoder then reports the error.

    :param folder: folder of the sink in the file system.
    :raises OSError: if the file cannot be read.
    """
    content = bytes(system.cat_file(f"{folder}/{file.directory}/{file.name}"))
    rows = file_format(protocol).rows(content, protocol_spec(protocol).typed(options))
    for index, row in enumerate(rows):
        yield Record(
            topic=file.directory,
            partition=0,
            offset=(file.number << FILE_BITS) + index,
            key=file.version_folder.encode(),
            value=row,
        )


Names: TypeAlias = Mapping[str, Collection[str]]
"""Names of the columns in the rows, by version directory."""


def reading_options(listing: Listing, options: Options, names: Names | None = None) -> Options:
    """Return the options of a decoder of the folder's rows; CSV is decoded with the schema files.

    :param names: columns in the rows; None: all columns of the schema files.
    """
    tables = {folder: described_columns(file) for folder, file in listing.tables.items()}
    if names is not None:
        tables = {folder: _selected(columns, names.get(folder)) for folder, columns in tables.items()}
    return {**options, "csv_tables": tables}


def _selected(columns: tuple[CSVColumn, ...], names: Collection[str] | None) -> tuple[CSVColumn, ...]:
    return columns if names is None else tuple(column for column in columns if column.name in names)


def records(listing: Listing, protocol: str, options: Options) -> Iterator[Record]:
    """Read the rows of all data files, in replay order.

    :raises StorageError: if a file cannot be read.
    """
    system, folder = file_system(listing.uri, "sink-uri")
    for file in listing.data:
        try:
            yield from file_records(system, folder, file, protocol, options)
        except failures() as error:
            what = f"{file.directory}/{file.name} cannot be read"
            raise storage_error(what, listing.uri, error) from None


def storage_rows(engine: Engine, listing: Listing, protocol: str, options: Options) -> Dataset:
    """Return the rows of all data files (shape ``MESSAGES``); each file is a part.

    The topic is the directory; offsets increase with file number and row.
    """
    uri, files = listing.uri, listing.data

    def rows(part: int) -> Batches:
        system, folder = file_system(uri, "sink-uri")
        return record_batches(file_records(system, folder, files[part], protocol, options))

    return engine.of_parts(len(files), rows, MESSAGES)
