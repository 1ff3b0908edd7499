"""The types of CAST and CONVERT as TiDB prints them.

Rules: tidb ``pkg/parser/types/field_type.go`` (``RestoreAsCastType``); ``parser.y`` (``CastType``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.syntax.names import accept_charset_words, read_charset
from ticdc_producer.scenario.sql.text.cursor import Cursor

_DEFAULT_DECIMAL = 10
_SINGLE_PRECISION_BITS = 24


def read_cast_type(cursor: Cursor) -> str:
    """Read the type that comes next.

    :raises UnsupportedSQL: for a type that TiDB does not cast to.
    """
    word = cursor.word()
    cursor.position += 1
    if word in ("DATE", "JSON", "DOUBLE", "YEAR"):
        return word
    if word in ("SIGNED", "UNSIGNED"):
        cursor.accept_any("INTEGER", "INT")
        return word
    if word in ("DATETIME", "TIME"):
        digits = _numbers(cursor)
        return word + (f"({digits[0]})" if digits and digits[0] else "")
    if word == "DECIMAL":
        return _decimal(*_numbers(cursor))
    if word in ("CHAR", "CHARACTER"):
        return _char(cursor)
    if word == "BINARY":
        return word + _size(cursor)
    if word == "FLOAT":
        digits = _numbers(cursor)
        return "DOUBLE" if digits and digits[0] > _SINGLE_PRECISION_BITS else "FLOAT"
    if word == "REAL":
        return "DOUBLE"
    cursor.position -= 1
    raise cursor.unsupported(f"CAST AS {word or 'this'}")


def _numbers(cursor: Cursor) -> list[int]:
    if not cursor.accept("("):
        return []
    numbers = [cursor.integer()]
    if cursor.accept(","):
        numbers.append(cursor.integer())
    cursor.expect(")")
    return numbers


def _size(cursor: Cursor) -> str:
    size = _numbers(cursor)
    return f"({size[0]})" if size else ""


def _decimal(length: int = 0, digits: int = 0) -> str:
    length = length or _DEFAULT_DECIMAL
    return f"DECIMAL({length}, {digits})" if digits else f"DECIMAL({length})"


def _char(cursor: Cursor) -> str:
    """Read the rest of CHAR.

    TiDB does not print utf8mb4. It prints ``CHAR BINARY`` and ``CHAR CHARSET binary`` as BINARY.
    """
    size = _size(cursor)
    if cursor.accept("BINARY"):
        return "BINARY" + size
    charset = read_charset(cursor) if accept_charset_words(cursor) else "utf8mb4"
    if charset == "binary":
        return "BINARY" + size
    return "CHAR" + size + ("" if charset == "utf8mb4" else f" CHARSET {charset.upper()}")
