"""PARTITION BY, read and made.

Rules: tidb ``pkg/ddl/partition.go``: names are unique, range bounds grow, every unique key holds all
columns of the partition function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from producer.errors import ScenarioError
from producer.model.coerce import coerce
from producer.model.sql_mode import SQLMode
from producer.model.table import TableInfo
from producer.scenario.sql.cursor import Cursor
from producer.scenario.sql.dialect import parse_expression
from producer.scenario.sql.evaluate import check_expression, evaluate_constant
from producer.scenario.sql.partitioning import MAXVALUE, NULL, Bound, Component, Partitioning, component
from producer.scenario.sql.scope import Scope

Kind = Literal["RANGE", "LIST", "HASH", "KEY"]
_KINDS: dict[str, Kind] = {"RANGE": "RANGE", "LIST": "LIST", "HASH": "HASH", "KEY": "KEY"}
_MAXVALUE, _DEFAULT = "MAXVALUE", "DEFAULT"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDraft:
    """One partition as read.

    :param bounds: SQL texts: the values of LESS THAN, or of IN one by one.
    """

    name: str
    bounds: tuple[tuple[str, ...], ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitioningDraft:
    """A PARTITION BY as read."""

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
    """What stands behind PARTITION BY."""
    line = cursor.line
    if cursor.word() == "LINEAR":
        raise cursor.unsupported("LINEAR partitioning")
    word = cursor.accept_any(*_KINDS)
    if not word:
        raise cursor.unsupported(f"PARTITION BY {cursor.word() or 'here'}")
    kind = _KINDS[word]
    columns: tuple[str, ...] = ()
    expression = ""
    if cursor.accept("COLUMNS") or kind == "KEY":
        columns = _names(cursor)
    else:
        cursor.expect("(")
        expression = cursor.expression_source()
        cursor.expect(")")
    count = cursor.integer() if cursor.accept("PARTITIONS") else 0
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


def read_partitions(cursor: Cursor) -> tuple[PartitionDraft, ...]:
    """``(PARTITION name VALUES …, …)``."""
    cursor.expect("(")
    parts = [_read_partition(cursor)]
    while cursor.accept(","):
        parts.append(_read_partition(cursor))
    cursor.expect(")")
    return tuple(parts)


def _read_partition(cursor: Cursor) -> PartitionDraft:
    cursor.expect("PARTITION")
    line, name = cursor.line, cursor.identifier("a partition name")
    bounds: tuple[tuple[str, ...], ...] = ()
    if cursor.accept("DEFAULT"):
        bounds = ((_DEFAULT,),)
    elif cursor.accept("VALUES"):
        if cursor.accept("LESS", "THAN"):
            bounds = ((_MAXVALUE,) if cursor.accept("MAXVALUE") else _values(cursor),)
        else:
            cursor.expect("IN")
            bounds = _listed(cursor)
    while cursor.word() not in (",", ")") and not cursor.at_end:
        _read_option(cursor)
    return PartitionDraft(name=name, bounds=bounds, line=line)


def _read_option(cursor: Cursor) -> None:
    if cursor.accept("PLACEMENT", "POLICY") or cursor.accept_any(
        "COMMENT", "ENGINE", "MAX_ROWS", "MIN_ROWS", "TABLESPACE", "NODEGROUP"
    ):
        cursor.accept("=")
        cursor.place += 1
    else:
        raise cursor.unsupported(f"the partition option {cursor.word() or 'here'}")


def _names(cursor: Cursor) -> tuple[str, ...]:
    cursor.expect("(")
    names = [cursor.identifier("a column name")]
    while cursor.accept(","):
        names.append(cursor.identifier("a column name"))
    cursor.expect(")")
    return tuple(names)


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
    return _values(cursor) if cursor.word() == "(" else (cursor.expression_source(),)


def make_partitioning(draft: PartitioningDraft, table: TableInfo, mode: SQLMode) -> Partitioning:
    """The partitioning of a table.

    :raises ScenarioError: for unknown columns, bounds that do not grow, a key that lacks a column.
    """
    scope = Scope(mode, table)
    for name in draft.columns:
        scope.offset(name)
    if draft.expression:
        check_expression(parse_expression(draft.expression, draft.line), scope)
    columns = draft.columns
    if draft.kind == "KEY" and not columns:
        raise ScenarioError("PARTITION BY KEY () is not supported, name its columns", line=draft.line)
    made = Partitioning(kind=draft.kind, columns=columns, expression=draft.expression, count=draft.count)
    _check_names(draft.names, draft.line)
    check_keys(made, table, draft.line)
    return with_partitions(made, draft.parts, table, mode)


def with_partitions(
    partitioning: Partitioning, parts: Sequence[PartitionDraft], table: TableInfo, mode: SQLMode
) -> Partitioning:
    """The partitioning with these partitions, in place of those it has.

    :raises ScenarioError: for bounds that do not grow, or the same value twice.
    """
    bounds = tuple(bounds_of(part, partitioning, table, mode) for part in parts)
    return checked(replace(partitioning, bounds=bounds, count=len(parts) or partitioning.count), parts)


def bounds_of(
    part: PartitionDraft, partitioning: Partitioning, table: TableInfo, mode: SQLMode
) -> tuple[Bound, ...]:
    """The values of one partition, evaluated; the word DEFAULT is an empty bound."""
    if part.bounds == ((_DEFAULT,),):
        return ((),)
    return tuple(_bound(texts, part, partitioning, table, mode) for texts in part.bounds)


def _bound(
    texts: tuple[str, ...], part: PartitionDraft, partitioning: Partitioning, table: TableInfo, mode: SQLMode
) -> Bound:
    if texts == (_DEFAULT,):
        return ()
    width = len(partitioning.columns) or 1
    if len(texts) != width and texts != (_MAXVALUE,):
        raise ScenarioError(f"partition {part.name!r} needs {width} values", line=part.line)
    texts = texts if len(texts) == width else (_MAXVALUE,) * width
    return tuple(_component(text, place, part, partitioning, table, mode) for place, text in enumerate(texts))


def _component(
    text: str,
    place: int,
    part: PartitionDraft,
    partitioning: Partitioning,
    table: TableInfo,
    mode: SQLMode,
) -> Component:
    if text.upper() == _MAXVALUE:
        return MAXVALUE
    value = evaluate_constant(parse_expression(text, part.line), mode)
    if value is None:
        return NULL
    if partitioning.columns:
        column = Scope(mode, table).column(partitioning.columns[place])
        return component(column, coerce(column, value, mode))
    if not isinstance(value, int):
        raise ScenarioError(f"VALUES of partition {part.name!r} must be integers", line=part.line, value=text)
    return 1, int(value)


def checked(partitioning: Partitioning, parts: Sequence[PartitionDraft]) -> Partitioning:
    """The partitioning, its DEFAULT partition known.

    :raises ScenarioError: for range bounds that do not grow, or a value in two lists.
    """
    line = parts[0].line if parts else 0
    if partitioning.kind == "RANGE":
        bounds = [bound for (bound,) in partitioning.bounds]
        if any(later <= earlier for earlier, later in pairwise(bounds)):
            raise ScenarioError("VALUES LESS THAN must grow from partition to partition", line=line)
    if partitioning.kind == "LIST":
        values = [bound for taken in partitioning.bounds for bound in taken]
        if len(set(values)) < len(values):
            raise ScenarioError("the same value stands in two partitions", line=line)
        homes = [place for place, taken in enumerate(partitioning.bounds) if () in taken]
        return replace(partitioning, default=homes[0] if homes else -1)
    return partitioning


def _check_names(names: Sequence[str], line: int) -> None:
    if len({name.lower() for name in names}) < len(names):
        raise ScenarioError("Duplicate partition name", line=line)


def check_keys(partitioning: Partitioning, table: TableInfo, line: int) -> None:
    """:raises ScenarioError: if a unique key lacks a column of the partition function."""
    needed = partitioning.uses()
    for index in table.indexes:
        has = {table.columns[offset].name.lower() for offset in index.offsets}
        if index.unique and not needed <= has:
            kind = "PRIMARY KEY" if index.primary else f"UNIQUE INDEX {index.name!r}"
            raise ScenarioError(
                f"A {kind} must include all columns in the table's partitioning function", line=line
            )
