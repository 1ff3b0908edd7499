"""Hypothesis strategies for column values: canonical text of every type, with frequent edge cases.

Examples shrink to the first of several strategies, so plain values come first.
"""

from __future__ import annotations

import json
import struct
from datetime import date, datetime, timedelta
from typing import Literal

from hypothesis import strategies as st

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    MySQLType,
    integer_range,
)
from ticdc_producer.model.values.number_text import plain_text

T = MySQLType
Text = st.SearchStrategy[bytes]

_EDGES = [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, -(2**63), 2**64 - 1]
_FLOATS = [0.0, 1e-7, 9.999e-7, 1e-6, 0.1, 1e20, 1e21, 1e308, 5e-324, 1.17549435e-38, 3.4028234663852886e38]
_MAX_SPAN = timedelta(hours=838, minutes=59, seconds=59)
_DATES = [b"2000-01-01", b"0000-00-00", b"0001-01-01", b"0069-12-31", b"0070-01-01", b"1969-12-31",
          b"9999-12-31", b"2021-00-00", b"2021-02-30", b"2021-01-00"]  # fmt: skip
_TEXTS = ["", " ", "NULL", "<>&", "\u2028\u2029", '"', "'", "\\", "\\x00", "%s%d", "a.b", "`", "é\u0301",
          "🙂", "\x00\x08\x0c\n\r\t\x1b\x7f", "\ufffd", "\ufeff", "\U0010ffff"]  # fmt: skip
_BYTES = [bytes(range(256)), b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x99", b"\xc0\x80", b"\\xff"]

TEXTS = st.text(max_size=8) | st.sampled_from(_TEXTS)
"""Any text, with frequent edge cases of escaping, quoting and encoding."""


def values(column: ColumnInfo, *, invalid_utf8: bool = False) -> Text:
    """Generate values of a column that TiDB accepts in some ``sql_mode``, without NULL.

    :param invalid_utf8: text may contain bytes that are not UTF-8, which TiDB accepts with
        ``tidb_skip_utf8_check``.
    """
    code = column.type
    if code in INTEGERS | NUMBERED:
        return _numbers(*_range(column))
    if code in FLOATS:
        return _floats(column)
    if code in STRINGS | LOBS:
        texts, any_bytes = TEXTS.map(str.encode), st.binary(max_size=12) | st.sampled_from(_BYTES)
        return texts | any_bytes if invalid_utf8 or column.binary else texts
    return _BY_TYPE[code](column)


def _range(column: ColumnInfo) -> tuple[int, int]:
    match column.type:
        case T.BIT:
            return 0, (1 << column.length) - 1
        case T.ENUM:
            return 0, len(column.elements)
        case T.SET:
            return 0, (1 << len(column.elements)) - 1
    return integer_range(column.type, unsigned=column.unsigned)


def _numbers(low: int, high: int) -> Text:
    edges = [number for number in _EDGES if low <= number <= high]
    return (st.integers(low, high) | st.sampled_from([low, high, *edges])).map(lambda n: b"%d" % n)


def _floats(column: ColumnInfo) -> Text:
    width: Literal[32, 64] = 32 if column.type == T.FLOAT else 64
    low = 0.0 if column.unsigned else None
    numbers = st.floats(min_value=low, width=width, allow_nan=False, allow_infinity=False) | st.sampled_from(
        _FLOATS
    )
    return numbers.map(lambda number: _float_text(number, column.type))


def _float_text(number: float, code: MySQLType) -> bytes:
    """Return the canonical text. TiKV does not store the sign of a zero."""
    if code == T.FLOAT:
        (number,) = struct.unpack("<f", struct.pack("<f", min(max(number, -3.4e38), 3.4e38)))
    return plain_text(number + 0.0, code)


def _decimals(column: ColumnInfo) -> Text:
    scale = column.decimal
    limit = 10**column.length - 1
    low = 0 if column.unsigned else -limit
    return (st.integers(low, limit) | st.sampled_from([low, limit, 0, 1])).map(
        lambda number: _scaled(number, scale)
    )


def _scaled(number: int, scale: int) -> bytes:
    digits = str(abs(number)).zfill(scale + 1)
    text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{text}".encode() if number < 0 else text.encode()


def _dates(_: ColumnInfo) -> Text:
    return st.dates(min_value=date(1, 1, 1)).map(lambda day: str(day).encode()) | st.sampled_from(_DATES)


def _datetimes(column: ColumnInfo) -> Text:
    moments = st.datetimes().map(lambda moment: _moment(moment, column.decimal))
    return moments | st.sampled_from(_DATES).map(
        lambda day: day + b" 00:00:00" + _no_fraction(column.decimal)
    )


def _timestamps(column: ColumnInfo) -> Text:
    """Generate values since 1970-01-02: in time zones west of UTC the first day of 1970 is still 1969."""
    days = st.sampled_from([b"2000-01-01", b"0000-00-00"])
    moments = st.datetimes(datetime(1970, 1, 2), datetime(2038, 1, 18))
    return moments.map(lambda moment: _moment(moment, column.decimal)) | days.map(
        lambda day: day + b" 00:00:00" + _no_fraction(column.decimal)
    )


def _moment(moment: datetime, fsp: int) -> bytes:
    return moment.strftime("%Y-%m-%d %H:%M:%S").zfill(19).encode() + _fraction(moment.microsecond, fsp)


def _fraction(micros: int, fsp: int) -> bytes:
    return f".{micros:06d}"[: fsp + 1].encode() if fsp else b""


def _no_fraction(fsp: int) -> bytes:
    return _fraction(0, fsp)


def _spans(column: ColumnInfo) -> Text:
    edges = st.sampled_from([timedelta(0), _MAX_SPAN, -_MAX_SPAN, timedelta(microseconds=-1)])
    return (st.timedeltas(-_MAX_SPAN, _MAX_SPAN) | edges).map(lambda span: _span(span, column.decimal))


def _span(span: timedelta, fsp: int) -> bytes:
    """Return the canonical text. A time that is zero after truncation to ``fsp`` digits has no sign."""
    micros = abs(span) // timedelta(microseconds=1) // 10 ** (6 - fsp) * 10 ** (6 - fsp)
    seconds, rest = divmod(micros, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    sign = "-" if span < timedelta(0) and micros else ""
    return f"{sign}{clock}".encode() + _fraction(rest, fsp)


def _documents(_: ColumnInfo) -> Text:
    leaves = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | TEXTS
    trees = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
    )
    return trees.map(lambda tree: json.dumps(tree, ensure_ascii=False).encode())


def _vectors(_: ColumnInfo) -> Text:
    return st.sampled_from([b"[]", b"[1,-2.5e-07]", b"[-0,3.4e+38]"])


_BY_TYPE = {
    T.NEW_DECIMAL: _decimals,
    T.DATE: _dates,
    T.DATETIME: _datetimes,
    T.TIMESTAMP: _timestamps,
    T.DURATION: _spans,
    T.JSON: _documents,
    T.VECTOR_FLOAT32: _vectors,
}
