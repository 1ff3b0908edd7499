"""The parts of ALTER TABLE that change columns, as TiDB prints them."""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.column import read_column, read_position, read_signed_literal
from ticdc_producer.scenario.sql.restore.element import read_elements
from ticdc_producer.scenario.sql.restore.expression import read_expression
from ticdc_producer.scenario.sql.restore.literal import read_literal
from ticdc_producer.scenario.sql.restore.names import (
    accept_if_exists,
    accept_if_not_exists,
    read_column_name,
    tidb_comment,
)

_IF_EXISTS = tidb_comment("", "IF EXISTS ")
_IF_NOT_EXISTS = tidb_comment("", "IF NOT EXISTS ")


def add_column(cursor: Cursor) -> str:
    """``ADD [COLUMN]``, after ADD: one column and its position, or columns and keys in brackets."""
    cursor.accept("COLUMN")
    text = "ADD COLUMN " + _IF_NOT_EXISTS * accept_if_not_exists(cursor)
    if cursor.word() == "(":
        return f"{text}({', '.join(read_elements(cursor))})"
    return text + read_column(cursor) + read_position(cursor)


def drop_column(cursor: Cursor) -> str:
    """``DROP [COLUMN]``, after DROP."""
    cursor.accept("COLUMN")
    text = f"DROP COLUMN {_IF_EXISTS * accept_if_exists(cursor)}{read_column_name(cursor)}"
    cursor.accept_any("RESTRICT", "CASCADE")
    return text


def modify_column(cursor: Cursor) -> str:
    """``MODIFY [COLUMN]``, after MODIFY."""
    cursor.accept("COLUMN")
    if_exists = _IF_EXISTS * accept_if_exists(cursor)
    return f"MODIFY COLUMN {if_exists}{read_column(cursor)}{read_position(cursor)}"


def change_column(cursor: Cursor) -> str:
    """``CHANGE [COLUMN]``, after CHANGE."""
    cursor.accept("COLUMN")
    if_exists = _IF_EXISTS * accept_if_exists(cursor)
    old = read_column_name(cursor)
    return f"CHANGE COLUMN {if_exists}{old} {read_column(cursor)}{read_position(cursor)}"


def alter_column(cursor: Cursor) -> str:
    """``ALTER [COLUMN] … SET DEFAULT`` and ``DROP DEFAULT``, after ALTER."""
    cursor.accept("COLUMN")
    text = f"ALTER COLUMN {read_column_name(cursor)} "
    if cursor.accept("DROP"):
        cursor.expect("DEFAULT")
        return text + "DROP DEFAULT"
    cursor.expect("SET", "DEFAULT")
    return f"{text}SET DEFAULT {_new_default(cursor)}"


def _new_default(cursor: Cursor) -> str:
    """The new default. TiDB prints expressions in brackets, and a number with a sign is one."""
    if cursor.accept("("):
        start = cursor.position
        literal = read_literal(cursor)
        if literal is not None and cursor.accept(")"):
            return literal
        cursor.position = start
        expression = read_expression(cursor)
        cursor.expect(")")
        return f"({expression})"
    signed = cursor.word() in ("+", "-")
    literal = read_signed_literal(cursor)
    if literal is None:
        raise cursor.error("expected a literal")
    return f"({literal})" if signed else literal
