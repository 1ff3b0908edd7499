"""Splits data files into records: one per row, or one for the two lines of an update with old values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fsspec import AbstractFileSystem

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.record import Record
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.csv.records import CSVRecords
from ticdc_producer.protocols.registry import Options, known
from ticdc_producer.targets.storage.listing import DataFile

FILE_BITS = 32
"""Low bits of an offset, which hold the row number; the high bits hold the file number."""
_HEADER = b"ticdc-meta$operation"
_MAX_BAD_BYTES = 1 << 20


def file_records(
    system: AbstractFileSystem, folder: str, file: DataFile, protocol: str, options: Options
) -> Iterator[Record]:
    """The rows of one file, in order, with its directory as topic.

    Content that cannot be split into rows is the last record; the decoder then reports the error.

    :param folder: folder of the sink in the file system.
    :raises OSError: if the file cannot be read.
    """
    content = bytes(system.cat_file(f"{folder}/{file.directory}/{file.name}"))
    rows = _csv_rows(content, options) if protocol == "csv" else _json_rows(content, options)
    for index, row in enumerate(rows):
        yield Record(
            topic=file.directory,
            partition=0,
            offset=(file.number << FILE_BITS) + index,
            key=file.version_folder.encode(),
            value=row,
        )


def _json_rows(content: bytes, options: Options) -> Iterator[bytes]:
    """Rows of canal-json. Quotes in strings are escaped, so no row can contain the beginning of another."""
    end = re.escape(str(options["row_end"]).encode())
    rows = re.split(end + rb'(?=\{"id":|\Z)', content)
    yield from rows if rows[-1] else rows[:-1]


def _csv_rows(content: bytes, options: Options) -> Iterator[bytes]:
    records = CSVRecords(CSVOptions(**known(CSVOptions, options)))
    lines = _lines(records, content)
    if options["output_field_header"]:
        first = next(lines, b"")
        if not first.startswith(_HEADER):
            yield first
    for line in lines:
        yield line + next(lines, b"") if _begins_update(records, line, options) else line


def _lines(records: CSVRecords, content: bytes) -> Iterator[bytes]:
    try:
        yield from records.split(content)
    except DecodeError as error:
        yield content[error.byte : error.byte + _MAX_BAD_BYTES]


def _begins_update(records: CSVRecords, line: bytes, options: Options) -> bool:
    if not options["output_old_value"]:
        return False
    try:
        fields = records.fields(line)
    except DecodeError:
        return False
    flag = 3 + bool(options["include_commit_ts"])
    return len(fields) > flag and fields[0].text == b"D" and fields[flag].text == b"true"
