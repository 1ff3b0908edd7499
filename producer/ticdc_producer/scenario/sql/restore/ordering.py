"""ORDER BY as TiDB prints it: ASC goes without saying.

Rules: tidb ``pkg/parser/ast/dml.go`` (``OrderByClause``, ``ByItem``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore import grammar
from ticdc_producer.scenario.sql.restore.names import listed


def read_order(cursor: Cursor) -> str:
    """`` ORDER BY …``; empty where there is none."""
    if not cursor.accept("ORDER"):
        return ""
    cursor.expect("BY")
    return " ORDER BY " + ",".join(listed(cursor, read_sorted))


def read_sorted(cursor: Cursor) -> str:
    """An expression and its direction."""
    return grammar.read_expression(cursor) + read_direction(cursor)


def read_direction(cursor: Cursor) -> str:
    """`` DESC`` or nothing."""
    return " DESC" if cursor.accept_any("ASC", "DESC") == "DESC" else ""
