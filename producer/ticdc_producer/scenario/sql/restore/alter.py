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
    bracketed,
    listed,
    read_column_name,
    read_name,
    read_table_name,
    string,
    tidb_comment,
)
from ticdc_producer.scenario.sql.restore.ordering import read_direction

_IF_EXISTS = tidb_comment("", "IF EXISTS ")
_AFTER_A_SPACE = ("PARTITION BY ", "REMOVE PARTITIONING")
_WITHOUT_COMMA = ("PARTITION", "REMOVE", "REORGANIZE", "SPLIT", "MERGE")


def alter_table(cursor: Cursor) -> str:
    """``ALTER TABLE``, after these words."""
    text = f"ALTER TABLE {read_table_name(cursor)}"
    if cursor.at_end:
        raise cursor.error("expected what to alter")
    parts = [_part(cursor)]
    while not cursor.at_end:
        if not cursor.accept(",") and cursor.word() not in _WITHOUT_COMMA:
            raise cursor.error("expected a comma")
        parts.append(_part(cursor))
    shown = [part for part in parts if part is not None]
    for place, part in enumerate(shown):
        text += (" " if place == 0 or part.startswith(_AFTER_A_SPACE) else ", ") + part
    return text


def _part(cursor: Cursor) -> str | None:
    """One part; None for what TiDB leaves out: placement, TTL_ENABLE, attributes."""
    partition_part = read_partition_part(cursor)
    if partition_part:
        return partition_part
    if _skips_attributes(cursor):
        return None
    if cursor.accept("CONVERT", "TO"):
        return read_conversion(cursor)
    reader = _READERS.get(cursor.word())
    if reader is None:
        return read_options(cursor)
    cursor.place += 1
    return reader(cursor)


def _skips_attributes(cursor: Cursor) -> bool:
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
        return f"ADD STATS_EXTENDED {statistics} {kind}({', '.join(bracketed(cursor, read_column_name))})"
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
        lax = " NOT" * cursor.accept("NOT")
        cursor.expect("ENFORCED")
        return f"ALTER CHECK {check}{lax} ENFORCED"
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


def _choice(word: str) -> Callable[[Cursor], str]:
    """ALGORITHM and LOCK."""

    def read(cursor: Cursor) -> str:
        cursor.accept("=")
        return f"{word} = {cursor.identifier().upper()}"

    return read


def _followed(word: str, *choices: str) -> Callable[[Cursor], str]:
    """Two words, the second of which is one of a few."""

    def read(cursor: Cursor) -> str:
        second = cursor.accept_any(*choices)
        if not second:
            raise cursor.error(f"expected {choices[0]}")
        return f"{word} {second}"

    return read


def _force(cursor: Cursor) -> str:
    if cursor.word() in ("AUTO_INCREMENT", "AUTO_RANDOM_BASE"):
        cursor.place -= 1
        return read_options(cursor) or ""
    return "FORCE /* AlterTableForce is not supported */ "


def _order(cursor: Cursor) -> str:
    cursor.expect("BY")
    return "ORDER BY " + ",".join(listed(cursor, _ordered_column))


def _ordered_column(cursor: Cursor) -> str:
    return read_column_name(cursor) + read_direction(cursor)


def _remove(cursor: Cursor) -> str:
    cursor.expect("TTL")
    return tidb_comment("ttl", "REMOVE TTL")


def _set(cursor: Cursor) -> str:
    cursor.expect("TIFLASH", "REPLICA")
    text = f"SET TIFLASH REPLICA {cursor.integer()}"
    if cursor.accept("LOCATION", "LABELS"):
        text += " LOCATION LABELS " + ", ".join(listed(cursor, lambda place: string(place.string())))
    return text


def _stats_options(cursor: Cursor) -> str:
    cursor.accept("=")
    return f"STATS_OPTIONS={cursor.accept_any('DEFAULT') or string(cursor.string())}"


_READERS: dict[str, Callable[[Cursor], str]] = {
    "ADD": _add,
    "DROP": _drop,
    "MODIFY": modify_column,
    "CHANGE": change_column,
    "ALTER": _alter,
    "RENAME": _rename,
    "ALGORITHM": _choice("ALGORITHM"),
    "LOCK": _choice("LOCK"),
    "FORCE": _force,
    "ORDER": _order,
    "ENABLE": _followed("ENABLE", "KEYS"),
    "DISABLE": _followed("DISABLE", "KEYS"),
    "WITH": _followed("WITH", "VALIDATION"),
    "WITHOUT": _followed("WITHOUT", "VALIDATION"),
    "REMOVE": _remove,
    "SET": _set,
    "STATS_OPTIONS": _stats_options,
    "CACHE": lambda _: "CACHE",
    "NOCACHE": lambda _: "NOCACHE",
}
