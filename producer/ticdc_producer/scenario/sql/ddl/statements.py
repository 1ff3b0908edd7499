"""The table of DDL statements and the functions that run them."""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl import database, other, table
from ticdc_producer.scenario.sql.ddl.alter import alter_table, create_index, drop_index
from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.view import create_view, drop_view

_VERBS = ("CREATE", "DROP", "TRUNCATE", "ALTER", "RENAME", "FLASHBACK", "RECOVER")

_ADJECTIVES = (
    "TEMPORARY", "GLOBAL", "LOCAL", "FULLTEXT", "SPATIAL", "VECTOR", "COLUMNAR", "HYPO", "RESOURCE",
    "MASKING",
)  # fmt: skip
"""Words that an error message repeats together with the next word."""


def run_ddl(cursor: Cursor, context: DDLContext) -> None:
    """Run one DDL statement.

    :raises ScenarioError: if it does not parse, or does not fit the existing tables.
    :raises UnsupportedSQL: if this tool does not run statements of this kind.
    """
    for words, run in STATEMENTS:
        if cursor.accept(*words):
            run(cursor, context)
            return
    length = 3 if cursor.word(1) in _ADJECTIVES else 2
    name = " ".join(filter(None, (cursor.word(ahead) for ahead in range(length))))
    raise cursor.unsupported(name or "a statement of this kind")


def is_ddl(first_word: str) -> bool:
    """Whether a statement is DDL, by its first word: it commits the open transaction."""
    return first_word in _VERBS


STATEMENTS: tuple[tuple[tuple[str, ...], Callable[[Cursor, DDLContext], None]], ...] = (
    (("CREATE", "DATABASE"), database.create_database),
    (("CREATE", "SCHEMA"), database.create_database),
    (("ALTER", "DATABASE"), database.alter_database),
    (("ALTER", "SCHEMA"), database.alter_database),
    (("DROP", "DATABASE"), database.drop_database),
    (("DROP", "SCHEMA"), database.drop_database),
    (("CREATE", "TABLE"), table.create_table),
    (("ALTER", "TABLE"), alter_table),
    (("DROP", "TABLE"), table.drop_table),
    (("DROP", "TABLES"), table.drop_table),
    (("TRUNCATE",), table.truncate_table),
    (("RENAME", "TABLE"), table.rename_tables),
    (("RENAME", "TABLES"), table.rename_tables),
    (("CREATE", "INDEX"), create_index),
    (("CREATE", "UNIQUE"), create_index),
    (("DROP", "INDEX"), drop_index),
    (("CREATE", "VIEW"), create_view),
    (("CREATE", "OR", "REPLACE"), create_view),
    (("CREATE", "ALGORITHM"), create_view),
    (("CREATE", "DEFINER"), create_view),
    (("CREATE", "SQL", "SECURITY"), create_view),
    (("DROP", "VIEW"), drop_view),
    (("CREATE", "SEQUENCE"), other.create_sequence),
    (("ALTER", "SEQUENCE"), other.alter_sequence),
    (("DROP", "SEQUENCE"), other.drop_sequence),
    (("CREATE", "PLACEMENT", "POLICY"), other.create_placement_policy),
    (("ALTER", "PLACEMENT", "POLICY"), other.alter_placement_policy),
    (("DROP", "PLACEMENT", "POLICY"), other.drop_placement_policy),
)
