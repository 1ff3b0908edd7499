"""ALTER TABLE as TiDB prints it, part by part.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``AlterTableStmt``, ``AlterTableSpec``); ``parser.y``.
"""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.alter_column import (
    add_column,
    alter_column,
    change_column,
    drop_column,
    modify_column,
)
from ticdc_producer.scenario.sql.restore.alter_option import read_conversion, read_options
from ticdc_producer.scenario.sql.restore.alter_partition import read_partition_part
from ticdc_producer.scenario.sql.restore.key import read_key, starts_key
from ticdc_producer.scenario.sql.restore.names import (
    accept_if_exists,
    quote_string,
    read_bracketed_list,
    read_column_name,
    read_list,
    read_name,
    read_table_name,
    tidb_comment,
)
from ticdc_producer.scenario.sql.restore.ordering import read_direction

_IF_EXISTS = tidb_comment("", "IF EXISTS ")
_SEPARATED_BY_SPACE = ("PARTITION BY ", "REMOVE PARTITIONING")
_COMMA_OPTIONAL = ("PARTITION", "REMOVE", "REORGANIZE", "SPLIT", "MERGE")


def alter_table(cursor: Cursor) -> str:
    """``ALTER TABLE``, after these words."""
    text = f"ALTER TABLE {read_table_name(cursor)}"
    if cursor.at_end:
        raise cursor.error("expected an ALTER TABLE action")
    parts = [_part(cursor)]
    while not cursor.at_end:
        if not cursor.accept(",") and cursor.word() not in _COMMA_OPTIONAL:
            raise cursor.error("expected a comma")
        parts.append(_part(cursor))
    printed = [part for part in parts if part is not None]
    for index, part in enumerate(printed):
        text += (" " if index == 0 or part.startswith(_SEPARATED_BY_SPACE) else ", ") + part
    return text


def _part(cursor: Cursor) -> str | None:
    """One part; None if TiDB does not print it: placement, TTL_ENABLE, attributes."""
    partition_part = read_partition_part(cursor)
    if partition_part:
        return partition_part
    if _accept_attributes(cursor):
        return None
    if cursor.accept("CONVERT", "TO"):
        return read_conversion(cursor)
    reader = _READERS.get(cursor.word())
    if reader is None:
        return read_options(cursor)
    cursor.position += 1
    return reader(cursor)


def _accept_attributes(cursor: Cursor) -> bool:
    """Step over ``[PARTITION name] ATTRIBUTES …``, which TiDB does not print; whether it came next."""
    if cursor.word() == "PARTITION" and cursor.word(2) == "ATTRIBUTES":
        cursor.expect("PARTITION")
        read_name(cursor)
    if not cursor.accept("ATTRIBUTES"):
        return False
    cursor.accept("=")
    if not cursor.accept("DEFAULT"):
        cursor.string()
    return True


def _add(cursor: Cursor) -> str:
    if starts_key(cursor):
        return "ADD " + read_key(cursor)
    if cursor.accept("STATS_EXTENDED"):
        statistics = read_name(cursor)
        kind = cursor.identifier().upper()
        columns = ", ".join(read_bracketed_list(cursor, read_column_name))
        return f"ADD STATS_EXTENDED {statistics} {kind}({columns})"
    return add_column(cursor)


def _drop(cursor: Cursor) -> str:
    if cursor.accept("PRIMARY", "KEY"):
        return "DROP PRIMARY KEY"
    if cursor.accept("FOREIGN", "KEY"):
        return "DROP FOREIGN KEY " + read_name(cursor)
    if cursor.accept_any("CHECK", "CONSTRAINT"):
        return "DROP CHECK " + read_name(cursor)
    if cursor.accept_any("INDEX", "KEY"):
        return f"DROP INDEX {_IF_EXISTS * accept_if_exists(cursor)}{read_name(cursor)}"
    return drop_column(cursor)


