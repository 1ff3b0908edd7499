"""CREATE VIEW as TiDB prints it, with all default options.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``CreateViewStmt``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.names import (
    quote_name,
    read_bracketed_list,
    read_name,
    read_table_name,
)
from ticdc_producer.scenario.sql.restore.query import read_query


def create_view(cursor: Cursor) -> str:
    """``CREATE … VIEW``, after CREATE."""
    text = "CREATE " + "OR REPLACE " * cursor.accept("OR", "REPLACE")
    text += f"ALGORITHM = {_choice(cursor, 'ALGORITHM', 'UNDEFINED', 'MERGE', 'TEMPTABLE')} "
    text += f"DEFINER = {_definer(cursor)} "
    text += f"SQL SECURITY {_security(cursor)} "
    cursor.expect("VIEW")
    text += f"VIEW {read_table_name(cursor)}"
    if cursor.word() == "(":
        text += f" ({','.join(read_bracketed_list(cursor, read_name))})"
    cursor.expect("AS")
    return f"{text} AS {read_query(cursor)}{_check_option(cursor)}"


def _choice(cursor: Cursor, word: str, default: str, *others: str) -> str:
    if not cursor.accept(word):
        return default
    cursor.expect("=")
    choice = cursor.accept_any(default, *others)
    if not choice:
        raise cursor.error(f"expected {default}")
    return choice


def _definer(cursor: Cursor) -> str:
    if not cursor.accept("DEFINER"):
        return "CURRENT_USER"
    cursor.expect("=")
    if cursor.accept("CURRENT_USER"):
        cursor.accept("(", ")")
        return "CURRENT_USER"
    user = _user_part(cursor)
    return f"{user}@{_user_part(cursor) if cursor.accept('@') else quote_name('%')}"


def _user_part(cursor: Cursor) -> str:
    return quote_name(cursor.string() if cursor.is_string() else cursor.identifier("a user"))


def _security(cursor: Cursor) -> str:
    if not cursor.accept("SQL", "SECURITY"):
        return "DEFINER"
    choice = cursor.accept_any("DEFINER", "INVOKER")
    if not choice:
        raise cursor.error("expected DEFINER or INVOKER")
    return choice


def _check_option(cursor: Cursor) -> str:
    """`` WITH LOCAL CHECK OPTION``; empty for CASCADED, which is the default."""
    if not cursor.accept("WITH"):
        return ""
    kind = cursor.accept_any("LOCAL", "CASCADED")
    cursor.expect("CHECK", "OPTION")
    return " WITH LOCAL CHECK OPTION" if kind == "LOCAL" else ""
