"""The options of CSV."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.parameter import Profile

_METHODS = ("base64", "hex")
_LONGEST_DELIMITER = 3


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
    :raises ChangefeedError: for values that TiCDC rejects.
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
        if not 1 <= len(self.delimiter) <= _LONGEST_DELIMITER or set(self.delimiter) & {"\r", "\n"}:
            what = "csv config delimiter must be 1 to 3 characters, none of them CR or LF"
            raise ChangefeedError(what, parameter="delimiter")
        if len(self.quote) > 1 or self.quote in ("\r", "\n"):
            what = "csv config quote must be one character, not CR or LF, or empty"
            raise ChangefeedError(what, parameter="quote")
        if self.quote and self.quote in self.delimiter:
            raise ChangefeedError("csv config quote and delimiter cannot be the same", parameter="quote")
        if self.binary_encoding_method not in _METHODS:
            what = f"unknown binary-encoding-method {self.binary_encoding_method!r}"
            hint = nearest(self.binary_encoding_method, _METHODS)
            raise ChangefeedError(what, parameter="binary-encoding-method", hint=hint)

    @property
    def writes_handle(self) -> bool:
        """Whether lines contain the handle. Source: ticdc ``csv_message.go`` (``encodeMeta``)."""
        return self.output_handle_key and self.profile == "classic"
