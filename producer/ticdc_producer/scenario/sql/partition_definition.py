"""Reads PARTITION BY into a draft; ``partition_bounds`` evaluates it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.cursor import Cursor

Kind = Literal["RANGE", "LIST", "HASH", "KEY"]
_KINDS: dict[str, Kind] = {"RANGE": "RANGE", "LIST": "LIST", "HASH": "HASH", "KEY": "KEY"}
BY_VALUES: dict[str, str] = {"RANGE": "LESS THAN", "LIST": "IN"}
"""The VALUES clause of each kind of partitioning; HASH and KEY have none."""
MAXVALUE_WORD, DEFAULT_WORD = "MAXVALUE", "DEFAULT"
MOST_PARTITIONS = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDraft:
    """A parsed partition.

    :param values: ``LESS THAN``, ``IN``, or empty.
    :param bounds: SQL texts: the one bound of LESS THAN, or each value of IN.
    """

    name: str
    values: str
    bounds: tuple[tuple[str, ...], ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitioningDraft:
    """A parsed PARTITION BY."""

    kind: Kind
    columns: tuple[str, ...]
    expression: str
    count: int
    parts: tuple[PartitionDraft, ...]
    line: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts) or tuple(f"p{n}" for n in range(self.count))


def read_partition_by(cursor: Cursor) -> PartitioningDraft:
    """Read a partitioning after the words PARTITION BY."""
    line = cursor.line
    if cursor.word() == "LINEAR":
        raise cursor.unsupported("LINEAR partitioning")
    word = cursor.accept_any(*_KINDS)
    if not word:
        raise cursor.unsupported(f"PARTITION BY {cursor.word() or 'here'}")
    kind = _KINDS[word]
    columns: tuple[str, ...] = ()
    expression = ""
    if kind == "KEY" and cursor.word() == "(" and cursor.word(1) == ")":
        raise UnsupportedSQL("PARTITION BY KEY () is not supported", line=line, hint="name its columns")
    if cursor.accept("COLUMNS") or kind == "KEY":
        columns = cursor.column_names()
    else:
        cursor.expect("(")
        expression = cursor.expression_source()
        cursor.expect(")")
    count = read_count(cursor)
    if cursor.word() in ("INTERVAL", "SUBPARTITION"):
        raise cursor.unsupported(f"{cursor.word()} in PARTITION BY")
    parts = read_partitions(cursor) if cursor.word() == "(" else ()
    if kind in ("RANGE", "LIST") and not parts:
        raise cursor.error(f"expected the partitions of {kind}")
    count = count or len(parts) or 1
    if parts and len(parts) != count:
        raise cursor.error(f"PARTITIONS {count}, but {len(parts)} partitions")
    return PartitioningDraft(
        kind=kind, columns=columns, expression=expression, count=count, parts=parts, line=line
    )


def read_count(cursor: Cursor) -> int:
    """Read ``PARTITIONS n``; 0 without it."""
    if not cursor.accept("PARTITIONS"):
        return 0
    line, count = cursor.line, cursor.integer()
    if count == 0:
        raise ScenarioError("Number of partitions = 0 is not an allowed value", line=line, value="0")
    if count > MOST_PARTITIONS:
        what = f"Too many partitions (including subpartitions) were defined: at most {MOST_PARTITIONS}"
        raise ScenarioError(what, line=line, value=str(count))
    return count


def read_partitions(cursor: Cursor) -> tuple[PartitionDraft, ...]:
    """Read ``(PARTITION name VALUES …, …)``."""
    cursor.expect("(")
    parts = [_read_partition(cursor)]
    while cursor.accept(","):
        parts.append(_read_partition(cursor))
    cursor.expect(")")
    return tuple(parts)


def _read_partition(cursor: Cursor) -> PartitionDraft:
    cursor.expect("PARTITION")
    line, name = cursor.line, cursor.identifier("a partition name")
    values, bounds = _read_values(cursor)
    while cursor.word() not in (",", ")") and not cursor.at_end:
        _read_option(cursor)
    return PartitionDraft(name=name, values=values, bounds=bounds, line=line)


def _read_values(cursor: Cursor) -> tuple[str, tuple[tuple[str, ...], ...]]:
    if cursor.accept("DEFAULT"):
        return "IN", ((DEFAULT_WORD,),)
    if not cursor.accept("VALUES"):
        return "", ()
    if cursor.accept("LESS", "THAN"):
        return "LESS THAN", ((MAXVALUE_WORD,) if cursor.accept("MAXVALUE") else _values(cursor),)
    cursor.expect("IN")
    return "IN", _listed(cursor)


def _read_option(cursor: Cursor) -> None:
    if cursor.accept("PLACEMENT", "POLICY") or cursor.accept_any(
        "COMMENT", "ENGINE", "MAX_ROWS", "MIN_ROWS", "TABLESPACE", "NODEGROUP"
    ):
        cursor.accept("=")
        cursor.position += 1
    elif cursor.word() == "(":
        raise cursor.unsupported("SUBPARTITION")
    else:
        raise cursor.unsupported(f"the partition option {cursor.word() or 'here'}")


def _values(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    values = [cursor.expression_source()]
    while cursor.accept(","):
        values.append(cursor.expression_source())
    cursor.expect(")")
    return tuple(values)


def _listed(cursor: Cursor) -> tuple[tuple[str, ...], ...]:
    cursor.expect("(")
    values = [_one_listed(cursor)]
    while cursor.accept(","):
        values.append(_one_listed(cursor))
    cursor.expect(")")
    return tuple(values)


def _one_listed(cursor: Cursor) -> tuple[str, ...]:
    if cursor.accept(DEFAULT_WORD):
        return (DEFAULT_WORD,)
    return _values(cursor) if cursor.word() == "(" else (cursor.expression_source(),)
