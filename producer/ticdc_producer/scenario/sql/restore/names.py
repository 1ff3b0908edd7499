"""Names, strings and lists as TiDB prints them.

Rules: tidb ``pkg/parser/format/format.go`` (``WriteName``, ``WriteString``,
``WriteWithSpecialComments``), under the flags that tiflow ``addSpecialComment`` sets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ticdc_producer.model.collation import CHARSET_ALIASES
from ticdc_producer.scenario.sql.cursor import Cursor

_T = TypeVar("_T")


def quote_name(text: str) -> str:
    """A name in back quotes."""
    return "`" + text.replace("`", "``") + "`"


def quote_string(text: str) -> str:
    """A string without a charset. TiDB does not escape backslashes: one at the end breaks the DDL."""
    return "'" + text.replace("'", "''") + "'"


def string_with_charset(text: str, charset: str = "utf8mb4") -> str:
    """A string value: after its charset (``_UTF8MB4``), and with doubled backslashes."""
    return f"_{charset.upper()}{quote_string(text.replace(chr(92), chr(92) * 2))}"


def tidb_comment(feature: str, text: str) -> str:
    """A comment whose text only TiDB runs.

    :param feature: the TiDB feature that the text needs; empty for text that every TiDB runs.
    """
    return f"/*T![{feature}] {text} */" if feature else f"/*T! {text} */"


def read_name(cursor: Cursor) -> str:
    """A name without qualifier."""
    return quote_name(cursor.identifier())


def read_table_name(cursor: Cursor) -> str:
    """``[database.]table``, with the database only if the user wrote it."""
    return _dotted(cursor, 2)


def read_column_name(cursor: Cursor) -> str:
    """``[[database.]table.]column``."""
    return _dotted(cursor, 3)


def _dotted(cursor: Cursor, longest: int) -> str:
    parts = [read_name(cursor)]
    while len(parts) < longest and cursor.accept("."):
        parts.append(read_name(cursor))
    return ".".join(parts)


def read_list(cursor: Cursor, read: Callable[[Cursor], _T]) -> list[_T]:
    """One or more items, separated by commas."""
    items = [read(cursor)]
    while cursor.accept(","):
        items.append(read(cursor))
    return items


def read_bracketed_list(cursor: Cursor, read: Callable[[Cursor], _T]) -> list[_T]:
    """One or more items in brackets, separated by commas."""
    cursor.expect("(")
    items = read_list(cursor, read)
    cursor.expect(")")
    return items


def read_word_or_string(cursor: Cursor) -> str:
    """A value that may be quoted or not, such as a charset or an engine."""
    return cursor.string() if cursor.is_string() else cursor.identifier()


def read_charset(cursor: Cursor) -> str:
    """A charset, by TiDB's name for it."""
    charset = read_word_or_string(cursor).lower()
    return CHARSET_ALIASES.get(charset, charset)


def read_collation(cursor: Cursor) -> str:
    """A collation, by TiDB's name for it."""
    return read_word_or_string(cursor).lower().replace("utf8mb3_", "utf8_")


def accept_charset_words(cursor: Cursor) -> bool:
    """Step over ``CHARACTER SET`` in any of its spellings."""
    return cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET")


def accept_if_exists(cursor: Cursor) -> bool:
    """Step over ``IF EXISTS``; whether it came next."""
    return cursor.accept("IF", "EXISTS")


def accept_if_not_exists(cursor: Cursor) -> bool:
    """Step over ``IF NOT EXISTS``; whether it came next."""
    return cursor.accept("IF", "NOT", "EXISTS")
