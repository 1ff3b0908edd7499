"""Rows of data files as records: a record is a row, or with old values the two lines of an update."""

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
"""Bits of an offset below the number of the file: the row in it."""
_HEADER = b"ticdc-meta$operation"
_MOST_SHOWN = 1 << 20


def file_records(
    system: AbstractFileSystem, folder: str, file: DataFile, protocol: str, options: Options
) -> Iterator[Record]:
    """The rows of one file, in order, under its directory as topic.

    What does not read as rows comes as a last record, for the decoder to say what is wrong with it.

    :param folder: of the sink, in the file system.
    :raises OSError: if it cannot be read.
    """
    content = bytes(system.cat_file(f"{folder}/{file.directory}/{file.name}"))
    rows = _csv_rows(content, options) if protocol == "csv" else _json_rows(content, options)
    for place, row in enumerate(rows):
        yield Record(
            topic=file.directory,
            partition=0,
            offset=(file.number << FILE_BITS) + place,
            key=file.version_folder.encode(),
            value=row,
        )


def _json_rows(content: bytes, options: Options) -> Iterator[bytes]:
    """Rows of canal-json. In a string a quote is escaped, so that no row holds the beginning of another."""
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
        yield content[error.byte : error.byte + _MOST_SHOWN]


def _begins_update(records: CSVRecords, line: bytes, options: Options) -> bool:
    if not options["output_old_value"]:
        return False
    try:
        fields = records.fields(line)
    except DecodeError:
        return False
    place = 3 + bool(options["include_commit_ts"])
    return len(fields) > place and fields[0].text == b"D" and fields[place].text == b"true"
