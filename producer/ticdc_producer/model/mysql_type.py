"""MySQL column types: TiDB's type codes, and one ``TypeSpec`` for each with the properties of the type.

Codes: ``tidb-parser mysql/type.go``. The types of single protocols (Connect's types, ``tidb_type``, Java's
numbers …) are defined in the packages of the protocols.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Literal, TypeAlias


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
Family: TypeAlias = Literal[
    "integer", "float", "decimal", "temporal", "string", "lob", "numbered", "json", "vector"
]
KeyForm: TypeAlias = Literal["integer", "double", "decimal", "duration", "text"]
"""The encoding of values in a key: 64-bit integers, doubles, fixed-point numbers, microseconds, or bytes.

The bytes of a text with a charset are its weights in the collation.
"""
Unsigned: TypeAlias = Literal["never", "optional", "always"]


@dataclass(frozen=True, slots=True)
class TextForm:
    """The canonical text of a type.

    :param pattern: a regular expression of the whole text.
    :param expected: the form in words, for error messages.
    """

    pattern: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeSpec:
    """The properties of a MySQL type that codecs, coercion, generators and key encodings share.

    Canonical values of all types are elements of binary Arrow columns (``docs/design.md#values``).

    :param name: the SQL name without parameters.
    :param bytes_name: the SQL name if the charset is ``binary``; empty if the type has the same name then.
    :param family: types of a family have the same canonical values; ``numbered`` are YEAR, BIT, ENUM and SET,
        whose canonical value is a number, although SQL displays another text.
    :param key: how keys encode it.
    :param zero: the implicit DEFAULT of a NOT NULL column, without the digits that scale, fsp or length add.
    :param length: the length of a column whose length is not specified; -1 if it stays unspecified. Source:
        tidb ``pkg/parser/mysql/util.go``.
    :param bits: width of the values of integers, and of the most BITs or members of a SET.
    :param highest: the largest number of YEAR and ENUM.
    :param unsigned: whether a column can be UNSIGNED; BIT and YEAR always have UnsignedFlag.
    :param bears_charset: whether TiDB gives it a charset other than ``binary`` (tidb ``typesNeedCharset``).
    :param has_fsp: whether ``decimal`` of a column is the number of fractional digits of seconds.
    :param default: whether a column can have a constant DEFAULT.
    :param form: the canonical text, if a pattern describes it.
    :param edges: SQL values at the bounds that all columns of the type have.
    """

    name: str
    family: Family
    key: KeyForm
    zero: bytes
    bytes_name: str = ""
    length: int = -1
    bits: int = 0
    highest: int = 0
    unsigned: Unsigned = "never"
    bears_charset: bool = False
    has_fsp: bool = False
    default: bool = True
    form: TextForm | None = None
    edges: tuple[str, ...] = ()


def _integer(name: str, bits: int, length: int) -> TypeSpec:
    return TypeSpec(
        name=name, family="integer", key="integer", zero=b"0", bits=bits, length=length, unsigned="optional"
    )


def _float(name: str, length: int, largest: str, smallest: str) -> TypeSpec:
    edges = ("0", largest, f"-{largest}", smallest)
    return TypeSpec(
        name=name, family="float", key="double", zero=b"0", length=length, unsigned="optional", edges=edges
    )


_DATE, _CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}", r":[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"


def _date() -> TypeSpec:
    return TypeSpec(
        name="date", family="temporal", key="text", zero=b"0000-00-00", form=TextForm(_DATE, "YYYY-MM-DD"),
        edges=("1000-01-01", "9999-12-31", "2000-02-29"),
    )  # fmt: skip


def _datetime(name: str, *edges: str) -> TypeSpec:
    return TypeSpec(
        name=name, family="temporal", key="text", zero=b"0000-00-00 00:00:00", has_fsp=True, edges=edges,
        form=TextForm(f"{_DATE} [0-9]{{2}}{_CLOCK}", "YYYY-MM-DD HH:MM:SS[.f]"),
    )  # fmt: skip


def _text(name: str, bytes_name: str, length: int, *, lob: bool = False) -> TypeSpec:
    return TypeSpec(
        name=name, bytes_name=bytes_name, family="lob" if lob else "string", key="text", zero=b"",
        length=length, bears_charset=True, default=not lob,
    )  # fmt: skip


TYPES: dict[int, TypeSpec] = {
    T.TINY: _integer("tinyint", 8, 4),
    T.SHORT: _integer("smallint", 16, 6),
    T.INT24: _integer("mediumint", 24, 9),
    T.LONG: _integer("int", 32, 11),
    T.LONGLONG: _integer("bigint", 64, 20),
    T.FLOAT: _float("float", 12, "3.4028234663852886e38", "1.17549435e-38"),
    T.DOUBLE: _float("double", 22, "1.7976931348623157e308", "2.2250738585072014e-308"),
    T.NEW_DECIMAL: TypeSpec(
        name="decimal", family="decimal", key="decimal", zero=b"0", length=10, unsigned="optional",
        form=TextForm(r"-?[0-9]{1,65}(?:\.[0-9]{1,30})?", "decimal digits"),
    ),
    T.DATE: _date(),
    T.NEW_DATE: _date(),
    T.DATETIME: _datetime("datetime", "1000-01-01 00:00:00", "9999-12-31 23:59:59"),
    T.TIMESTAMP: _datetime("timestamp", "1970-01-01 00:00:01", "2038-01-19 03:14:07"),
    T.DURATION: TypeSpec(
        name="time", family="temporal", key="duration", zero=b"00:00:00", has_fsp=True,
        form=TextForm(f"-?[0-9]{{2,3}}{_CLOCK}", "[-]HH:MM:SS[.f]"),
        edges=("00:00:00", "838:59:59", "-838:59:59", "-00:00:01"),
    ),
    T.YEAR: TypeSpec(
        name="year", family="numbered", key="integer", zero=b"0", length=4, highest=2155, unsigned="always",
        edges=("0", "1901", "2155"),
    ),
    T.BIT: TypeSpec(
        name="bit", family="numbered", key="integer", zero=b"0", length=1, bits=64, unsigned="always"
    ),
    T.ENUM: TypeSpec(
        name="enum", family="numbered", key="integer", zero=b"0", highest=65535, bears_charset=True
    ),
    T.SET: TypeSpec(
        name="set", family="numbered", key="integer", zero=b"0", bits=64, bears_charset=True
    ),
    T.STRING: _text("char", "binary", 1),
    T.VARCHAR: _text("varchar", "varbinary", 5),
    T.VAR_STRING: _text("var_string", "varbinary", 5),
    T.TINY_BLOB: _text("tinytext", "tinyblob", 255, lob=True),
    T.BLOB: _text("text", "blob", 65_535, lob=True),
    T.MEDIUM_BLOB: _text("mediumtext", "mediumblob", 16_777_215, lob=True),
    T.LONG_BLOB: _text("longtext", "longblob", 4_294_967_295, lob=True),
    T.JSON: TypeSpec(
        name="json", family="json", key="text", zero=b"null", default=False,
        edges=("null", "{}", "[]", '""', "9223372036854775807", "1.5", '{"": [null, true]}'),
    ),
    T.VECTOR_FLOAT32: TypeSpec(
        name="vector", family="vector", key="text", zero=b"[]", default=False,
        form=TextForm(r"\[[-+.,0-9eE]*\]", "[numbers]"), edges=("[]", "[1,-2.5e-07]", "[0,3.4e+38]"),
    ),
}  # fmt: skip
"""The types that columns have. NULL, GEOMETRY and UNSPECIFIED (columns of views) have no values."""


def _family(*families: Family) -> frozenset[MySQLType]:
    return frozenset(T(code) for code, spec in TYPES.items() if spec.family in families)


INTEGERS = _family("integer")
FLOATS = _family("float")
TEMPORALS = _family("temporal")
DATES = frozenset({T.DATE, T.DATETIME, T.TIMESTAMP})
STRINGS = _family("string")
"""CHAR, VARCHAR, BINARY, VARBINARY; the charset distinguishes text from bytes."""
LOBS = _family("lob")
"""The TEXT and BLOB families; the charset distinguishes them."""
NUMBERED = _family("numbered")
"""YEAR, BIT, ENUM and SET."""
CHARSET_BEARING = frozenset(T(code) for code, spec in TYPES.items() if spec.bears_charset)
WITH_FSP = frozenset(T(code) for code, spec in TYPES.items() if spec.has_fsp)
"""DATETIME, TIMESTAMP and TIME."""


@cache
def integer_range(code: int, *, unsigned: bool) -> tuple[int, int]:
    """Return the smallest and largest value that an integer, YEAR, BIT, ENUM or SET column can hold.

    :param unsigned: whether the column is UNSIGNED; ignored for YEAR, BIT, ENUM and SET.
    :raises KeyError: for a type whose values are not plain numbers.
    """
    spec = TYPES[code]
    if spec.family not in ("integer", "numbered"):
        raise KeyError(code)
    if unsigned or spec.family == "numbered":
        return 0, spec.highest or (1 << spec.bits) - 1
    return -(1 << spec.bits - 1), (1 << spec.bits - 1) - 1


def default_length(code: int) -> int:
    """Return the length of a column whose length is not specified; -1 if it stays so, as in a view."""
    return TYPES[code].length if code in TYPES else -1


_WITHOUT_VALUES: dict[int, str] = {T.NULL: "null", T.GEOMETRY: "geometry"}


def bare_name(code: int, *, binary: bool, unsigned: bool) -> str:
    """Return the SQL name of a type without its parameters: ``int unsigned``, ``varbinary``, ``text``.

    :param binary: whether the column's charset is ``binary`` (BinaryFlag).
    :param unsigned: UnsignedFlag; ignored for YEAR and BIT, which always have this flag.
    """
    spec = TYPES.get(code)
    if spec is None:
        return _WITHOUT_VALUES.get(code, f"unknown({code})")
    if binary and spec.bytes_name:
        return spec.bytes_name
    return f"{spec.name} unsigned" if unsigned and spec.unsigned == "optional" else spec.name


@cache
def types_by_name() -> dict[str, tuple[MySQLType, bool, bool]]:
    """Return by the name of a type (``bare_name``) its code, and whether it is binary and unsigned.

    >>> code, binary, unsigned = types_by_name()["varbinary"]
    >>> code.name, binary, unsigned
    ('VAR_STRING', True, False)
    """
    names = {}
    for code, spec in TYPES.items():
        for binary in (True, False):
            for unsigned in (True, False):
                name = bare_name(code, binary=binary, unsigned=unsigned)
                names[name] = (
                    MySQLType(code),
                    binary and (bool(spec.bytes_name) or not spec.bears_charset),
                    (unsigned and name.endswith("unsigned")),
                )
    return names


def type_names(codes: Iterable[int], *, binary: bool | None = None, unsigned: bool = False) -> frozenset[str]:
    """Return the SQL names of types.

    :param binary: whether the charset is ``binary``; None: names with and without.
    :param unsigned: also the names with UNSIGNED.
    """
    charsets = (False, True) if binary is None else (binary,)
    signs = (False, True) if unsigned else (False,)
    return frozenset(
        bare_name(code, binary=charset, unsigned=sign)
        for code in codes
        for charset in charsets
        for sign in signs
    )
