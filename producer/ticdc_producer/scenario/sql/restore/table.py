"""CREATE TABLE and the other statements about whole tables, indexes and views, as TiDB prints them.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``CreateTableStmt``, ``DropTableStmt``, ``RenameTableStmt``,
``CreateIndexStmt``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.element import read_elements
from ticdc_producer.scenario.sql.restore.index_option import (
    read_index_options,
    read_index_type,
    read_lock_and_algorithm,
)
from ticdc_producer.scenario.sql.restore.key import read_key_parts
from ticdc_producer.scenario.sql.restore.names import (
    accept_if_exists,
    accept_if_not_exists,
    read_list,
    read_name,
    read_table_name,
    tidb_comment,
)
from ticdc_producer.scenario.sql.restore.partition import read_partition_by
from ticdc_producer.scenario.sql.restore.table_option import read_table_options, with_ttl_disabled


def create_table(cursor: Cursor) -> str:
    """``CREATE TABLE``, after these words."""
    text = "CREATE TABLE " + "IF NOT EXISTS " * accept_if_not_exists(cursor) + read_table_name(cursor)
    if cursor.accept("LIKE"):
        return f"{text} LIKE {read_table_name(cursor)}"
    if cursor.accept("(", "LIKE"):
        like = read_table_name(cursor)
        cursor.expect(")")
        return f"{text} LIKE {like}"
    if cursor.word() == "(":
        text += f" ({','.join(read_elements(cursor))})"
    for option in with_ttl_disabled(read_table_options(cursor)):
        text += " " + option.text
    if cursor.word() == "PARTITION":
        text += " " + read_partition_by(cursor)
    if cursor.word() in ("AS", "SELECT", "WITH", "REPLACE", "IGNORE", "("):
        raise cursor.unsupported("CREATE TABLE … SELECT")
    return text


def drop_table(cursor: Cursor) -> str:
    """``DROP TABLE``, after these words."""
    return _print_drop(cursor, "TABLE")


def drop_view(cursor: Cursor) -> str:
    """``DROP VIEW``, after these words."""
    return _print_drop(cursor, "VIEW")


def _print_drop(cursor: Cursor, kind: str) -> str:
    if_exists = "IF EXISTS " * accept_if_exists(cursor)
    names = ", ".join(read_list(cursor, read_table_name))
    cursor.accept_any("RESTRICT", "CASCADE")
    return f"DROP {kind} {if_exists}{names}"


def truncate_table(cursor: Cursor) -> str:
    """``TRUNCATE [TABLE]``, after TRUNCATE."""
    cursor.accept("TABLE")
    return "TRUNCATE TABLE " + read_table_name(cursor)


def rename_table(cursor: Cursor) -> str:
    """``RENAME TABLE``, after these words."""
    return "RENAME TABLE " + ", ".join(read_list(cursor, _rename_pair))


def _rename_pair(cursor: Cursor) -> str:
    old = read_table_name(cursor)
    cursor.expect("TO")
    return f"{old} TO {read_table_name(cursor)}"


def recover_table(cursor: Cursor) -> str:
    """``RECOVER TABLE``, after these words."""
    if cursor.accept("BY", "JOB"):
        return f"RECOVER TABLE BY JOB {cursor.integer()}"
    text = "RECOVER TABLE " + read_table_name(cursor)
    return text if cursor.at_end else f"{text} {cursor.integer()}"


def flashback_table(cursor: Cursor) -> str:
    """``FLASHBACK TABLE``, after these words."""
    text = "FLASHBACK TABLE " + read_table_name(cursor)
    return f"{text} TO {read_name(cursor)}" if cursor.accept("TO") else text


def create_index(cursor: Cursor) -> str:
    """``CREATE [UNIQUE …] INDEX``, after CREATE."""
    kind = cursor.accept_any("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR", "COLUMNAR")
    cursor.expect("INDEX")
    if_not_exists = tidb_comment("", "IF NOT EXISTS ") * accept_if_not_exists(cursor)
    index = read_name(cursor)
    using = read_index_type(cursor)
    cursor.expect("ON")
    table = read_table_name(cursor)
    parts = ", ".join(read_key_parts(cursor))
    options = read_index_options(cursor, using)
    text = f"CREATE {kind}{' ' if kind else ''}INDEX {if_not_exists}{index} ON {table} ({parts})"
    return text + (" " + options if options else "") + read_lock_and_algorithm(cursor)


def drop_index(cursor: Cursor) -> str:
    """``DROP INDEX``, after these words."""
    if_exists = tidb_comment("", "IF EXISTS ") * accept_if_exists(cursor)
    index = read_name(cursor)
    cursor.expect("ON")
    return f"DROP INDEX {if_exists}{index} ON {read_table_name(cursor)}{read_lock_and_algorithm(cursor)}"
