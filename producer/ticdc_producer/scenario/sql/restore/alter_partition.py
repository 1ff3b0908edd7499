"""The parts of ALTER TABLE that change partitions, as TiDB prints them."""

from __future__ import annotations

from collections.abc import Callable

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.names import (
    accept_if_exists,
    accept_if_not_exists,
    read_list,
    read_name,
    read_table_name,
    tidb_comment,
)
from ticdc_producer.scenario.sql.restore.partition import read_definitions, read_less_than, read_partition_by


def read_partition_part(cursor: Cursor) -> str:
    """The part that comes next; empty if it does not change partitions."""
    if cursor.word() == "PARTITION" and cursor.word(1) == "BY":
        return read_partition_by(cursor)
    for words, reader in _READERS.items():
        if cursor.accept(*words):
            return f"{' '.join(words)}{reader(cursor)}"
    return ""


def _no_binlog(cursor: Cursor) -> str:
    """``NO_WRITE_TO_BINLOG`` or its synonym ``LOCAL``; empty without."""
    return " NO_WRITE_TO_BINLOG" * bool(cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL"))


def _add(cursor: Cursor) -> str:
    text = tidb_comment("", " IF NOT EXISTS") * accept_if_not_exists(cursor) + _no_binlog(cursor)
    if cursor.accept("PARTITIONS"):
        return f"{text} PARTITIONS {cursor.integer()}"
    return f"{text} ({', '.join(read_definitions(cursor))})"


def _partition_names(cursor: Cursor) -> str:
    return " " + ",".join(read_list(cursor, read_name))


def _names_or_all(cursor: Cursor) -> str:
    return " ALL" if cursor.accept("ALL") else _partition_names(cursor)


def _logged_names_or_all(cursor: Cursor) -> str:
    return _no_binlog(cursor) + _names_or_all(cursor)


def _drop(cursor: Cursor) -> str:
    if_exists = " " + tidb_comment("", "IF EXISTS ") if accept_if_exists(cursor) else ""
    names = _partition_names(cursor)
    return if_exists + names.lstrip() if if_exists else names


def _coalesce(cursor: Cursor) -> str:
    return f"{_no_binlog(cursor)} {cursor.integer()}"


def _reorganize(cursor: Cursor) -> str:
    text = _no_binlog(cursor)
    if cursor.at_end:
        return text
    text += _partition_names(cursor)
    cursor.expect("INTO")
    return f"{text} INTO ({', '.join(read_definitions(cursor))})"


def _exchange(cursor: Cursor) -> str:
    partition = read_name(cursor)
    cursor.expect("WITH", "TABLE")
    text = f" {partition} WITH TABLE {read_table_name(cursor)}"
    if cursor.accept("WITHOUT", "VALIDATION"):
        return text + " WITHOUT VALIDATION"
    cursor.accept("WITH", "VALIDATION")
    return text


def _less_than(cursor: Cursor) -> str:
    text = " " + read_less_than(cursor)
    accept_if_exists(cursor)
    return text + _no_binlog(cursor)


def _nothing(_: Cursor) -> str:
    return ""


_READERS: dict[tuple[str, ...], Callable[[Cursor], str]] = {
    ("ADD", "PARTITION"): _add,
    ("DROP", "PARTITION"): _drop,
    ("TRUNCATE", "PARTITION"): _names_or_all,
    ("COALESCE", "PARTITION"): _coalesce,
    ("REORGANIZE", "PARTITION"): _reorganize,
    ("EXCHANGE", "PARTITION"): _exchange,
    ("REMOVE", "PARTITIONING"): _nothing,
    ("CHECK", "PARTITION"): _names_or_all,
    ("REBUILD", "PARTITION"): _logged_names_or_all,
    ("OPTIMIZE", "PARTITION"): _logged_names_or_all,
    ("REPAIR", "PARTITION"): _logged_names_or_all,
    ("FIRST",): _less_than,
    ("LAST",): _less_than,
    ("SPLIT", "MAXVALUE"): _less_than,
    ("MERGE", "FIRST"): _less_than,
}
