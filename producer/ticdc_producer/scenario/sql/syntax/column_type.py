"""Column types of DDL.

Rules: tidb ``parser.y`` (``Type``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ticdc_producer.scenario.sql.syntax.names import (
    accept_charset_words,
    read_bracketed_list,
    read_charset,
)
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.dialect import TokenType


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnType:
    """A type as it is written.

    :param name: TiDB's name for the type; ``SERIAL`` is short for a type with attributes.
    :param digits: the numbers in brackets.
    :param charset: empty without one.
    :param binary: whether the word BINARY requests the ``_bin`` collation of the charset.
    :param members: the values of ENUM and SET, without their trailing blanks.
    """

    name: str
    digits: tuple[int, ...] = ()
    unsigned: bool = False
    zerofill: bool = False
    charset: str = ""
    binary: bool = False
    members: tuple[str, ...] = ()
    source: SourceText = field(compare=False, repr=False)


_INTEGERS = {
    "TINYINT": "TINYINT", "INT1": "TINYINT", "SMALLINT": "SMALLINT", "INT2": "SMALLINT",
    "MEDIUMINT": "MEDIUMINT", "INT3": "MEDIUMINT", "MIDDLEINT": "MEDIUMINT", "INT": "INT",
    "INTEGER": "INT", "INT4": "INT", "BIGINT": "BIGINT", "INT8": "BIGINT",
}  # fmt: skip
_LARGEST_LENGTH = (1 << 32) - 1
_SINGLE_PRECISION_BITS, _DOUBLE_PRECISION_BITS = 24, 53


def read_type(cursor: Cursor) -> ColumnType:
    """Read the type that comes next.

    :raises UnsupportedSQL: for a type that TiDB does not support.
    """
    start, word = cursor.position, cursor.word()
    reader = _READERS.get(word)
    if not word[:1].isalpha():
        raise cursor.error("expected a column type")
    if reader is None:
        raise cursor.unsupported(f"the column type {word}")
    cursor.accept(word)
    return reader(cursor, word, start)


def _digits(cursor: Cursor, most: int = 1) -> tuple[int, ...]:
    """Read the numbers in brackets, of which there are at most ``most``.

    Source: tidb ``parser.y`` (``OptFieldLen``), ``preprocess.go`` (``checkColumn``).
    """
    start = cursor.position
    digits = read_bracketed_list(cursor, Cursor.integer) if cursor.word() == "(" else ()
    if len(digits) > most:
        raise cursor.since(start).error(f"the type has at most {most} number(s) in brackets")
    if max(digits, default=0) > _LARGEST_LENGTH:
        raise cursor.since(start).error(f"Display width out of range (max = {_LARGEST_LENGTH})")
    return digits


def _number(cursor: Cursor, name: str, digits: tuple[int, ...], start: int) -> ColumnType:
    """Read the sign of a number; ZEROFILL implies UNSIGNED."""
    words = set()
    while word := cursor.accept_any("UNSIGNED", "SIGNED", "ZEROFILL"):
        words.add(word)
    return ColumnType(
        name=name,
        digits=digits,
        unsigned=bool(words - {"SIGNED"}),
        zerofill="ZEROFILL" in words,
        source=cursor.since(start),
    )


def _integer(cursor: Cursor, word: str, start: int) -> ColumnType:
    return _number(cursor, _INTEGERS[word], _digits(cursor), start)


def _boolean(cursor: Cursor, _: str, start: int) -> ColumnType:
    return _number(cursor, "TINYINT", (1,), start)


def _decimal(cursor: Cursor, _: str, start: int) -> ColumnType:
    return _number(cursor, "DECIMAL", _digits(cursor, most=2), start)


def _float(cursor: Cursor, _: str, start: int) -> ColumnType:
    digits = _digits(cursor, most=2)
    if len(digits) == 1 and digits[0] > _DOUBLE_PRECISION_BITS:
        raise cursor.error(f"Incorrect column specifier: FLOAT has at most {_DOUBLE_PRECISION_BITS} bits")
    if len(digits) == 1:  # bits of precision choose the type and are not stored
        return _number(cursor, "FLOAT" if digits[0] <= _SINGLE_PRECISION_BITS else "DOUBLE", (), start)
    return _number(cursor, "FLOAT", digits, start)


def _double(cursor: Cursor, word: str, start: int) -> ColumnType:
    if word == "DOUBLE":
        cursor.accept("PRECISION")
    digits = _digits(cursor, most=2)
    if len(digits) == 1:
        raise cursor.error(f"{word} has a length without a scale")  # tidb_enable_strict_double_type_check
    return _number(cursor, "DOUBLE", digits, start)


def _year(cursor: Cursor, word: str, start: int) -> ColumnType:
    year = _number(cursor, word, _digits(cursor), start)
    return ColumnType(name=word, digits=year.digits, source=year.source)


def _sized(cursor: Cursor, word: str, start: int) -> ColumnType:
    digits = _digits(cursor)
    return ColumnType(name=word, digits=digits, source=cursor.since(start))


def _bit(cursor: Cursor, word: str, start: int) -> ColumnType:
    digits = _digits(cursor) or (1,)
    return ColumnType(name=word, digits=digits, source=cursor.since(start))


def _plain(cursor: Cursor, word: str, start: int) -> ColumnType:
    return ColumnType(name=word, source=cursor.since(start))


def _vector(cursor: Cursor, word: str, start: int) -> ColumnType:
    if cursor.accept("<"):
        cursor.expect("FLOAT")
        cursor.expect(">")
    return _sized(cursor, word, start)


def _char(cursor: Cursor, word: str, start: int) -> ColumnType:
    """Read CHAR, CHARACTER or NCHAR; with the word VARYING they are VARCHAR."""
    if cursor.accept("VARYING") or (word == "NCHAR" and cursor.accept_any("VARCHAR", "VARCHARACTER")):
        return _text(cursor, "VARCHAR", start)
    return _text(cursor, "CHAR", start)


def _varchar(cursor: Cursor, _: str, start: int) -> ColumnType:
    return _text(cursor, "VARCHAR", start)


def _national(cursor: Cursor, _: str, start: int) -> ColumnType:
    if cursor.accept_any("VARCHAR", "VARCHARACTER"):
        return _text(cursor, "VARCHAR", start)
    if cursor.accept_any("CHAR", "CHARACTER"):
        return _char(cursor, "CHAR", start)
    raise cursor.error("expected CHAR or VARCHAR")


def _long(cursor: Cursor, _: str, start: int) -> ColumnType:
    if cursor.accept("VARBINARY"):
        return _plain(cursor, "MEDIUMBLOB", start)
    if not cursor.accept_any("VARCHAR", "VARCHARACTER") and cursor.word(1) == "VARYING":
        cursor.accept_any("CHAR", "CHARACTER")
        cursor.expect("VARYING")
    return _text(cursor, "MEDIUMTEXT", start)


def _text(cursor: Cursor, word: str, start: int) -> ColumnType:
    before = cursor.accept("BYTE")
    digits = _digits(cursor, most=0 if word in _UNSIZED_TEXTS else 1)
    charset, binary = _charset_and_binary(cursor)
    charset = "binary" if before else charset
    return ColumnType(name=word, digits=digits, charset=charset, binary=binary, source=cursor.since(start))


_UNSIZED_TEXTS = ("TINYTEXT", "MEDIUMTEXT", "LONGTEXT")


def _charset_and_binary(cursor: Cursor) -> tuple[str, bool]:
    """Read the charset, and whether the word BINARY follows or precedes it."""
    if cursor.accept("ASCII"):
        return "latin1", False
    if cursor.accept("BYTE"):
        return "binary", False
    binary = cursor.accept("BINARY")
    charset = ""
    if accept_charset_words(cursor):
        cursor.accept("=")
        charset = read_charset(cursor)
    return charset, cursor.accept("BINARY") or binary


def _members(cursor: Cursor, word: str, start: int) -> ColumnType:
    members = read_bracketed_list(cursor, _member)
    charset, binary = _charset_and_binary(cursor)
    return ColumnType(name=word, charset=charset, binary=binary, members=members, source=cursor.since(start))


def _member(cursor: Cursor) -> str:
    token = cursor.token
    if token is None or token.token_type not in _BITS:
        return cursor.string().rstrip(" ")
    bits = _BITS[token.token_type]
    name = int(token.text, 1 << bits).to_bytes((len(token.text) * bits + 7) // 8, "big")
    if not name.isascii():
        raise cursor.unsupported("a member of ENUM or SET in bytes that are not ASCII")
    cursor.position += 1
    return name.decode().rstrip(" ")


_BITS = {TokenType.HEX_STRING: 4, TokenType.BIT_STRING: 1}
"""The bits of a digit of a literal."""


_READERS: dict[str, Callable[[Cursor, str, int], ColumnType]] = {
    **dict.fromkeys(_INTEGERS, _integer),
    **dict.fromkeys(("BOOL", "BOOLEAN"), _boolean),
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC", "FIXED"), _decimal),
    **dict.fromkeys(("FLOAT", "FLOAT4"), _float),
    **dict.fromkeys(("DOUBLE", "FLOAT8", "REAL"), _double),
    **dict.fromkeys(("DATETIME", "TIMESTAMP", "TIME", "BINARY", "VARBINARY", "BLOB"), _sized),
    **dict.fromkeys(("DATE", "JSON", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "SERIAL"), _plain),
    **dict.fromkeys(("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"), _text),
    **dict.fromkeys(("CHAR", "CHARACTER", "NCHAR"), _char),
    **dict.fromkeys(("VARCHAR", "VARCHARACTER", "NVARCHAR"), _varchar),
    **dict.fromkeys(("ENUM", "SET"), _members),
    "BIT": _bit,
    "YEAR": _year,
    "VECTOR": _vector,
    "NATIONAL": _national,
    "LONG": _long,
}
TYPE_NAMES = tuple(sorted(_READERS))
