"""Names and strings as TiDB prints them.

Rules: tidb ``pkg/parser/format/format.go`` (``WriteName``, ``WriteString``,
``WriteWithSpecialComments``), under the flags that tiflow ``addSpecialComment`` sets.
"""

from __future__ import annotations

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
    return f"_{charset.upper()}{quote_string(text.replace(chr(92), chr(92) * 2))}"


def tidb_comment(feature: str, text: str) -> str:
    """Return a comment whose text only TiDB runs.

    :param feature: the TiDB feature that the text needs; empty for text that every TiDB runs.
    """
    return f"/*T![{feature}] {text} */" if feature else f"/*T! {text} */"


IF_EXISTS = tidb_comment("", "IF EXISTS ")
IF_NOT_EXISTS = tidb_comment("", "IF NOT EXISTS ")


def table_text(table: TableName) -> str:
    """Print ``[database.]table``, with the database only if the user wrote it."""
    return ".".join(quoted_name(name) for name in (table.schema, table.name) if name)


def column_text(column: ColumnName) -> str:
    """Print ``[[database.]table.]column``."""
    return ".".join(map(quoted_name, column))


def read_name(cursor: Cursor) -> str:
    """Read a name without qualifier."""
    return quoted_name(cursor.identifier())


def read_table_name(cursor: Cursor) -> str:
    """Read ``[database.]table``."""
    return table_text(names.read_table_name(cursor))


def read_column_name(cursor: Cursor) -> str:
    """Read ``[[database.]table.]column``."""
    return column_text(names.read_column_name(cursor))
