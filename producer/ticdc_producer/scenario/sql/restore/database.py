"""Statements about databases as TiDB prints them.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``CreateDatabaseStmt``, ``AlterDatabaseStmt``, ``DatabaseOption``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.names import (
    accept_charset_words,
    accept_if_exists,
    accept_if_not_exists,
    quote_string,
    read_charset,
    read_collation,
    read_name,
    read_word_or_string,
)

_OPTION_STARTS = ("DEFAULT", "CHARACTER", "CHAR", "COLLATE", "SET")  # reserved words, so never names


def create_database(cursor: Cursor) -> str:
    """``CREATE DATABASE``, after these words."""
    text = "CREATE DATABASE " + "IF NOT EXISTS " * accept_if_not_exists(cursor) + read_name(cursor)
    return text + _options(cursor)


def alter_database(cursor: Cursor) -> str:
    """``ALTER DATABASE``, after these words; without a name it changes the current database.

    TiDB prints an empty text if placement is the only option.
    """
    name = "" if cursor.word() in _OPTION_STARTS else " " + read_name(cursor)
    options = _options(cursor)
    return f"ALTER DATABASE{name}{options}" if options.strip() else ""


def drop_database(cursor: Cursor) -> str:
    """``DROP DATABASE``, after these words."""
    return "DROP DATABASE " + "IF EXISTS " * accept_if_exists(cursor) + read_name(cursor)


def _options(cursor: Cursor) -> str:
    """All options, each after a space; TiDB prints a placement as the space alone."""
    text = ""
    while not cursor.at_end:
        text += " " + _option(cursor)
    return text


def _option(cursor: Cursor) -> str:
    cursor.accept("DEFAULT")
    if accept_charset_words(cursor):
        cursor.accept("=")
        return f"CHARACTER SET = {read_charset(cursor)}"
    if cursor.accept("COLLATE"):
        cursor.accept("=")
        return f"COLLATE = {read_collation(cursor)}"
    if cursor.accept("ENCRYPTION"):
        cursor.accept("=")
        return f"ENCRYPTION = {quote_string(cursor.string())}"
    if cursor.accept("PLACEMENT", "POLICY"):
        cursor.accept("=")
        read_word_or_string(cursor)
        return ""
    raise cursor.unsupported(f"the database option {cursor.word() or 'here'}")
