"""The parts of ALTER TABLE that change partitions.

Rules: tidb ``parser.y`` (``AlterTableSpec``, ``AllOrPartitionNameList``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ticdc_producer.scenario.sql.syntax.names import (
    TableName,
    accept_if_exists,
    accept_if_not_exists,
    read_names,
    read_table_name,
)
from ticdc_producer.scenario.sql.syntax.partition import Partition, read_less_than, read_partitions
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePartitions:
    """A change of partitions.

    :param kind: its first words.
    :param names: of partitions; empty for ALL and where the change has none.
    :param count: of ADD and COALESCE; -1 without it.
    :param bound: of FIRST, LAST, SPLIT MAXVALUE and MERGE FIRST.
    :param table: of EXCHANGE PARTITION.
    :param validation: ``WITH``, ``WITHOUT`` or empty, of EXCHANGE PARTITION.
    :param conditional: whether IF EXISTS or IF NOT EXISTS is written.
    """

    kind: str
    names: tuple[str, ...] = ()
    all: bool = False
    count: int = -1
    parts: tuple[Partition, ...] = ()
    bound: SourceText | None = None
    table: TableName | None = None
    validation: str = ""
    conditional: bool = False
    no_binlog: bool = False
    source: SourceText = field(compare=False, repr=False)


def read_partition_change(cursor: Cursor) -> ChangePartitions | None:
    """Read a change of partitions; None, and nothing read, if the cursor is at another part."""
    start = cursor.position
    for words, read in _CHANGES.items():
        if cursor.accept(*words):
            return read(cursor, " ".join(words), start)
    return None


def _no_binlog(cursor: Cursor) -> bool:
    """Read ``NO_WRITE_TO_BINLOG`` or its synonym ``LOCAL``, and return whether it came next."""
    return bool(cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL"))


def _add_partitions(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    conditional, no_binlog = accept_if_not_exists(cursor), _no_binlog(cursor)
    count = cursor.integer() if cursor.accept("PARTITIONS") else -1
    return ChangePartitions(
        kind=kind,
        count=count,
        parts=() if count >= 0 else read_partitions(cursor),
        conditional=conditional,
        no_binlog=no_binlog,
        source=cursor.since(start),
    )


def _named_partitions(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    """Read a change of partitions by name, or of ALL; DROP does not accept ALL."""
    conditional = kind == "DROP PARTITION" and accept_if_exists(cursor)
    no_binlog = kind not in ("DROP PARTITION", "TRUNCATE PARTITION") and _no_binlog(cursor)
    every = kind != "DROP PARTITION" and cursor.accept("ALL")
    return ChangePartitions(
        kind=kind,
        names=() if every else read_names(cursor, "a partition name"),
        all=every,
        conditional=conditional,
        no_binlog=no_binlog,
        source=cursor.since(start),
    )


def _coalesce(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    no_binlog = _no_binlog(cursor)
    count = cursor.integer()
    return ChangePartitions(kind=kind, count=count, no_binlog=no_binlog, source=cursor.since(start))


def _reorganize(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    no_binlog = _no_binlog(cursor)
    names: tuple[str, ...] = ()
    parts: tuple[Partition, ...] = ()
    if not cursor.at_end:
        names = read_names(cursor, "a partition name")
        cursor.expect("INTO")
        parts = read_partitions(cursor)
    source = cursor.since(start)
    return ChangePartitions(kind=kind, names=names, parts=parts, no_binlog=no_binlog, source=source)


def _exchange(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    names = (cursor.identifier("a partition name"),)
    cursor.expect("WITH", "TABLE")
    table, validation = read_table_name(cursor), ""
    if cursor.word(1) == "VALIDATION":
        validation = cursor.accept_any("WITH", "WITHOUT")
        cursor.expect("VALIDATION")
    source = cursor.since(start)
    return ChangePartitions(kind=kind, names=names, table=table, validation=validation, source=source)


def _bounded(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    bound = read_less_than(cursor)
    accept_if_exists(cursor)
    no_binlog = _no_binlog(cursor)
    return ChangePartitions(kind=kind, bound=bound, no_binlog=no_binlog, source=cursor.since(start))


def _remove(cursor: Cursor, kind: str, start: int) -> ChangePartitions:
    return ChangePartitions(kind=kind, source=cursor.since(start))


_CHANGES: dict[tuple[str, ...], Callable[[Cursor, str, int], ChangePartitions]] = {
    ("ADD", "PARTITION"): _add_partitions,
    ("COALESCE", "PARTITION"): _coalesce,
    ("REORGANIZE", "PARTITION"): _reorganize,
    ("EXCHANGE", "PARTITION"): _exchange,
    ("REMOVE", "PARTITIONING"): _remove,
    **{
        (verb, "PARTITION"): _named_partitions
        for verb in ("DROP", "TRUNCATE", "CHECK", "REBUILD", "OPTIMIZE", "REPAIR")
    },
    ("FIRST",): _bounded,
    ("LAST",): _bounded,
    ("SPLIT", "MAXVALUE"): _bounded,
    ("MERGE", "FIRST"): _bounded,
}
