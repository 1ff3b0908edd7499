"""Column types as TiDB prints them.

Rules: tidb ``pkg/parser/types/field_type.go`` (``Restore``); ``parser.y`` (``Type``).
"""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.dialect import TokenType
from ticdc_producer.scenario.sql.restore.names import (
    accept_charset_words,
    quote_string,
    read_bracketed_list,
    read_charset,
)

_INTEGERS = {
    "TINYINT": "TINYINT", "INT1": "TINYINT", "SMALLINT": "SMALLINT", "INT2": "SMALLINT",
    "MEDIUMINT": "MEDIUMINT", "INT3": "MEDIUMINT", "MIDDLEINT": "MEDIUMINT", "INT": "INT",
    "INTEGER": "INT", "INT4": "INT", "BIGINT": "BIGINT", "INT8": "BIGINT",
}  # fmt: skip
_BINARY_TYPES = {
    "CHAR": "BINARY", "VARCHAR": "VARBINARY", "TINYTEXT": "TINYBLOB", "TEXT": "BLOB",
    "MEDIUMTEXT": "MEDIUMBLOB", "LONGTEXT": "LONGBLOB",
}  # fmt: skip
_SINGLE_PRECISION_BITS = 24


def read_type(cursor: Cursor) -> str:
    """The type that comes next.

    :raises UnsupportedSQL: for a type that TiDB does not have.
    """
    word = cursor.word()
    reader = _READERS.get(word)
    if reader is None:
        raise cursor.unsupported(f"the column type {word or 'here'}")
    cursor.accept(word)
    return reader(cursor, word)


def _digits(cursor: Cursor) -> tuple[int, ...]:
    if not cursor.accept("("):
        return ()
    digits = [cursor.integer()]
    if cursor.accept(","):
        digits.append(cursor.integer())
    cursor.expect(")")
    return tuple(digits)


def _in_brackets(digits: tuple[int, ...]) -> str:
    return f"({','.join(map(str, digits))})" if digits else ""


def _sign(cursor: Cursor) -> str:
    """UNSIGNED and ZEROFILL. ZEROFILL implies UNSIGNED, and TiDB does not print SIGNED."""
    words = set()
    while word := cursor.accept_any("UNSIGNED", "SIGNED", "ZEROFILL"):
        words.add(word)
    return " UNSIGNED ZEROFILL" if "ZEROFILL" in words else " UNSIGNED" if "UNSIGNED" in words else ""


def _integer(cursor: Cursor, word: str) -> str:
    return _INTEGERS[word] + _in_brackets(_digits(cursor)[:1]) + _sign(cursor)


def _boolean(cursor: Cursor, _: str) -> str:
    return "TINYINT(1)" + _sign(cursor)


def _decimal(cursor: Cursor, _: str) -> str:
    return "DECIMAL" + _in_brackets(_digits(cursor)) + _sign(cursor)


def _float(cursor: Cursor, _: str) -> str:
    digits = _digits(cursor)
    if len(digits) == 1:  # bits of precision choose the type and are not printed
        return ("FLOAT" if digits[0] <= _SINGLE_PRECISION_BITS else "DOUBLE") + _sign(cursor)
    return "FLOAT" + _in_brackets(digits) + _sign(cursor)


def _double(cursor: Cursor, word: str) -> str:
    if word == "DOUBLE":
        cursor.accept("PRECISION")
    digits = _digits(cursor)
    return "DOUBLE" + (_in_brackets(digits) if len(digits) > 1 else "") + _sign(cursor)


def _bit(cursor: Cursor, _: str) -> str:
    return "BIT" + _in_brackets(_digits(cursor) or (1,))


def _year(cursor: Cursor, word: str) -> str:
    text = word + _in_brackets(_digits(cursor))
    _sign(cursor)
    return text


def _sized(cursor: Cursor, word: str) -> str:
    return word + _in_brackets(_digits(cursor))


def _plain(_: Cursor, word: str) -> str:
    return word


def _serial(_: Cursor, __: str) -> str:
    return "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE KEY"


