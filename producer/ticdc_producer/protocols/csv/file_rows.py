"""Splits the content of a data file into rows: one per line, or the two lines of an update with old value."""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.csv.records import CSVRecords

_HEADER = b"ticdc-meta$operation"
_MAX_BAD_BYTES = 1 << 20


def file_rows(content: bytes, options: CSVOptions) -> Iterator[bytes]:
    """The rows of a file, without its header. Content that is no line is the last one."""
    records = CSVRecords(options)
    lines = _lines(records, content)
    if options.output_field_header:
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


def _begins_update(records: CSVRecords, line: bytes, options: CSVOptions) -> bool:
    if not options.output_old_value:
        return False
    try:
        fields = records.fields(line)
    except DecodeError:
        return False
    flag = 3 + options.include_commit_ts
    return len(fields) > flag and fields[0].text == b"D" and fields[flag].text == b"true"
