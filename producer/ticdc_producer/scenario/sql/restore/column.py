"""Column definitions as TiDB prints them; attributes are in the user's order.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``ColumnDef``, ``ColumnOption``); ``parser.y`` (``DefaultValueExpr``).
"""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.column_type import read_type
from ticdc_producer.scenario.sql.restore.expression import read_expression
from ticdc_producer.scenario.sql.restore.functions import read_call
from ticdc_producer.scenario.sql.restore.key import read_check, read_clustered, read_reference
from ticdc_producer.scenario.sql.restore.literal import read_literal, read_number
from ticdc_producer.scenario.sql.restore.names import (
    quote_string,
    read_collation,
    read_column_name,
    tidb_comment,
)

_NOW_NAMES = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_TODAY_NAMES = ("CURRENT_DATE", "CURDATE")
_AFTER_COLUMN = ("", ",", ")", "FIRST", "AFTER", "REMOVE", "PARTITION", "REORGANIZE")


def read_column(cursor: Cursor) -> str:
    """The column definition that comes next, without FIRST or AFTER."""
    parts = [read_column_name(cursor), read_type(cursor)]
    while cursor.word() not in _AFTER_COLUMN:
        parts.append(_attribute(cursor))
    return " ".join(parts)


def read_position(cursor: Cursor) -> str:
    """`` FIRST`` or `` AFTER column``; empty without."""
    if cursor.accept("FIRST"):
        return " FIRST"
    return " AFTER " + read_column_name(cursor) if cursor.accept("AFTER") else ""


def _attribute(cursor: Cursor) -> str:
    if cursor.accept("NOT", "NULL"):
        return "NOT NULL"
    if cursor.accept("PRIMARY", "KEY") or cursor.accept("KEY"):
        return "PRIMARY KEY" + read_clustered(cursor) + _global(cursor)
    if cursor.accept("UNIQUE"):
        cursor.accept("KEY")
        return "UNIQUE KEY" + _global(cursor)
    if cursor.accept("SERIAL", "DEFAULT", "VALUE"):
        return "NOT NULL AUTO_INCREMENT UNIQUE KEY"
    word = cursor.word()
    reader = _ATTRIBUTES.get(word)
    if reader is None:
        raise cursor.unsupported(f"the column attribute {word}")
    if word not in ("CONSTRAINT", "CHECK", "REFERENCES"):  # the readers of keys expect these words
        cursor.accept(word)
    return reader(cursor)


def _global(cursor: Cursor) -> str:
    return " GLOBAL" if cursor.accept_any("GLOBAL", "LOCAL") == "GLOBAL" else ""


def _default(cursor: Cursor) -> str:
    return "DEFAULT " + _default_value(cursor)


def _default_value(cursor: Cursor) -> str:
    """TiDB prints brackets around calls and columns only, whatever the user wrote."""
    if cursor.accept("("):
        text = _default_value(cursor)
        cursor.expect(")")
        return text
    if cursor.word() in _NOW_NAMES:
        return read_now(cursor)
    if cursor.accept_any(*_TODAY_NAMES):
        cursor.accept("(", ")")
        return "(CURRENT_DATE())"
    return read_signed_literal(cursor) or f"({read_call(cursor) or read_column_name(cursor)})"


def read_signed_literal(cursor: Cursor) -> str | None:
    """A literal, or a number with its sign; None if something else comes next."""
    sign = cursor.accept_any("+", "-")
    return sign + read_number(cursor) if sign else read_literal(cursor)


def read_now(cursor: Cursor) -> str:
    """The current time under any of its names; TiDB prints CURRENT_TIMESTAMP."""
    if not cursor.accept_any(*_NOW_NAMES):
        raise cursor.error("expected CURRENT_TIMESTAMP")
    digits = ""
    if cursor.accept("("):
        digits = "" if cursor.word() == ")" else str(cursor.integer())
        cursor.expect(")")
    return f"CURRENT_TIMESTAMP({digits})"


def _on_update(cursor: Cursor) -> str:
    cursor.expect("UPDATE")
    return "ON UPDATE " + read_now(cursor)


def _comment(cursor: Cursor) -> str:
    """TiDB prints the comment without a charset, and doubles its backslashes."""
    return "COMMENT " + quote_string(cursor.string().replace("\\", "\\\\"))


def _generated(cursor: Cursor) -> str:
    cursor.expect("ALWAYS", "AS")
    return _computed(cursor)


def _computed(cursor: Cursor) -> str:
    cursor.expect("(")
    text = read_expression(cursor)
    cursor.expect(")")
    return f"GENERATED ALWAYS AS({text}) {cursor.accept_any('VIRTUAL', 'STORED') or 'VIRTUAL'}"


def _auto_random(cursor: Cursor) -> str:
    bits = ""
    if cursor.accept("("):
        bits = f"({cursor.integer()}" + (f", {cursor.integer()}" if cursor.accept(",") else "") + ")"
        cursor.expect(")")
    return tidb_comment("auto_rand", "AUTO_RANDOM" + bits)


def _engine_attribute(cursor: Cursor) -> str:
    cursor.accept("=")
    return "SECONDARY_ENGINE_ATTRIBUTE = " + quote_string(cursor.string())


def _storage(cursor: Cursor) -> str:
    return f"STORAGE {cursor.identifier().upper()}"


_ATTRIBUTES: dict[str, Callable[[Cursor], str]] = {
    "NULL": lambda _: "NULL",
    "AUTO_INCREMENT": lambda _: "AUTO_INCREMENT",
    "DEFAULT": _default,
    "ON": _on_update,
    "COMMENT": _comment,
    "COLLATE": lambda cursor: f"COLLATE {read_collation(cursor)}",
    "GENERATED": _generated,
    "AS": _computed,
    "AUTO_RANDOM": _auto_random,
    "REFERENCES": read_reference,
    "CHECK": read_check,
    "CONSTRAINT": read_check,
    "COLUMN_FORMAT": lambda cursor: f"COLUMN_FORMAT {cursor.identifier().upper()}",
    "STORAGE": _storage,
    "SECONDARY_ENGINE_ATTRIBUTE": _engine_attribute,
}