def _vector(cursor: Cursor, _: str) -> str:
    if cursor.accept("<"):
        cursor.expect("FLOAT")
        cursor.expect(">")
    return "VECTOR" + _in_brackets(_digits(cursor))


def _char(cursor: Cursor, word: str) -> str:
    """CHAR, CHARACTER and NCHAR; with the word VARYING they are VARCHAR."""
    if cursor.accept("VARYING") or (word == "NCHAR" and cursor.accept_any("VARCHAR", "VARCHARACTER")):
        return _text(cursor, "VARCHAR")
    return _text(cursor, "CHAR")


def _varchar(cursor: Cursor, _: str) -> str:
    return _text(cursor, "VARCHAR")


def _national(cursor: Cursor, _: str) -> str:
    if cursor.accept_any("VARCHAR", "VARCHARACTER"):
        return _text(cursor, "VARCHAR")
    if cursor.accept_any("CHAR", "CHARACTER"):
        return _char(cursor, "CHAR")
    raise cursor.error("expected CHAR or VARCHAR")


def _long(cursor: Cursor, _: str) -> str:
    if cursor.accept("VARBINARY"):
        return "MEDIUMBLOB"
    if not cursor.accept_any("VARCHAR", "VARCHARACTER") and cursor.word(1) == "VARYING":
        cursor.accept_any("CHAR", "CHARACTER")
        cursor.expect("VARYING")
    return _text(cursor, "MEDIUMTEXT")


def _text(cursor: Cursor, word: str) -> str:
    """A string type with its charset; the charset ``binary`` makes it a binary type."""
    size = _in_brackets(_digits(cursor)[:1])
    charset, binary = _read_charset(cursor)
    if charset == "binary":
        return _BINARY_TYPES[word] + size
    suffix = f" CHARACTER SET {charset.upper()}" if charset else ""
    return word + size + " BINARY" * binary + suffix


def _read_charset(cursor: Cursor) -> tuple[str, bool]:
    """The charset, and whether the word BINARY requests its ``_bin`` collation; they come in any order."""
    if cursor.accept("ASCII"):
        return "latin1", False
    if cursor.accept("BYTE"):
        return "binary", False
    binary = cursor.accept("BINARY")
    charset = read_charset(cursor) if accept_charset_words(cursor) else ""
    return charset, cursor.accept("BINARY") or binary


def _members(cursor: Cursor, word: str) -> str:
    """ENUM and SET; TiDB does not print their charset."""
    members = read_bracketed_list(cursor, _read_member)
    charset, binary = _read_charset(cursor)
    return f"{word}({','.join(members)})" + " BINARY" * (binary and charset != "binary")


def _read_member(cursor: Cursor) -> str:
    token = cursor.token
    if token is not None and token.token_type in (TokenType.HEX_STRING, TokenType.BIT_STRING):
        raise cursor.unsupported("a member of ENUM or SET that is not a string")
    return quote_string(cursor.string().rstrip(" "))


_READERS: dict[str, Callable[[Cursor, str], str]] = {
    **dict.fromkeys(_INTEGERS, _integer),
    **dict.fromkeys(("BOOL", "BOOLEAN"), _boolean),
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC", "FIXED"), _decimal),
    **dict.fromkeys(("FLOAT", "FLOAT4"), _float),
    **dict.fromkeys(("DOUBLE", "FLOAT8", "REAL"), _double),
    **dict.fromkeys(("DATETIME", "TIMESTAMP", "TIME", "BINARY", "VARBINARY", "BLOB"), _sized),
    **dict.fromkeys(("DATE", "JSON", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB"), _plain),
    **dict.fromkeys(("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"), _text),
    **dict.fromkeys(("CHAR", "CHARACTER", "NCHAR"), _char),
    **dict.fromkeys(("VARCHAR", "VARCHARACTER", "NVARCHAR"), _varchar),
    **dict.fromkeys(("ENUM", "SET"), _members),
    "BIT": _bit,
    "YEAR": _year,
    "SERIAL": _serial,
    "VECTOR": _vector,
    "NATIONAL": _national,
    "LONG": _long,
}
