"""ORDER BY as TiDB prints it, without ASC.

Rules: tidb ``pkg/parser/ast/dml.go`` (``OrderByClause``, ``ByItem``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.restore import grammar
from ticdc_producer.scenario.sql.syntax.names import read_list
from ticdc_producer.scenario.sql.text.cursor import Cursor


def read_order(cursor: Cursor) -> str:
    """Read `` ORDER BY …``; empty without."""
    if not cursor.accept("ORDER"):
        return ""
    cursor.expect("BY")
    return " ORDER BY " + ",".join(read_list(cursor, read_order_item))


def read_order_item(cursor: Cursor) -> str:
    """Read an expression and its direction."""
    return grammar.read_expression(cursor) + read_direction(cursor)


def read_direction(cursor: Cursor) -> str:
    """Read the direction: `` DESC``, or empty for ASC and without a direction."""
    return " DESC" if cursor.accept_any("ASC", "DESC") == "DESC" else ""
