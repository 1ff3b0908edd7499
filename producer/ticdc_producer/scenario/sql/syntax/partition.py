"""Partitions of a table.

Rules: tidb ``parser.y`` (``PartitionOpt``, ``PartitionMethod``, ``PartitionDefinition``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ticdc_producer.scenario.sql.syntax.names import (
    TIME_UNITS,
    TSI_PREFIX,
    ColumnName,
    read_bracketed_list,
    read_column_name,
)
from ticdc_producer.scenario.sql.syntax.table_option import TableOption, read_table_option
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText

PartitionKind: TypeAlias = Literal["RANGE", "LIST", "HASH", "KEY"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """``INTERVAL (amount unit)``, by which TiDB creates RANGE partitions.

    :param unit: of time; empty for numbers.
    :param first: the bound of the first partition; None without it, as ``last``.
    :param null: whether ``NULL PARTITION`` is written, as ``maxvalue``.
    """

    amount: SourceText
    unit: str
    first: SourceText | None
    last: SourceText | None
    null: bool
    maxvalue: bool
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionMethod:
    """The way in which rows are distributed.

    :param expression: the partition function; None if columns distribute the rows.
    :param algorithm: of KEY; -1 without it.
    """

    kind: PartitionKind
    linear: bool = False
    columns: tuple[ColumnName, ...] = ()
    expression: SourceText | None = None
    algorithm: int = -1
    intervals: Intervals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One partition, or a subpartition.

    :param values: ``LESS THAN``, ``IN``, ``DEFAULT``, or empty.
    :param bounds: the one bound of LESS THAN, or each value of IN.
    """

    name: str
    values: str = ""
    bounds: tuple[tuple[SourceText, ...], ...] = ()
    options: tuple[TableOption, ...] = ()
    subpartitions: tuple[Partition, ...] = ()
    source: SourceText = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionBy:
    """``PARTITION BY``.

    :param count: the number of partitions; -1 without it.
    :param inner: of SUBPARTITION BY.
    :param inner_count: of SUBPARTITION BY; 0 without it.
    :param indexes: of UPDATE INDEXES: names with GLOBAL or LOCAL.
    """

    method: PartitionMethod
    count: int = -1
    inner: PartitionMethod | None = None
    inner_count: int = 0
    parts: tuple[Partition, ...] = ()
    indexes: tuple[tuple[str, str], ...] = ()
    source: SourceText = field(compare=False, repr=False)


def read_partition_by(cursor: Cursor) -> PartitionBy:
    """Read ``PARTITION BY …``."""
    start = cursor.position
    cursor.expect("PARTITION", "BY")
    method = _method(cursor)
    count = cursor.integer() if cursor.accept("PARTITIONS") else -1
    inner, inner_count = None, 0
    if cursor.accept("SUBPARTITION", "BY"):
        inner = _hash_or_key(cursor)
        inner_count = cursor.integer() if cursor.accept("SUBPARTITIONS") else 0
    parts = read_partitions(cursor) if cursor.word() == "(" else ()
    indexes = read_bracketed_list(cursor, _updated_index) if cursor.accept("UPDATE", "INDEXES") else ()
    return PartitionBy(
        method=method,
        count=count,
        inner=inner,
        inner_count=inner_count,
        parts=parts,
        indexes=indexes,
        source=cursor.since(start),
    )


def _updated_index(cursor: Cursor) -> tuple[str, str]:
    return cursor.identifier("an index name"), cursor.accept_any("GLOBAL", "LOCAL")


def _method(cursor: Cursor) -> PartitionMethod:
    if cursor.word() not in ("RANGE", "LIST"):
        return _hash_or_key(cursor)
    kind: PartitionKind = "RANGE" if cursor.accept_any("RANGE", "LIST") == "RANGE" else "LIST"
    columns: tuple[ColumnName, ...] = ()
    expression = None
    if cursor.accept_any("COLUMNS", "FIELDS"):
        columns = read_bracketed_list(cursor, read_column_name)
    else:
        expression = _in_brackets(cursor)
    intervals = _intervals(cursor) if kind == "RANGE" and cursor.word() == "INTERVAL" else None
    return PartitionMethod(kind=kind, columns=columns, expression=expression, intervals=intervals)


