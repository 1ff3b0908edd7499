"""Coerces values of string and byte columns, and of ENUM, SET and JSON columns.

Rules: tidb ``pkg/types/datum.go`` (``ProduceStrWithSpecifiedTp``) and ``pkg/table/column.go``
(``validateCharset``).

Rules: tidb ``pkg/types/enum.go``, ``set.go``; JSON text: ``pkg/types/json_binary.go``.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.model.values.collation import in_charset, sort_key
from ticdc_producer.model.values.json_document import json_of, json_text, stored_json, to_json_text
from ticdc_producer.model.values.number_text import as_number, nearest_integer, plain_text
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    Bits,
    DateTimeValue,
    Duration,
    ErrorMember,
    JsonText,
    Single,
    SQLMode,
    SQLValue,
    Year,
    stored_number,
    value_error,
)

T = MySQLType


def coerce_text(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to any string column: the value is checked against the charset and length."""
    fits = type(value) is str and len(value) <= column.length and column.charset != "binary"
    if fits and isinstance(value, str) and value.isascii():  # all charsets have these characters
        return (value.rstrip(" ") if column.type == T.STRING else value).encode()
    data = to_bytes(stored_number(value))
    if column.charset == "binary":
        return _fit_bytes(column, value, data, mode)
    checked = _in_charset(column, value, data, mode)
    fitted = _fit_bytes(column, value, checked, mode) if column.type in LOBS else _fit(column, checked, mode)
    return fitted.rstrip(b" ") if column.type == T.STRING else fitted


def to_bytes(value: SQLValue) -> bytes:
    """Convert a value to a byte string, in UTF-8."""
    if isinstance(value, bytes):
        return bytes(value)
    return to_text(value).encode("utf-8", "surrogateescape")


def to_text(value: SQLValue) -> str:
    """Convert a value to text as a CAST does; bytes that are not UTF-8 become surrogate escapes.

    A quotient has all its digits here, but not in a column. Source: tidb ``MyDecimal.ToString``.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, DateTimeValue | Duration):
        return value.text()
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.lstrip("-") if value == 0 else text
    if isinstance(value, Year):
        return f"{value:04}"
    return str(int(value or 0))  # callers handle NULL


def float_text(number: float) -> str:
    """Print a DOUBLE as SQL text: shortest digits, never an exponent. Source: tidb ``Datum.ToString``."""
    if not math.isfinite(number):
        return str(number)
    text = plain_text(number, T.FLOAT if isinstance(number, Single) else T.DOUBLE).decode()
    return "-0" if number == 0 and math.copysign(1, number) < 0 else text


def _in_charset(column: ColumnInfo, value: SQLValue, data: bytes, mode: SQLMode) -> bytes:
    """Return a text in UTF-8 after a check. TiDB replaces what the charset does not have by ``?``.

    Bytes in a GBK column are GBK; latin1 is not checked. Source: tidb ``Datum.convertToString``.
    """
    charset = column.charset
    encoding = "gbk" if charset == "gbk" and isinstance(value, bytes) else "utf-8"
    try:
        text = data.decode(encoding)
        if in_charset(text, charset):
            return data if encoding == "utf-8" else text.encode()
        valid = "".join(letter if in_charset(letter, charset) else "?" for letter in text).encode()
    except UnicodeDecodeError as error:
        if not mode.utf8_check or charset == "latin1":
            return data
        valid = data[: error.start].decode(encoding).encode()
    return mode.reject(column.name, value, f"Incorrect string value ({charset})", valid)


_BLANKS = " \t\n\r"
"""Characters beyond the length that are cut with a warning. Source: tidb ``ProduceStrWithSpecifiedTp``."""


def _fit(column: ColumnInfo, data: bytes, mode: SQLMode) -> bytes:
    cut = cut_text(data, column.length)
    if cut == data:
        return data
    text = data.decode("utf-8", "surrogateescape")
    if not text[column.length :].strip(_BLANKS):
        return cut
    return mode.reject(column.name, text, f"Data too long (at most {column.length} characters)", cut)


def cut_text(data: bytes, length: int) -> bytes:
    """Return the first characters of a text.

    :param length: how many; all, if it is negative.
    """
    if length < 0 or len(data) <= length:
        return data
    return data.decode("utf-8", "surrogateescape")[:length].encode("utf-8", "surrogateescape")


def _fit_bytes(column: ColumnInfo, value: SQLValue, data: bytes, mode: SQLMode) -> bytes:
    if column.length >= 0 and len(data) > column.length:
        rejected = BinaryLiteral(data) if column.charset == "binary" else value
        cut = data[: column.length]
        if column.charset != "binary":
            cut = cut.decode("utf-8", "ignore").encode()
        return mode.reject(column.name, rejected, f"Data too long (at most {column.length} bytes)", cut)
    if column.type == T.STRING and column.charset == "binary":
        return data.ljust(column.length, b"\0")
    return data


def coerce_enum(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to ENUM: the name of a member, compared by the column's collation, or its number from 1.

    The error value of another ENUM column remains an error value. Source: tidb ``pkg/types/datum.go``
    (``convertToMysqlEnum``).
    """
    if isinstance(value, ErrorMember):
        return b"0"
    if isinstance(value, str | bytes) and not isinstance(value, JsonText):
        number = _member_number(column, to_bytes(value))
        if number == 0:
            number = _number_in_text(to_text(value), len(column.elements))
    else:  # JSON is a number, too
        number = nearest_integer(as_number(value)[0])
    if not 1 <= number <= len(column.elements):
        return mode.reject(column.name, value, "Data truncated: no such ENUM member", b"0")
    return str(number).encode()


