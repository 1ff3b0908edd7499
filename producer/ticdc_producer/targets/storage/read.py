"""Lists the folder of a storage sink, checks that its files are consistent, and reads their rows.

Replay order: table, version, partition, date and file number; the schema file of a version precedes its data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice
from operator import attrgetter
from typing import TypeAlias

from fsspec import AbstractFileSystem

from ticdc_producer.config import Changefeed
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
    METADATA,
    SchemaFile,
    SchemaName,
    index_path,
    parse_data_name,
    read_schema_file,
    schema_name,
)
from ticdc_producer.targets.record_batches import record_batches

MAX_BYTES = 1 << 30
"""TiCDC ends a file at 512 MiB; larger files are not from TiCDC."""
_MAX_SCHEMA_BYTES = 16 << 20
_DATE = r"(?:/[0-9]{4}(?:-[0-9]{2}){0,2})?"
_BY_NAME = re.compile(rf"([^/]+/[^/]+/[0-9]{{1,20}})(?:/[0-9]{{1,19}})?{_DATE}")
_BY_TABLE_ID = re.compile(rf"([0-9]{{1,19}}/[0-9]{{1,20}}){_DATE}")
_MAX_FILES = 1 << 31
"""Data files that a directory may have."""


@dataclass(frozen=True, slots=True, order=True)
class DataFile:
    """One data file.

    :param directory: its directory, relative to the folder.
    :param dispatcher: id of the dispatcher in its name, or empty.
    :param number: the number in its name.
    :param version_folder: the first part of ``directory``, which names table and version.
    :param order: ``number``; in a directory with several dispatchers, its number in replay order.
    """

    directory: str
    dispatcher: str
    number: int
    name: str
    version_folder: str
    order: int


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
    :param schemas: the schema files, by path.
    :param unread: those of ``problems`` that concern data files that cannot be read.
    :param nbytes: bytes of all files.
    """

    uri: str
    data: tuple[DataFile, ...]
    schemas: Mapping[str, SchemaFile]
    problems: tuple[Problem, ...]
    unread: tuple[Problem, ...]
    nbytes: int

    @cached_property
    def tables(self) -> dict[str, SchemaFile]:
        """The schema files, by version folder."""
        return {_version_folder(path): file for path, file in self.schemas.items()}

    @property
    def shares_directories(self) -> bool:
        """Whether several dispatchers wrote into one directory, so that its files have no common order."""
        writers = {(file.directory, file.dispatcher) for file in self.data}
        return len(writers) > len({directory for directory, _ in writers})


