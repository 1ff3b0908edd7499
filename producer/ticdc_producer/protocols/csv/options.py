r"""The options of CSV, and the division of its files into rows, records and fields by them.

Strict: a quoted field ends with its quote, an unquoted one contains none, and every record has its
terminator, so a truncated file is detected. A quoted ``\N`` is a text, an unquoted one is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ticdc_producer.errors import ChangefeedError, DecodeError
from ticdc_producer.hints import nearest
from ticdc_producer.model.parameter import Profile

_METHODS = ("base64", "hex")
_LONGEST_DELIMITER = 3
_LINE_BREAKS = frozenset("\r\n")
_OF_UNQUOTED_FIELDS = frozenset("0123456789+-.truefals")
"""Characters of numbers, true and false: fields that are neither quoted nor escaped."""
_UNQUOTED = re.compile(r"(?:\\.|[^\\])*", re.DOTALL)
"""A field without quotes, in which each backslash escapes a character."""
_NUMBER = re.compile(r"[+-]?[0-9.]+(?:e[+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CSVOptions:
    """Options of the encoding.

    :param delimiter: text between fields.
    :param quote: quote character of texts; empty: texts are not quoted, and a backslash escapes the
        characters that would end a field or line.
    :param null: text of NULL, never quoted.
    :param terminator: end of every line.
    :param include_commit_ts: whether lines contain their commit-ts.
    :param output_old_value: whether an update has two lines, its old image as ``D`` and its new one as
        ``I``, and every line contains a field that marks the lines of updates.
    :param output_handle_key: whether lines contain TiDB's handle of the row. TiCDC new architecture ignores
        it.
    :param output_field_header: whether files begin with the names of the fields.
    :param binary_encoding_method: encoding of byte strings: ``base64`` or ``hex``.
    :param time_zone: the changefeed's time zone, in which TIMESTAMP values are given; handles have UTC.
    :param profile: the TiCDC architecture.
    :raises ChangefeedError: for values that TiCDC rejects, and for values with which no reader could divide
        a file into rows and fields.
    """

    delimiter: str = ","
    quote: str = '"'
    null: str = r"\N"
    terminator: str = "\r\n"
    include_commit_ts: bool = False
    output_old_value: bool = False
    output_handle_key: bool = False
    output_field_header: bool = False
    binary_encoding_method: str = "base64"
    time_zone: str = "UTC"
    profile: Profile = "classic"

    def __post_init__(self) -> None:
        check_separators(self.delimiter, self.quote)
        for parameter, problem in _collisions(self):
            raise ChangefeedError(problem, parameter=parameter)
        if self.binary_encoding_method not in _METHODS:
            what = f"unknown binary-encoding-method {self.binary_encoding_method!r}"
            hint = nearest(self.binary_encoding_method, _METHODS)
            raise ChangefeedError(what, parameter="binary-encoding-method", hint=hint)

    @property
    def writes_handle(self) -> bool:
        """Whether lines contain the handle. Source: ticdc ``csv_message.go`` (``encodeMeta``)."""
        return self.output_handle_key and self.profile == "classic"


def check_separators(delimiter: str, quote: str) -> None:
    """Check what TiCDC checks for each storage sink (``CSVConfig.validateAndAdjust``, which counts bytes).

    :raises ChangefeedError: for a text that TiCDC rejects.
    """
    what, parameter = "", "quote"
    if not 1 <= len(delimiter.encode()) <= _LONGEST_DELIMITER or set(delimiter) & _LINE_BREAKS:
        what, parameter = "csv config delimiter must be 1 to 3 bytes, none of them CR or LF", "delimiter"
    elif len(quote.encode()) > 1 or quote in _LINE_BREAKS:
        what = "csv config quote must be one ASCII character, not CR or LF, or empty"
    elif quote and quote in delimiter:
        what = "csv config quote and delimiter cannot be the same"
    if what:
        raise ChangefeedError(what, parameter=parameter)


def _collisions(options: CSVOptions) -> Iterator[tuple[str, str]]:
    """Yield (parameter, problem) for separators that TiCDC accepts, and that make its files unreadable."""
    delimiter, quote, end, null = options.delimiter, options.quote, options.terminator, options.null
    if not end:
        what = "an empty terminator joins the rows of a CSV file, and no reader can divide them again"
        yield "terminator", rf"{what} (old versions of TiCDC wrote \r\n): leave it out, or set it to \r\n"
    if set(end) & set(delimiter + null) and not set(end) & _LINE_BREAKS:
        what = "terminator shares characters with delimiter or null: no reader can tell rows from fields"
        yield "terminator", what
    for name, text in (("delimiter", delimiter), ("terminator", end), ("quote", quote)):
        if text and set(text) <= _OF_UNQUOTED_FIELDS:
            yield (
                name,
                f"{name} {text!r} can be a part of a number, of true or of false, which have no quotes",
            )
    if any(text in null for text in (delimiter, end, quote, "\r", "\n") if text):
        yield "null", f"null {null!r} contains the delimiter, the terminator, the quote or a line break"
    if null and set(null) <= set(delimiter):
        yield "null", f"null {null!r} can be the beginning of the delimiter"
    if _NUMBER.fullmatch(null):
        yield "null", f"null {null!r} is also a number, and numbers have no quotes"
    if quote:
        if end.startswith(quote):
            yield (
                "terminator",
                "terminator begins with the quote, which doubles the quote at the end of a text",
            )
        return
    if not _UNQUOTED.fullmatch(null):
        yield "null", f"null {null!r} ends with a backslash, which without a quote escapes the delimiter"
    if "\\" in delimiter + end:
        yield "quote", "without a quote the backslash escapes: delimiter and terminator cannot contain it"
    if not delimiter.isascii() or set(delimiter) & set("rn"):
        what = "without a quote delimiter must be ASCII and contain neither r nor n: TiCDC escapes its bytes"
        yield "delimiter", what
    if not set(end) & _LINE_BREAKS:
        yield "terminator", "without a quote terminator must contain CR or LF: TiCDC escapes nothing else"


_UNESCAPED = {b"r": b"\r", b"n": b"\n"}
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


def unescaped(text: bytes) -> bytes:
    """Return the text that is written so without quotes."""
    return _ESCAPE.sub(lambda match: _UNESCAPED.get(match[1], match[1]), text)


@dataclass(frozen=True, slots=True)
class CSVField:
    """One field.

    :param text: None for NULL.
    :param quoted: whether it is enclosed in quotes.
    """

    text: bytes | None
    quoted: bool = False


class CSVRecords:
    """A parser of the output of ``CSVEncoder`` with the same options."""

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

    def present(self, field: CSVField) -> CSVField:
        """Return a field that is never NULL, such as the name of a table, although it may read as NULL."""
        return self._read_text(self._null) if field.text is None else field

    def _read(self, text: bytes) -> CSVField:
        return CSVField(None) if text == self._null else self._read_text(text)

    def _read_text(self, text: bytes) -> CSVField:
        mark = self._quote
        if not mark:
            return CSVField(unescaped(text))
        if text.startswith(mark):
            return CSVField(text[len(mark) : -len(mark)].replace(mark * 2, mark), quoted=True)
        return CSVField(text)


_HEADER = b"ticdc-meta$operation"
_MAX_BAD_BYTES = 1 << 20


def file_rows(content: bytes, options: CSVOptions) -> Iterator[bytes]:
    """Yield the rows of a file, without its header. Content that is not a line is yielded last."""
    records = CSVRecords(options)
    if options.output_field_header and content.startswith(_HEADER):
        # Names have no quotes and no escapes, so a header need not be a record.
        _, _, content = content.partition(options.terminator.encode())
    lines = _lines(records, content)
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
    if len(fields) <= flag:
        return False
    op, of_update = (records.present(fields[number]).text for number in (0, flag))
    return op == b"D" and of_update == b"true"
