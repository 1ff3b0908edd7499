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


def name(text: str) -> str:
    """A name in back quotes."""
    return "`" + text.replace("`", "``") + "`"


def string(text: str) -> str:
    """A plain string; backslashes stay single, so one before the closing quote breaks the statement."""
    return "'" + text.replace("'", "''") + "'"


def introduced_string(text: str, charset: str = "utf8mb4") -> str:
    """A string that is a value: with its charset in front and its backslashes doubled."""
    return f"_{charset.upper()}{string(text.replace(chr(92), chr(92) * 2))}"


def tidb_comment(feature: str, text: str) -> str:
    """What only TiDB runs; a feature without a name is read by every TiDB."""
    return f"/*T![{feature}] {text} */" if feature else f"/*T! {text} */"


def read_name(cursor: Cursor) -> str:
    """A name without qualifier."""
    return name(cursor.identifier())


def read_table_name(cursor: Cursor) -> str:
    """``[database.]table``: qualified only if the user qualified it."""
    return _dotted(cursor, 2)


def read_column_name(cursor: Cursor) -> str:
    """``[[database.]table.]column``."""
    return _dotted(cursor, 3)


def _dotted(cursor: Cursor, longest: int) -> str:
    parts = [read_name(cursor)]
    while len(parts) < longest and cursor.accept("."):
        parts.append(read_name(cursor))
    return ".".join(parts)


def listed(cursor: Cursor, read: Callable[[Cursor], _T]) -> list[_T]:
    """One or more of the same, between commas."""
    items = [read(cursor)]
    while cursor.accept(","):
        items.append(read(cursor))
    return items


def bracketed(cursor: Cursor, read: Callable[[Cursor], _T]) -> list[_T]:
    """One or more of the same, between commas, in brackets."""
    cursor.expect("(")
    items = listed(cursor, read)
    cursor.expect(")")
    return items


def read_word_or_string(cursor: Cursor) -> str:
    """Text that may be quoted or not: a charset, an engine."""
    return cursor.string() if cursor.is_string() else cursor.identifier()


def read_charset(cursor: Cursor) -> str:
    """A charset by the one name that TiDB knows it by."""
    charset = read_word_or_string(cursor).lower()
    return CHARSET_ALIASES.get(charset, charset)


def read_collation(cursor: Cursor) -> str:
    """A collation by the one name that TiDB knows it by."""
    return read_word_or_string(cursor).lower().replace("utf8mb3_", "utf8_")


def accept_charset_words(cursor: Cursor) -> bool:
    """Step over ``CHARACTER SET`` in any of its spellings."""
    return cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET")


def accept_if_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "EXISTS")


def accept_if_not_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "NOT", "EXISTS")
