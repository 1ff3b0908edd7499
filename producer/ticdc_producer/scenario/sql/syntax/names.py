"""Names, charsets and lists of the grammar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.collation import CHARSET_ALIASES
from ticdc_producer.scenario.sql.text.cursor import Cursor

_T = TypeVar("_T")

ColumnName: TypeAlias = tuple[str, ...]
"""``[[database.]table.]column``."""
_SIMPLE_UNITS = ("MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
TSI_PREFIX = "SQL_TSI_"
TIME_UNITS = frozenset({
    *_SIMPLE_UNITS, *(TSI_PREFIX + unit for unit in _SIMPLE_UNITS), "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND", "HOUR_SECOND", "HOUR_MINUTE",
    "DAY_MICROSECOND", "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH",
})  # fmt: skip
Temporary: TypeAlias = Literal["", "GLOBAL", "LOCAL"]
"""The kind of a temporary table; empty for other tables."""


@dataclass(frozen=True, slots=True)
class TableName:
    """The name of a table, view or sequence.

    :param schema: its database; empty if the statement does not name it.
    """

    schema: str
    name: str

    def within(self, database: str) -> tuple[str, str]:
        """Return the database and the name.

        :param database: the current database.
        """
        return self.schema or database, self.name


def read_table_name(cursor: Cursor) -> TableName:
    """Read ``[database.]table``."""
    return TableName(*cursor.qualified_name(""))


def read_column_name(cursor: Cursor) -> ColumnName:
    """Read ``[[database.]table.]column``."""
    parts = [cursor.identifier("a column name")]
    while len(parts) < 3 and cursor.accept("."):
        parts.append(cursor.identifier("a column name"))
    return tuple(parts)


def read_list(cursor: Cursor, read: Callable[[Cursor], _T]) -> tuple[_T, ...]:
    """Read one or more items, separated by commas."""
    items = [read(cursor)]
    while cursor.accept(","):
        items.append(read(cursor))
    return tuple(items)


def read_bracketed_list(cursor: Cursor, read: Callable[[Cursor], _T]) -> tuple[_T, ...]:
    """Read one or more items in brackets, separated by commas."""
    cursor.expect("(")
    items = read_list(cursor, read)
    cursor.expect(")")
    return items


def read_names(cursor: Cursor, what: str) -> tuple[str, ...]:
    """Read one or more names, separated by commas.

    :param what: the word of an error message for one of them.
    """
    return read_list(cursor, lambda at: at.identifier(what))


def read_word_or_string(cursor: Cursor, what: str = "a name") -> str:
    """Read a value that may be quoted or not, such as a charset or an engine."""
    return cursor.string() if cursor.is_string() else cursor.word_or_name(what)


def read_charset(cursor: Cursor) -> str:
    """Read a charset, by TiDB's name for it; it may be one that TiDB does not support."""
    charset = read_word_or_string(cursor, "a charset").lower()
    return CHARSET_ALIASES.get(charset, charset)


def read_collation(cursor: Cursor) -> str:
    """Read a collation, by TiDB's name for it; it may be one that TiDB does not support."""
    return read_word_or_string(cursor, "a collation").lower().replace("utf8mb3_", "utf8_")


def accept_charset_words(cursor: Cursor) -> bool:
    """Step over ``CHARACTER SET`` in any of its spellings."""
    return cursor.accept("CHARSET") or cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET")


_CHOICES = {
    "ALGORITHM": ("DEFAULT", "COPY", "INPLACE", "INSTANT"),
    "LOCK": ("DEFAULT", "NONE", "SHARED", "EXCLUSIVE"),
}


def read_choice(cursor: Cursor, kind: str) -> str:
    """Read the value of ALGORITHM or LOCK."""
    value = cursor.word_or_name().upper()
    if value not in _CHOICES[kind]:
        raise ScenarioError(f"Unknown {kind} {value!r}", line=cursor.line, value=value)
    return value


def accept_if_exists(cursor: Cursor) -> bool:
    """Step over ``IF EXISTS``, and return whether it came next."""
    return cursor.accept("IF", "EXISTS")


def accept_if_not_exists(cursor: Cursor) -> bool:
    """Step over ``IF NOT EXISTS``, and return whether it came next."""
    return cursor.accept("IF", "NOT", "EXISTS")
