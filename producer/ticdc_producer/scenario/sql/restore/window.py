"""Windows as TiDB prints them.

Rules: tidb ``pkg/parser/ast/dml.go`` (``WindowSpec``, ``FrameClause``); ``functions.go``.
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.restore import grammar
from ticdc_producer.scenario.sql.restore.interval import read_interval
from ticdc_producer.scenario.sql.restore.names import read_name
from ticdc_producer.scenario.sql.restore.ordering import read_order, read_order_item
from ticdc_producer.scenario.sql.syntax.names import read_list
from ticdc_producer.scenario.sql.text.cursor import Cursor

_WITH_NULL_TREATMENT = ("LEAD", "LAG", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")


def read_window_call(cursor: Cursor, function: str) -> str:
    """Read ``FROM LAST``, ``IGNORE NULLS`` and ``OVER …`` after a call; empty without.

    :param function: name of the called function.
    """
    text = ""
    if function == "NTH_VALUE" and cursor.word() == "FROM" and cursor.word(1) in ("FIRST", "LAST"):
        text += " FROM LAST" * (cursor.word(1) == "LAST")  # FROM FIRST is the default
        cursor.position += 2
    if function in _WITH_NULL_TREATMENT and cursor.word(1) == "NULLS":
        text += " IGNORE NULLS" * (cursor.word() == "IGNORE")
        cursor.position += 2
    if not cursor.accept("OVER"):
        return text
    return f"{text} OVER " + (_specification(cursor) if cursor.word() == "(" else read_name(cursor))


def read_named_window(cursor: Cursor) -> str:
    """Read ``name AS (…)`` of a WINDOW clause."""
    name = read_name(cursor)
    cursor.expect("AS")
    return f"{name} AS {_specification(cursor)}"


def _specification(cursor: Cursor) -> str:
    cursor.expect("(")
    parts = []
    if cursor.word() not in (")", "PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"):
        parts.append(read_name(cursor))
    if cursor.accept("PARTITION", "BY"):
        parts.append("PARTITION BY " + ", ".join(read_list(cursor, read_order_item)))
    if order := read_order(cursor):
        parts.append(order.strip())
    if unit := cursor.accept_any("ROWS", "RANGE"):
        parts.append(f"{unit} {_frame(cursor)}")
    cursor.expect(")")
    return f"({' '.join(parts)})"


def _frame(cursor: Cursor) -> str:
    """Read a frame; TiDB prints one with a single bound as ``BETWEEN … AND CURRENT ROW``."""
    if not cursor.accept("BETWEEN"):
        return f"BETWEEN {_bound(cursor)} AND CURRENT ROW"
    start = _bound(cursor)
    cursor.expect("AND")
    return f"BETWEEN {start} AND {_bound(cursor)}"


def _bound(cursor: Cursor) -> str:
    if cursor.accept("CURRENT", "ROW"):
        return "CURRENT ROW"
    if cursor.accept("UNBOUNDED"):
        amount = "UNBOUNDED"
    elif cursor.word() == "INTERVAL":
        amount = read_interval(cursor)
    else:
        amount = grammar.read_expression(cursor)
    side = cursor.accept_any("PRECEDING", "FOLLOWING")
    if not side:
        raise cursor.error("expected PRECEDING or FOLLOWING")
    return f"{amount} {side}"