def coerce_set(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to SET: the names of members, separated by commas, or a bit mask."""
    if not isinstance(value, str | bytes) or isinstance(value, JsonText):
        given, is_number = as_number(value)
        if not is_number:
            return mode.reject(column.name, value, "Data truncated: no such SET member", b"0")
        is_negative = isinstance(given, Decimal | float) and given < 0  # also if it rounds to 0
        return _set_of_bits(column, value, -1 if is_negative else nearest_integer(given), mode)
    text = to_text(value)
    numbers = [_member_number(column, to_bytes(name)) for name in text.split(",")] if text else []
    if 0 not in numbers:
        return str(sum(1 << number - 1 for number in set(numbers))).encode()
    bits = _number_in_text(text, (1 << len(column.elements)) - 1)
    if not bits:
        return mode.reject(column.name, value, "Data truncated: no such SET member", b"0")
    return str(bits).encode()


def coerce_json(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> Value:
    """Coerce to JSON: text is parsed and printed as TiDB prints it; a number becomes a JSON number.

    INSERT IGNORE stores NULL in place of a value that is not JSON. Source: tidb ``InsertValues.handleErr``
    (``pkg/executor/insert_common.go``), ``Datum.convertToMysqlJSON`` (``pkg/types/datum.go``).
    """
    try:
        return _stored_json(column, value)
    except ScenarioError:
        if mode.insert_ignore:
            return None
        raise


def _stored_json(column: ColumnInfo, value: SQLValue) -> bytes:
    if isinstance(value, JsonText):
        return stored_json(value)
    if isinstance(value, Bits):
        return stored_json(to_json_text(value.decode("utf-8", "surrogateescape")))
    if isinstance(value, BinaryLiteral):
        raise value_error(column.name, value, "Invalid JSON: cannot be made from binary data")
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return stored_json(to_json_text(json_of(int(value) if isinstance(value, bool) else value)))
    if isinstance(value, DateTimeValue | Duration):
        return stored_json(to_json_text(json_of(value)))
    if not isinstance(value, str | bytes):
        raise value_error(column.name, value, "Invalid JSON: only text and numbers can be stored")
    try:
        text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
        return json_text(text).encode()
    except ValueError as error:
        raise value_error(column.name, value, f"Invalid JSON text ({error})") from error


def _member_number(column: ColumnInfo, name: bytes) -> int:
    """Return the number of the member with this name, from 1; 0 if there is none."""
    key = sort_key(name, column.collation)
    for number, element in enumerate(column.elements, start=1):
        if sort_key(element.encode("utf-8", "surrogateescape"), column.collation) == key:
            return number
    return 0


_NUMBER = re.compile(r"0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([0-9]+)", re.ASCII)


def _number_in_text(text: str, highest: int) -> int:
    """Return the number of a text in Go's notation, in which ``0x1F``, ``0b11`` and ``017`` have a base."""
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None:
        return 0
    digits, base = next(pair for pair in zip(match.groups(), (16, 2, 8, 10), strict=True) if pair[0])
    number = int(digits, base)
    return number if number <= highest else 0


_LONGEST_NUMBER = 70


def _set_of_bits(column: ColumnInfo, value: SQLValue, bits: int, mode: SQLMode) -> bytes:
    allowed = (1 << len(column.elements)) - 1
    if not 0 <= bits <= allowed:
        return mode.reject(column.name, value, "Data truncated: no such SET members", b"0")
    return str(bits).encode()
