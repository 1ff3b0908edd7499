"""Keys and other constraints of a table as TiDB prints them.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``Constraint``, ``ReferenceDef``); ``parser.y`` (``ConstraintElem``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.expression import read_expression
from ticdc_producer.scenario.sql.restore.index_option import read_index_options, read_index_type
from ticdc_producer.scenario.sql.restore.names import (
    accept_if_not_exists,
    read_bracketed_list,
    read_column_name,
    read_name,
    read_table_name,
    tidb_comment,
)
from ticdc_producer.scenario.sql.restore.ordering import read_direction

_STARTS = frozenset({
    "CONSTRAINT", "PRIMARY", "UNIQUE", "KEY", "INDEX", "FOREIGN", "CHECK", "FULLTEXT", "VECTOR", "COLUMNAR",
})  # fmt: skip
_CLUSTERED = ("CLUSTERED", "NONCLUSTERED")


def starts_key(cursor: Cursor) -> bool:
    """Whether a key or another constraint comes next, and not a column."""
    return cursor.word() in _STARTS


def read_key(cursor: Cursor) -> str:
    """``[CONSTRAINT [symbol]] …``; the symbol overrides the name of the index."""
    if _is_check(cursor):
        return read_check(cursor)
    symbol = ""
    if cursor.accept("CONSTRAINT") and cursor.word() not in _STARTS:
        symbol = read_name(cursor)
    if cursor.accept("FOREIGN", "KEY"):
        return _foreign_key(cursor, symbol)
    if cursor.accept("PRIMARY", "KEY"):
        return _index(cursor, "PRIMARY KEY", symbol)
    if cursor.accept("UNIQUE"):
        cursor.accept_any("KEY", "INDEX")
        return _index(cursor, "UNIQUE", symbol)
    if cursor.accept("FULLTEXT"):
        cursor.accept_any("KEY", "INDEX")
        return _index(cursor, "FULLTEXT", symbol)
    kind = cursor.accept_any("VECTOR", "COLUMNAR")
    if not cursor.accept_any("KEY", "INDEX"):
        raise cursor.error("expected a key")
    if_not_exists = tidb_comment("", " IF NOT EXISTS") * accept_if_not_exists(cursor)
    return _index(cursor, (kind + " INDEX").strip() + if_not_exists, symbol)


def _index(cursor: Cursor, word: str, symbol: str) -> str:
    name = "" if cursor.word() in ("(", "USING") else read_name(cursor)
    kind = read_index_type(cursor)
    name = symbol or name
    parts = ", ".join(read_key_parts(cursor))
    options = read_index_options(cursor, kind)
    return f"{word}{' ' if name else ''}{name}({parts}){' ' if options else ''}{options}"


def read_key_parts(cursor: Cursor) -> list[str]:
    """The columns and expressions of an index."""
    return read_bracketed_list(cursor, _part)


def _part(cursor: Cursor) -> str:
    if cursor.accept("("):
        text = f"({read_expression(cursor)})"
        cursor.expect(")")
        return text + read_direction(cursor)
    text = read_column_name(cursor)
    if cursor.accept("("):
        text += f"({cursor.integer()})"
        cursor.expect(")")
    return text + read_direction(cursor)


def read_clustered(cursor: Cursor) -> str:
    """`` CLUSTERED`` or `` NONCLUSTERED`` of a primary key, in a TiDB comment; empty without."""
    word = cursor.accept_any(*_CLUSTERED)
    return " " + tidb_comment("clustered_index", word) if word else ""


def _foreign_key(cursor: Cursor, symbol: str) -> str:
    if_not_exists = tidb_comment("", "IF NOT EXISTS ") * accept_if_not_exists(cursor)
    name = "" if cursor.word() == "(" else read_name(cursor)
    name = symbol or name
    parts = ", ".join(read_key_parts(cursor))
    reference = read_reference(cursor)
    return f"CONSTRAINT {name}{' ' if name else ''}FOREIGN KEY {if_not_exists}({parts}) {reference}"


def read_reference(cursor: Cursor) -> str:
    """``REFERENCES …``; TiDB prints ON DELETE before ON UPDATE."""
    cursor.expect("REFERENCES")
    text = "REFERENCES " + read_table_name(cursor)
    if cursor.word() == "(":
        text += f"({', '.join(read_key_parts(cursor))})"
    if cursor.accept("MATCH"):
        text += f" MATCH {cursor.identifier().upper()}"
    actions = {}
    while cursor.word() == "ON" and cursor.word(1) in ("DELETE", "UPDATE"):
        cursor.expect("ON")
        event = cursor.accept_any("DELETE", "UPDATE")
        actions[event] = _action(cursor)
    return text + "".join(f" ON {event} {actions[event]}" for event in sorted(actions))


def _action(cursor: Cursor) -> str:
    for words in (("RESTRICT",), ("CASCADE",), ("SET", "NULL"), ("NO", "ACTION"), ("SET", "DEFAULT")):
        if cursor.accept(*words):
            return " ".join(words)
    raise cursor.error("expected RESTRICT, CASCADE, SET NULL or NO ACTION")


def _is_check(cursor: Cursor) -> bool:
    ahead = 0
    if cursor.word() == "CONSTRAINT":
        ahead = 1 if cursor.word(1) in _STARTS else 2
    return cursor.word(ahead) == "CHECK"


def read_check(cursor: Cursor) -> str:
    """``[CONSTRAINT [symbol]] CHECK (…) [[NOT] ENFORCED]``."""
    symbol = ""
    if cursor.accept("CONSTRAINT") and cursor.word() != "CHECK":
        symbol = f"CONSTRAINT {read_name(cursor)} "
    cursor.expect("CHECK", "(")
    condition = read_expression(cursor)
    cursor.expect(")")
    not_enforced = cursor.accept("NOT", "ENFORCED")
    if not not_enforced:
        cursor.accept("ENFORCED")
    return f"{symbol}CHECK({condition}) {'NOT ' * not_enforced}ENFORCED"
