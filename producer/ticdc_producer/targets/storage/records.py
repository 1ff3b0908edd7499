"""Splits data files into records: one per row, or one for the two lines of an update with old values."""

from __future__ import annotations

from collections.abc import Iterator

from fsspec import AbstractFileSystem

from ticdc_producer.model.record import Record
from ticdc_producer.protocols.registry import file_format, protocol_spec
from ticdc_producer.protocols.spec import Options
from ticdc_producer.targets.storage.listing import DataFile

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
