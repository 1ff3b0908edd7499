"""Coerces values of CHAR, VARCHAR, BINARY, VARBINARY and the TEXT and BLOB families.

Rules: tidb ``pkg/types/datum.go`` (``ProduceStrWithSpecifiedTp``) and ``pkg/table/column.go``
(``validateCharset``).
"""

from __future__ import annotations

import math
from decimal import Decimal

from ticdc_producer.model.collation import in_charset
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import BinaryLiteral, DateTimeValue, Duration, SQLValue

T = MySQLType


def coerce_text(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Any string column: the value is checked against the charset and length."""
    data = to_bytes(value)
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
    """Convert a value to text; bytes that are not UTF-8 become surrogate escapes."""
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
    return str(int(value or 0))  # callers handle NULL


def float_text(number: float) -> str:
    """A DOUBLE as SQL text: shortest digits, with an exponent from 1e15 and below 1e-15.

    Source: tidb ``types.appendFloat`` through ``Datum.ToString``.
    """
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    shortest = Decimal(repr(float(number))).normalize()
    if 1e-15 <= abs(number) < 1e15:
        return f"{shortest:f}"
    mantissa, _, exponent = f"{shortest:e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _in_charset(column: ColumnInfo, value: SQLValue, data: bytes, mode: SQLMode) -> bytes:
    try:
        fits, valid = in_charset(data.decode(), column.charset), b"?"
    except UnicodeDecodeError as error:
        if not mode.utf8_check:
            return data
        fits, valid = False, data[: error.start]
    if fits:
        return data
    return mode.reject(column.name, value, f"Incorrect string value ({column.charset})", valid)


def _fit(column: ColumnInfo, data: bytes, mode: SQLMode) -> bytes:
    cut = cut_text(data, column.length)
    if cut == data:
        return data
    text = data.decode("utf-8", "surrogateescape")
    if not text[column.length :].strip(" "):  # spaces beyond the length are cut with a note only
        return cut
    return mode.reject(column.name, text, f"Data too long (at most {column.length} characters)", cut)


def cut_text(data: bytes, length: int) -> bytes:
    """The first characters of a text.

    :param length: how many; all, if it is negative.
    """
    text = data.decode("utf-8", "surrogateescape")
    return data if length < 0 else text[:length].encode("utf-8", "surrogateescape")


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
