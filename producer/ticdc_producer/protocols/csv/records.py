"""Splits the text of a CSV file into records and fields.

Strict: a quoted field ends with its quote, an unquoted one contains none, and every record has its
terminator, so a truncated file is detected. A quoted ``\\N`` is a text, an unquoted one is NULL.
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
        """The records of a file, each with its terminator.

        :raises DecodeError: if no record starts at a position, after the records before it were returned.
        """
        position = 0
        while position < len(content):
            found = self._record.match(content, position)
            if found is None:
                raise DecodeError("CSV-RECORD", "fields up to a terminator", part="value", byte=position)
            yield found[0]
            position = found.end()

    def fields(self, record: bytes) -> list[CSVField]:
        """The fields of a record.

        :raises DecodeError: if this is not exactly one record.
        """
        if self._record.fullmatch(record) is None:
            raise DecodeError("CSV-RECORD", "one record with its terminator", part="value", byte=0)
        return [self._read(found[1]) for found in self._field.finditer(record)]

    def _read(self, text: bytes) -> CSVField:
        if text == self._null:
            return CSVField(None)
        mark = self._quote
        if not mark:
            return CSVField(_ESCAPE.sub(lambda found: _UNESCAPED.get(found[1], found[1]), text))
        if text.startswith(mark):
            return CSVField(text[len(mark) : -len(mark)].replace(mark * 2, mark), quoted=True)
        return CSVField(text)
