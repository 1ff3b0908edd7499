"""Names and strings as TiDB prints them.

Rules: tidb ``pkg/parser/format/format.go`` (``WriteName``, ``WriteString``,
``WriteWithSpecialComments``), under the flags that tiflow ``addSpecialComment`` sets.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from ticdc_producer.scenario.sql.syntax import names
from ticdc_producer.scenario.sql.syntax.names import ColumnName, TableName
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.spelling import quoted_name


def quote_string(text: str) -> str:
    """Return a string literal without a charset.

    TiDB does not escape backslashes. A backslash at the end breaks the DDL.
    """
    return "'" + text.replace("'", "''") + "'"


def string_with_charset(text: str, charset: str = "utf8mb4") -> str:
    """Return a string literal with its charset (``_UTF8MB4``) before it, and with doubled backslashes."""
    introducer = "" if charset == "utf8mb4" and TARGET_NAMES.get() else f"_{charset.upper()}"
    return introducer + quote_string(text.replace(chr(92), chr(92) * 2))


def tidb_comment(feature: str, text: str) -> str:
    """Return a comment whose text only TiDB runs.

    :param feature: the TiDB feature that the text needs; empty for text that every TiDB runs.
    """
    return f"/*T![{feature}] {text} */" if feature else f"/*T! {text} */"


IF_EXISTS = tidb_comment("", "IF EXISTS ")
IF_NOT_EXISTS = tidb_comment("", "IF NOT EXISTS ")


@dataclass(slots=True)
class TargetNames:
    """The names under which the tables of a statement are sent, and what they changed in its text.

    TiCDC then also prints strings without the default charset, and blanks around operators.

    :param database: of tables that the statement does not qualify.
    :param target: database and name upstream to those that are sent; a name is empty for a database.
    """

    database: str
    target: Callable[[str, str], tuple[str, str]]
    changed: bool = False
    _tables: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def of_table(self, table: TableName) -> TableName:
        """Return the name of a table, with its database."""
        own = table.within(self.database)
        target = self.target(*own)
        self.changed |= target != own
        self._tables[own[0].lower(), own[1].lower()] = target
        return TableName(*target)

    def of_database(self, name: str) -> str:
        """Return the name of a database."""
        target, _ = self.target(name, "")
        self.changed |= target != name
        return target

    def of_column(self, column: ColumnName) -> ColumnName:
        """Return a column; only ``database.table.column`` of a table of the statement changes."""
        if len(column) < 3:
            return column
        schema, table, name = column
        return (*self._tables.get((schema.lower(), table.lower()), (schema, table)), name)


TARGET_NAMES: ContextVar[TargetNames | None] = ContextVar("TARGET_NAMES", default=None)
"""The names that are printed in place of those of a statement; None: its own."""


def table_text(table: TableName) -> str:
    """Print ``[database.]table``, with the database only if the user wrote it."""
    names = TARGET_NAMES.get()
    table = table if names is None else names.of_table(table)
    return ".".join(quoted_name(name) for name in (table.schema, table.name) if name)


def column_text(column: ColumnName) -> str:
    """Print ``[[database.]table.]column``."""
    names = TARGET_NAMES.get()
    return ".".join(map(quoted_name, column if names is None else names.of_column(column)))


def read_name(cursor: Cursor) -> str:
    """Read a name without qualifier."""
    return quoted_name(cursor.identifier())


def read_table_name(cursor: Cursor) -> str:
    """Read ``[database.]table``."""
    return table_text(names.read_table_name(cursor))


def read_column_name(cursor: Cursor) -> str:
    """Read ``[[database.]table.]column``."""
    return column_text(names.read_column_name(cursor))