def _hash_or_key(cursor: Cursor) -> PartitionMethod:
    linear = cursor.accept("LINEAR")
    if cursor.accept("HASH"):
        return PartitionMethod(kind="HASH", linear=linear, expression=_in_brackets(cursor))
    if not cursor.accept("KEY"):
        raise cursor.unsupported(f"partitioning by {cursor.word() or 'this'}")
    algorithm = cursor.integer() if cursor.accept("ALGORITHM", "=") else -1
    columns = () if cursor.accept("(", ")") else read_bracketed_list(cursor, read_column_name)
    return PartitionMethod(kind="KEY", linear=linear, columns=columns, algorithm=algorithm)


def _in_brackets(cursor: Cursor) -> SourceText:
    cursor.expect("(")
    expression = cursor.expression()
    cursor.expect(")")
    return expression


def _intervals(cursor: Cursor) -> Intervals:
    start = cursor.position
    cursor.expect("INTERVAL", "(")
    amount = cursor.expression(until=TIME_UNITS)
    unit = cursor.accept_any(*TIME_UNITS).removeprefix(TSI_PREFIX)
    cursor.expect(")")
    first = read_less_than(cursor) if cursor.accept("FIRST") else None
    last = read_less_than(cursor) if cursor.accept("LAST") else None
    null, maxvalue = (cursor.accept(word, "PARTITION") for word in ("NULL", "MAXVALUE"))
    return Intervals(
        amount=amount,
        unit=unit,
        first=first,
        last=last,
        null=null,
        maxvalue=maxvalue,
        source=cursor.since(start),
    )


def read_less_than(cursor: Cursor) -> SourceText:
    """Read the bound of ``PARTITION LESS THAN (…)``."""
    cursor.expect("PARTITION", "LESS", "THAN")
    return _in_brackets(cursor)


def read_partitions(cursor: Cursor) -> tuple[Partition, ...]:
    """Read partition definitions in brackets."""
    return read_bracketed_list(cursor, _partition)


def _partition(cursor: Cursor, word: str = "PARTITION") -> Partition:
    cursor.expect(word)
    start, name = cursor.position, cursor.identifier("a partition name")
    values, bounds = _values(cursor)
    options = []
    while option := read_table_option(cursor):
        options.append(option)
    if cursor.word() not in (",", ")", "(", ""):
        raise cursor.unsupported(f"the partition option {cursor.word()}")
    inner = read_bracketed_list(cursor, _subpartition) if cursor.word() == "(" else ()
    return Partition(
        name=name,
        values=values,
        bounds=bounds,
        options=tuple(options),
        subpartitions=inner,
        source=cursor.since(start),
    )


def _subpartition(cursor: Cursor) -> Partition:
    return _partition(cursor, "SUBPARTITION")


def _values(cursor: Cursor) -> tuple[str, tuple[tuple[SourceText, ...], ...]]:
    if cursor.accept("DEFAULT"):
        return "DEFAULT", ()
    if not cursor.accept("VALUES"):
        return "", ()
    if cursor.accept("LESS", "THAN"):
        if cursor.accept("MAXVALUE"):
            return "LESS THAN", ((cursor.since(cursor.position - 1),),)
        return "LESS THAN", (read_bracketed_list(cursor, _upper_bound),)
    cursor.expect("IN")
    values = read_bracketed_list(cursor, _member)
    is_default = len(values) == 1 and values[0][0].text.upper() == "DEFAULT"
    return ("DEFAULT", ()) if is_default else ("IN", values)


def _upper_bound(cursor: Cursor) -> SourceText:
    if cursor.word() == "DEFAULT":
        raise cursor.error("expected a value or MAXVALUE")
    return cursor.expression()


def _member(cursor: Cursor) -> tuple[SourceText, ...]:
    """Read one value, or the values of several columns in brackets."""
    start = cursor.position
    if cursor.word() == "MAXVALUE":
        raise cursor.error("expected a value or DEFAULT")
    if cursor.word() == "(":
        values = read_bracketed_list(cursor, Cursor.expression)
        if len(values) > 1 and cursor.word() in (",", ")"):
            return values
        cursor.position = start
    return (cursor.expression(),)