def list_storage(uri: str, protocol: str, *, by_table_id: bool = False) -> Listing:
    """List a folder; data files are not read.

    :param uri: URI without parameters.
    :param by_table_id: whether directories are named after the ids of tables.
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
        if [*sizes] == [""]:
            raise FolderError("the folder does not have the files of a storage sink", path=uri)
        return _Reader(system, folder, uri, protocol, sizes, by_table_id).listing()
    except failures() as error:
        raise storage_error(f"{uri} cannot be read", uri, error) from None


def listing_of(changefeed: Changefeed) -> Listing:
    """List the folder of a changefeed, as :func:`list_storage`."""
    by_table_id = changefeed.use_table_id_as_path
    return list_storage(changefeed.sink_uri.path, changefeed.protocol, by_table_id=by_table_id)


def readable_listing(changefeed: Changefeed) -> Listing:
    """List the folder of a changefeed whose files are those of its options.

    :raises FolderError: if files cannot be read, and no other ones have rows.
    """
    listing = listing_of(changefeed)
    if listing.unread and not listing.data:
        problem = listing.unread[0]
        hint = "the sink URI and the changefeed file have to be those of the folder"
        raise FolderError(f"{problem.path}: {problem.what}", path=listing.uri, hint=hint)
    return listing


class _Reader:
    def __init__(
        self,
        system: AbstractFileSystem,
        folder: str,
        uri: str,
        protocol: str,
        sizes: Mapping[str, int],
        by_table_id: bool,
    ) -> None:
        self._system, self._folder, self._uri, self._sizes = system, folder, uri, sizes
        self._extension = file_format(protocol).extension
        self._by_table_id = by_table_id
        self._problems: list[Problem] = []
        self._unread: list[Problem] = []

    def listing(self) -> Listing:
        schemas = dict(self._schema_files())
        described = set(map(_version_folder, schemas))
        data = tuple(_ordered(sorted(self._data_files())))
        for (directory, dispatcher), files in groupby(data, key=attrgetter("directory", "dispatcher")):
            self._check_files(directory, dispatcher, [*files])
        for folder in dict.fromkeys(file.version_folder for file in data):
            if folder not in described:
                self._wrong(folder, "no schema file describes the rows of this version")
        self._check_metadata()
        return Listing(
            uri=self._uri,
            data=data,
            schemas=schemas,
            problems=tuple(self._problems),
            unread=tuple(self._unread),
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
            yield path, file

    def _check_schema(self, path: str, parent: str, name: SchemaName, file: SchemaFile) -> None:
        own = "/".join(filter(None, (file.schema, file.table)))
        if not (parent.isdecimal() if self._by_table_id and file.table else parent == own):
            self._wrong(path, f"it describes {file.schema}.{file.table}, which does not match its path")
        if name.version != file.version:
            self._wrong(path, f"its TableVersion is {file.version}")
        if name.checksum != file.checksum:
            self._wrong(path, f"its content has the checksum {file.checksum:010}")

    def _data_files(self) -> Iterator[DataFile]:
        for path, size in self._sizes.items():
            directory, _, name = path.rpartition("/")
            parts = parse_data_name(name)
            if parts is None:
                continue
            match = (_BY_TABLE_ID if self._by_table_id else _BY_NAME).fullmatch(directory)
            is_named = match is not None and name.endswith(self._extension) and parts.number < _MAX_FILES
            if match is None or not is_named or size > MAX_BYTES:
                self._wrong(path, f"not a data file of {self._extension[1:]}, by path, name or size")
                self._unread.append(self._problems[-1])
                continue
            yield DataFile(directory, parts.dispatcher, parts.number, name, match[1], parts.number)

    def _check_files(self, directory: str, dispatcher: str, files: Sequence[DataFile]) -> None:
        numbers = [file.number for file in files]
        if numbers != list(range(1, len(files) + 1)):
            known = {*numbers}
            others = (number for number in range(1, numbers[-1]) if number not in known)
            missing = [*islice(others, 3)]
            self._wrong(directory, f"files are missing or duplicated: {missing or numbers}")
        index = f"{directory}/{index_path(dispatcher)}"
        if index not in self._sizes:
            self._wrong(index, "it is missing")
        elif self._content(index) != f"{files[-1].name}\n".encode():
            self._wrong(index, f"it does not name the last file, {files[-1].name}")

    def _check_metadata(self) -> None:
        if METADATA not in self._sizes:
            self._wrong(METADATA, "it is missing")
            return
        try:
            ts = json.loads(self._content(METADATA))["checkpoint-ts"]
        except (ValueError, KeyError, TypeError, RecursionError):
            ts = None
        if not isinstance(ts, int) or not 0 <= ts <= MAX_TS:
            self._wrong(METADATA, 'it is not {"checkpoint-ts":TSO}')


def _version_folder(path: str) -> str:
    """Return the version folder that a schema file describes.

    >>> _version_folder("test/t/meta/schema_415508856908021766_0810601957.json")
    'test/t/415508856908021766'
    """
    parent, _, name = path.rpartition("/meta/")
    return f"{parent}/{name.split('_')[1]}"


def _ordered(files: Iterable[DataFile]) -> Iterator[DataFile]:
    """Yield files with their places in directories in which several dispatchers wrote.

    :param files: in replay order.
    """
    for _, of_directory in groupby(files, key=attrgetter("directory")):
        together = [*of_directory]
        several = len({file.dispatcher for file in together}) > 1
        for order, file in enumerate(together, 1):
            yield replace(file, order=order) if several else file


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
            offset=(file.order << FILE_BITS) + index,
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
