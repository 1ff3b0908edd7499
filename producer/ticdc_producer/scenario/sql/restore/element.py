"""The columns and keys in the brackets of CREATE TABLE and ADD COLUMN.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``CreateTableStmt``, ``AlterTableSpec``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.column import read_column
from ticdc_producer.scenario.sql.restore.key import read_key, starts_key
from ticdc_producer.scenario.sql.restore.names import read_bracketed_list


def read_elements(cursor: Cursor) -> list[str]:
    """Columns and keys in brackets; TiDB prints the columns first."""
    elements = sorted(read_bracketed_list(cursor, _element), key=lambda element: element[0])
    return [text for _, text in elements]


def _element(cursor: Cursor) -> tuple[bool, str]:
    is_key = starts_key(cursor)
    return is_key, read_key(cursor) if is_key else read_column(cursor)