def _alter(cursor: Cursor) -> str:
    if cursor.accept("INDEX"):
        index = read_name(cursor)
        visibility = cursor.accept_any("VISIBLE", "INVISIBLE")
        if not visibility:
            raise cursor.error("expected VISIBLE or INVISIBLE")
        return f"ALTER INDEX {index} {visibility}"
    if cursor.accept_any("CHECK", "CONSTRAINT"):
        check = read_name(cursor)
        negated = " NOT" * cursor.accept("NOT")
        cursor.expect("ENFORCED")
        return f"ALTER CHECK {check}{negated} ENFORCED"
    return alter_column(cursor)


def _rename(cursor: Cursor) -> str:
    if cursor.accept("COLUMN"):
        return f"RENAME COLUMN {_from_to(cursor)}"
    if cursor.accept_any("INDEX", "KEY"):
        return f"RENAME INDEX {_from_to(cursor)}"
    cursor.accept_any("TO", "AS", "=")
    return "RENAME AS " + read_table_name(cursor)


def _from_to(cursor: Cursor) -> str:
    old = read_name(cursor)
    cursor.expect("TO")
    return f"{old} TO {read_name(cursor)}"


def _option(word: str) -> Callable[[Cursor], str]:
    """A reader of ALGORITHM or LOCK, whose value is one word."""

    def read(cursor: Cursor) -> str:
        cursor.accept("=")
        return f"{word} = {cursor.identifier().upper()}"

    return read


def _two_words(word: str, *choices: str) -> Callable[[Cursor], str]:
    """A reader of two words, the second of which is one of ``choices``."""

    def read(cursor: Cursor) -> str:
        second = cursor.accept_any(*choices)
        if not second:
            raise cursor.error(f"expected {choices[0]}")
        return f"{word} {second}"

    return read


def _force(cursor: Cursor) -> str:
    if cursor.word() in ("AUTO_INCREMENT", "AUTO_RANDOM_BASE"):
        cursor.position -= 1
        return read_options(cursor) or ""
    return "FORCE /* AlterTableForce is not supported */ "


def _order(cursor: Cursor) -> str:
    cursor.expect("BY")
    return "ORDER BY " + ",".join(read_list(cursor, _ordered_column))


def _ordered_column(cursor: Cursor) -> str:
    return read_column_name(cursor) + read_direction(cursor)


def _remove(cursor: Cursor) -> str:
    cursor.expect("TTL")
    return tidb_comment("ttl", "REMOVE TTL")


def _set(cursor: Cursor) -> str:
    cursor.expect("TIFLASH", "REPLICA")
    text = f"SET TIFLASH REPLICA {cursor.integer()}"
    if cursor.accept("LOCATION", "LABELS"):
        text += " LOCATION LABELS " + ", ".join(read_list(cursor, lambda at: quote_string(at.string())))
    return text


def _stats_options(cursor: Cursor) -> str:
    cursor.accept("=")
    return f"STATS_OPTIONS={cursor.accept_any('DEFAULT') or quote_string(cursor.string())}"


_READERS: dict[str, Callable[[Cursor], str]] = {
    "ADD": _add,
    "DROP": _drop,
    "MODIFY": modify_column,
    "CHANGE": change_column,
    "ALTER": _alter,
    "RENAME": _rename,
    "ALGORITHM": _option("ALGORITHM"),
    "LOCK": _option("LOCK"),
    "FORCE": _force,
    "ORDER": _order,
    "ENABLE": _two_words("ENABLE", "KEYS"),
    "DISABLE": _two_words("DISABLE", "KEYS"),
    "WITH": _two_words("WITH", "VALIDATION"),
    "WITHOUT": _two_words("WITHOUT", "VALIDATION"),
    "REMOVE": _remove,
    "SET": _set,
    "STATS_OPTIONS": _stats_options,
    "CACHE": lambda _: "CACHE",
    "NOCACHE": lambda _: "NOCACHE",
}
