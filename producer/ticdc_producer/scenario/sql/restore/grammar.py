"""Productions that contain each other: an expression, arithmetic, a subquery.

The grammar is recursive: a call holds expressions, a bracket may hold a query, and a query holds expressions.
The modules that read these three register them here, so that imports go one way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.names import listed

Production: TypeAlias = Callable[[Cursor], str]

_PRODUCTIONS: dict[str, Production] = {}


def production(read: Production) -> Production:
    """Register a reader under its name."""
    _PRODUCTIONS[read.__name__] = read
    return read


def read_expression(cursor: Cursor) -> str:
    """Read one expression.

    :raises UnsupportedSQL: for what TiDB takes and this grammar does not: variables, MATCH … AGAINST.
    """
    return _PRODUCTIONS["read_expression"](cursor)


def read_expressions(cursor: Cursor) -> list[str]:
    """Read one or more expressions between commas."""
    return listed(cursor, read_expression)


def read_arithmetic(cursor: Cursor) -> str:
    """Read an expression without comparisons and logic."""
    return _PRODUCTIONS["read_arithmetic"](cursor)


def read_subquery(cursor: Cursor) -> str:
    """Read a query in brackets; several pairs of them are one."""
    return _PRODUCTIONS["read_subquery"](cursor)
