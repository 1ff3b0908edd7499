r"""Splits a data file into rows, and the text of a row into records and fields.

Strict: a quoted field ends with its quote, an unquoted one contains none, and every record has its
terminator, so a truncated file is detected. A quoted ``\N`` is a text, an unquoted one is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.csv.options import CSVOptions

_UNESCAPED = {b"r": b"\r", b"n": b"\n"}
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CSVField:
    """One field.

    :param text: None for NULL.
    :param quoted: whether it is enclosed in quotes.
    """

    text: bytes | None
    quoted: bool = False


class CSVRecords:
    """Parses the output of ``CSVEncoder`` with the same options."""

    def __init__(self, options: CSVOptions) -> None:
        self._quote = options.quote.encode()
        self._null = options.null.encode()
        delimiter, end, quote, null = (
            re.escape(text.encode())
            for text in (options.delimiter, options.terminator, options.quote, options.null)
        )
        # The longer one comes first, because one may begin with the other: "|" and "|\\n".
        if options.terminator.startswith(options.delimiter):
            delimiter = b"(?!%b)%b" % (end, delimiter)
        else:
            end = b"(?!%b)%b" % (delimiter, end)
        stop = b"(?:%b|%b)" % (delimiter, end)
        if options.quote:
            field = b"(?>%b(?:[^%b]++|%b%b)*+%b|%b(?=%b)|(?:(?!%b|%b).)*+)" % (
                *(quote,) * 5, null, stop, stop, quote,
            )  # fmt: skip
        else:
            field = rb"(?>%b(?=%b)|(?:\\.|(?!%b)[^\\])*+)" % (null, stop, stop)
        self._field = re.compile(b"(%b)(%b)" % (field, stop), re.DOTALL)
        self._record = re.compile(b"%b(?:%b%b)*+%b" % (field, delimiter, field, end), re.DOTALL)

    def split(self, content: bytes) -> Iterator[bytes]:
        """Yield the records of a file, each with its terminator.

        :raises DecodeError: if no record starts at a position, after the records before it were returned.
        """
        position = 0
        while position < len(content):
            match = self._record.match(content, position)
            if match is None:
                raise DecodeError("CSV-RECORD", "fields up to a terminator", part="value", byte=position)
            yield match[0]
            position = match.end()

    def fields(self, record: bytes) -> list[CSVField]:
        """Return the fields of a record.

        :raises DecodeError: if this is not exactly one record.
        """
        return [self._read(text) for text in self.texts(record)]

    def texts(self, record: bytes) -> list[bytes]:
        """Return the fields of a record as they are written, with their quotes.

        :raises DecodeError: if this is not exactly one record.
        """
        if self._record.fullmatch(record) is None:
            raise DecodeError("CSV-RECORD", "one record with its terminator", part="value", byte=0)
        return [match[1] for match in self._field.finditer(record)]

    def _read(self, text: bytes) -> CSVField:
        if text == self._null:
            return CSVField(None)
        mark = self._quote
        if not mark:
            return CSVField(_ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[1]), text))
        if text.startswith(mark):
            return CSVField(text[len(mark) : -len(mark)].replace(mark * 2, mark), quoted=True)
        return CSVField(text)


_HEADER = b"ticdc-meta$operation"
_MAX_BAD_BYTES = 1 << 20


def file_rows(content: bytes, options: CSVOptions) -> Iterator[bytes]:
    """Yield the rows of a file, without its header. Content that is not a line is yielded last."""
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
