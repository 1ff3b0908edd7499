"""Reads the rows of a storage folder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from fsspec import AbstractFileSystem

from ticdc_producer.config.file_system import failures, file_system, storage_error
from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.csv.decoder import CSVColumn, described_columns
from ticdc_producer.protocols.registry import file_format, protocol_spec
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.decoding.record_batches import record_batches
from ticdc_producer.targets.storage.listing import DataFile, Listing

FILE_BITS = 32
"""Low bits of an offset, which hold the row number; the high bits hold the file number."""


def file_records(
    system: AbstractFileSystem, folder: str, file: DataFile, protocol: str, options: Options
) -> Iterator[Record]:
    """The rows of one file, in order, with its directory as topic.

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
    """The options of a decoder of the folder's rows; CSV is decoded with the schema files.

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
