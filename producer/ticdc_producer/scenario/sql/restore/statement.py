"""Prints a DDL statement as current TiCDC does before it sends the DDL.

TiCDC parses the text and prints the syntax tree: keywords in upper case, names in back quotes, strings in
single quotes, TiDB's own features in comments, without placement, and with TTL disabled. Rules: tiflow
``cdc/owner/ddl_sink.go`` (``addSpecialComment``).
"""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.alter import alter_table
from ticdc_producer.scenario.sql.restore.database import alter_database, create_database, drop_database
from ticdc_producer.scenario.sql.restore.table import (
    create_index,
    create_table,
    drop_index,
    drop_table,
    drop_view,
    flashback_table,
    recover_table,
    rename_table,
    truncate_table,
)
from ticdc_producer.scenario.sql.restore.view import create_view
from ticdc_producer.scenario.sql.statements import split_statements


def print_ddl(query: str) -> str:
    """The text that current TiCDC sends for a DDL.

    :param query: one statement.
    :raises UnsupportedSQL: for a construct that this tool does not print; the error names it.
    :raises ScenarioError: if the statement does not parse.
    """
    statements = list(split_statements(query))
    if len(statements) != 1:
        raise ScenarioError("SQL does not parse: expected one statement", value=query[:80])
    cursor = Cursor(statements[0])
    try:
        text = _print_statement(cursor)
    except RecursionError:
        raise ScenarioError("SQL is nested too deeply", line=statements[0].line) from None
    cursor.end()
    return text


def _print_statement(cursor: Cursor) -> str:
    for words, read in _STATEMENTS:
        if cursor.accept(*words):
            return read(cursor)
    if cursor.accept("CREATE"):
        return _print_create(cursor)
    raise cursor.unsupported(f"re-printing {_first_words(cursor)}")


def _print_create(cursor: Cursor) -> str:
    """CREATE VIEW and CREATE INDEX, whose kind follows optional words."""
    if cursor.word() in ("OR", "ALGORITHM", "DEFINER", "SQL", "VIEW"):
        return create_view(cursor)
    if "INDEX" in (cursor.word(), cursor.word(1)):
        return create_index(cursor)
    raise cursor.unsupported(f"re-printing CREATE {_first_words(cursor)}")


def _first_words(cursor: Cursor) -> str:
    return " ".join(filter(None, (cursor.word(), cursor.word(1)))) or "this statement"


_STATEMENTS: tuple[tuple[tuple[str, ...], Callable[[Cursor], str]], ...] = (
    (("CREATE", "DATABASE"), create_database),
    (("CREATE", "SCHEMA"), create_database),
    (("ALTER", "DATABASE"), alter_database),
    (("ALTER", "SCHEMA"), alter_database),
    (("DROP", "DATABASE"), drop_database),
    (("DROP", "SCHEMA"), drop_database),
    (("CREATE", "TABLE"), create_table),
    (("ALTER", "TABLE"), alter_table),
    (("ALTER", "IGNORE", "TABLE"), alter_table),
    (("DROP", "TABLE"), drop_table),
    (("DROP", "TABLES"), drop_table),
    (("DROP", "VIEW"), drop_view),
    (("DROP", "INDEX"), drop_index),
    (("TRUNCATE",), truncate_table),
    (("RENAME", "TABLE"), rename_table),
    (("RECOVER", "TABLE"), recover_table),
    (("FLASHBACK", "TABLE"), flashback_table),
)
