"""Intervals and units of time as TiDB prints them.

Rules: tidb ``pkg/parser/ast/functions.go`` (``TimeUnitExpr``); ``parser.y`` (``TimeUnit``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.restore import grammar
from ticdc_producer.scenario.sql.syntax.names import TIME_UNITS, TSI_PREFIX
from ticdc_producer.scenario.sql.text.cursor import Cursor


def is_unit(cursor: Cursor) -> bool:
    """Return whether a unit of time comes next."""
    return cursor.word() in TIME_UNITS


def read_unit(cursor: Cursor) -> str:
    """Read a unit of time, without the prefix ``SQL_TSI_``."""
    if not is_unit(cursor):
        raise cursor.error("expected a unit of time")
    unit = cursor.word().removeprefix(TSI_PREFIX)
    cursor.position += 1
    return unit


def read_interval(cursor: Cursor) -> str:
    """Read ``INTERVAL expression unit``."""
    cursor.expect("INTERVAL")
    amount = grammar.read_expression(cursor)
    return f"INTERVAL {amount} {read_unit(cursor)}"
