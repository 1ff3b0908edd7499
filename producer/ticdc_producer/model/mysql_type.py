"""MySQL column type codes as TiDB numbers them, and properties that depend only on the code.

Codes: ``tidb-parser mysql/type.go``; names as TiCDC writes them without parameters.
"""

from __future__ import annotations

from enum import IntEnum


class MySQLType(IntEnum):
    """Type code of a column: field ``t`` of Open Protocol, one byte everywhere."""

    UNSPECIFIED = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    NULL = 6
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    DURATION = 11
    DATETIME = 12
    YEAR = 13
    NEW_DATE = 14
    VARCHAR = 15
    BIT = 16
    VECTOR_FLOAT32 = 225
    JSON = 245
    NEW_DECIMAL = 246
    ENUM = 247
    SET = 248
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


T = MySQLType

INTEGERS = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG})
FLOATS = frozenset({T.FLOAT, T.DOUBLE})
TEMPORALS = frozenset({T.DATE, T.NEW_DATE, T.DATETIME, T.TIMESTAMP, T.DURATION})
STRINGS = frozenset({T.VARCHAR, T.VAR_STRING, T.STRING})
"""CHAR, VARCHAR, BINARY, VARBINARY; the charset distinguishes text from bytes."""
LOBS = frozenset({T.TINY_BLOB, T.MEDIUM_BLOB, T.LONG_BLOB, T.BLOB})
"""The TEXT and BLOB families; the charset distinguishes them."""
NUMBERED = frozenset({T.YEAR, T.BIT, T.ENUM, T.SET})
"""Types whose canonical value is a number, although SQL displays something else."""
CHARSET_BEARING = STRINGS | LOBS | {T.ENUM, T.SET}
"""The only types that TiDB gives a charset other than ``binary`` (tidb ``typesNeedCharset``)."""
DEFAULT_LENGTHS = {
    T.TINY: 4, T.SHORT: 6, T.INT24: 9, T.LONG: 11, T.LONGLONG: 20, T.YEAR: 4, T.BIT: 1, T.STRING: 1,
    T.VARCHAR: 5, T.VAR_STRING: 5, T.NEW_DECIMAL: 10, T.FLOAT: 12, T.DOUBLE: 22, T.TINY_BLOB: 255,
    T.BLOB: 65_535, T.MEDIUM_BLOB: 16_777_215, T.LONG_BLOB: 4_294_967_295,
}  # fmt: skip
"""The length of a column whose length is not specified. Source: tidb ``pkg/parser/mysql/util.go``."""

_INTEGER_BITS = {T.TINY: 8, T.SHORT: 16, T.INT24: 24, T.LONG: 32, T.LONGLONG: 64}


def integer_range(code: int, *, unsigned: bool) -> tuple[int, int]:
    """Smallest and largest value that an integer, YEAR, BIT, ENUM or SET column can hold.

    :param unsigned: whether the column is UNSIGNED; ignored for YEAR, BIT, ENUM and SET.
    :raises KeyError: for a type whose values are not plain numbers.
    """
    if code == T.YEAR:
        return 0, 2155
    if code in (T.BIT, T.SET):
        return 0, (1 << 64) - 1
    if code == T.ENUM:
        return 0, 65535
    bits = _INTEGER_BITS[T(code)]
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


_NAMES = {
    T.TINY: "tinyint", T.SHORT: "smallint", T.LONG: "int", T.FLOAT: "float", T.DOUBLE: "double",
    T.NULL: "null", T.TIMESTAMP: "timestamp", T.LONGLONG: "bigint", T.INT24: "mediumint",
    T.DATE: "date", T.DURATION: "time", T.DATETIME: "datetime", T.YEAR: "year", T.NEW_DATE: "date",
    T.BIT: "bit", T.VECTOR_FLOAT32: "vector", T.JSON: "json", T.NEW_DECIMAL: "decimal",
    T.ENUM: "enum", T.SET: "set", T.GEOMETRY: "geometry",
}  # fmt: skip
_TEXT_AND_BINARY_NAMES = {
    T.VARCHAR: ("varchar", "varbinary"),
    T.VAR_STRING: ("var_string", "varbinary"),
    T.STRING: ("char", "binary"),
    T.TINY_BLOB: ("tinytext", "tinyblob"),
    T.MEDIUM_BLOB: ("mediumtext", "mediumblob"),
    T.LONG_BLOB: ("longtext", "longblob"),
    T.BLOB: ("text", "blob"),
}
_UNSIGNABLE = INTEGERS | FLOATS | {T.NEW_DECIMAL}


def bare_name(code: int, *, binary: bool, unsigned: bool) -> str:
    """The SQL name of a type without its parameters: ``int unsigned``, ``varbinary``, ``text``.

    :param binary: whether the column's charset is ``binary`` (BinaryFlag).
    :param unsigned: UnsignedFlag; ignored for YEAR and BIT, which always have it.
    """
    if code in _TEXT_AND_BINARY_NAMES:
        return _TEXT_AND_BINARY_NAMES[T(code)][binary]
    name = _NAMES.get(code, f"unknown({code})")  # type: ignore[call-overload]  # an IntEnum key finds its int
    return f"{name} unsigned" if unsigned and code in _UNSIGNABLE else str(name)
