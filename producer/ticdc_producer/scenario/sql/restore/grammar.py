"""The productions that contain each other: expression, arithmetic, subquery.

The grammar is recursive: a call contains expressions, brackets may contain a query, and a query contains
expressions. The modules that read these three productions register them here, which avoids circular imports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ticdc_producer.scenario.sql.syntax.names import read_list
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText

Production: TypeAlias = Callable[[Cursor], str]

_PRODUCTIONS: dict[str, Production] = {}


def production(read: Production) -> Production:
    """Register a reader under its name."""
    _PRODUCTIONS[read.__name__] = read
    return read


def read_expression(cursor: Cursor) -> str:
    """Read one expression.

    :raises UnsupportedSQL: for syntax that only TiDB supports, not this grammar: variables, MATCH … AGAINST.
    """
    return _PRODUCTIONS["read_expression"](cursor)


def printed(source: SourceText, read: Production = read_expression) -> str:
    """Print the words that a syntax tree holds.

    :param read: the reader of these words; the default reads one expression.
    :raises ScenarioError: if the words do not parse.
    """
    cursor = source.cursor
    text = read(cursor)
    if cursor.position != source.end:
        raise cursor.error("unexpected words after an expression")
    return text


def read_expressions(cursor: Cursor) -> tuple[str, ...]:
    """Read one or more expressions, separated by commas."""
    return read_list(cursor, read_expression)


def read_arithmetic(cursor: Cursor) -> str:
    """Read an expression without comparisons and logic."""
    return _PRODUCTIONS["read_arithmetic"](cursor)


def read_subquery(cursor: Cursor) -> str:
    """Read a query in one or several pairs of brackets."""
    return _PRODUCTIONS["read_subquery"](cursor)
