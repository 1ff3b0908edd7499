"""Builds a table's partitioning from its parsed definition.

Rules: tidb ``pkg/ddl/partition.go``: names are unique, range bounds grow, every unique key holds all
columns of the partition function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import STRICT, coerce
from ticdc_producer.model.values.sql_value import BinaryLiteral, SQLMode, SQLValue
from ticdc_producer.scenario.sql.definition.generated import expression_of
from ticdc_producer.scenario.sql.definition.key_definition import primary_key
from ticdc_producer.scenario.sql.definition.partition_definition import (
    BY_VALUES,
    DEFAULT_WORD,
    MAXVALUE_WORD,
    PartitionDraft,
    PartitioningDraft,
)
from ticdc_producer.scenario.sql.definition.partition_function import check_columns, check_function
from ticdc_producer.scenario.sql.definition.partitioning import (
    MAXVALUE,
    NULL,
    Bound,
    Component,
    Partitioning,
    component,
)
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.expression.evaluate import evaluate_constant, type_of
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.text.parse import parse_expression

T = MySQLType


def make_partitioning(draft: PartitioningDraft, table: TableInfo, mode: SQLMode) -> Partitioning:
    """Build the partitioning of a table.

    :raises ScenarioError: for unknown columns, bounds that do not increase, a unique key without a column of
        the partition function.
    """
    scope = Scope(mode, table)
    columns = _key_columns(table, draft.line) if draft.kind == "KEY" and not draft.columns else draft.columns
    check_columns(draft.kind, [scope.column(name) for name in columns], draft.line)
    if draft.expression:
        check_function(parse_expression(draft.expression, draft.line), scope, draft.line)
    partitioning = Partitioning(
        kind=draft.kind, columns=columns, expression=draft.expression, count=draft.count
    )
    _check_names(draft.names, draft.line)
    check_keys(partitioning, table, draft.line)
    return with_partitions(partitioning, draft.parts, table, mode)


def _key_columns(table: TableInfo, line: int) -> tuple[str, ...]:
    """Return the columns of ``KEY ()``: those of the primary key, or of the unique key in its place.

    :raises ScenarioError: if the table has none.
    """
    index = primary_key(table)
    if index is not None:
        return tuple(table.columns[offset].name for offset in index.offsets)
    what = "Table partition metadata not correct, neither partition expression or list of partition columns"
    raise ScenarioError(what, line=line)


def with_partitions(
    partitioning: Partitioning, parts: Sequence[PartitionDraft], table: TableInfo, mode: SQLMode
) -> Partitioning:
    """Replace the partitions of a partitioning.

    :raises ScenarioError: for bounds that do not increase, or the same value twice.
    """
    bounds = tuple(bounds_of(part, partitioning, table, mode) for part in parts)
    return validate_bounds(
        replace(
            partitioning,
            bounds=bounds,
            count=len(parts) or partitioning.count,
            texts=tuple(part.values_text for part in parts),
        ),
        parts,
    )


def bounds_of(
    part: PartitionDraft, partitioning: Partitioning, table: TableInfo, mode: SQLMode
) -> tuple[Bound, ...]:
    """Evaluate the values of one partition; the word DEFAULT becomes an empty bound.

    :raises ScenarioError: if VALUES is missing, or does not belong to this kind of partitioning.
    """
    expected = BY_VALUES.get(partitioning.kind, "")
    if part.values and part.values != expected:
        kind = next(kind for kind, values in BY_VALUES.items() if values == part.values)
        what = f"Only {kind} PARTITIONING can use VALUES {part.values} in partition definition"
        raise ScenarioError(what, line=part.line)
    if part.values != expected:
        what = f"{partitioning.kind} PARTITIONING requires definition of VALUES {expected} for each partition"
        raise ScenarioError(what, line=part.line)
    if part.bounds == ((DEFAULT_WORD,),):
        return ((),)
    return tuple(_bound(texts, part, partitioning, table, mode) for texts in part.bounds)


def _bound(
    texts: tuple[str, ...], part: PartitionDraft, partitioning: Partitioning, table: TableInfo, mode: SQLMode
) -> Bound:
    if texts == (DEFAULT_WORD,):
        return ()
    width = len(partitioning.columns) or 1
    if len(texts) != width and texts != (MAXVALUE_WORD,):
        raise ScenarioError(
            f"partition {part.name!r} needs {width} value{'s' * (width > 1)}, not {len(texts)}",
            line=part.line,
        )
    texts = texts if len(texts) == width else (MAXVALUE_WORD,) * width
    return tuple(
        _component(text, position, part, partitioning, table, mode) for position, text in enumerate(texts)
    )


def _component(
    text: str,
    position: int,
    part: PartitionDraft,
    partitioning: Partitioning,
    table: TableInfo,
    mode: SQLMode,
) -> Component:
    if text.upper() == MAXVALUE_WORD:
        return MAXVALUE
    value = evaluate_constant(parse_expression(text, part.line), mode)
    if value is None and partitioning.kind == "RANGE":
        raise ScenarioError("Not allowed to use NULL value in VALUES LESS THAN", line=part.line, value="NULL")
    if value is None:
        return NULL
    if partitioning.columns:
        column = Scope(mode, table).column(partitioning.columns[position])
        if not _has_kind_of(column, value):
            raise ScenarioError("Partition column values of incorrect type", line=part.line, value=text)
        return component(column, coerce(column, value, mode))
    if not isinstance(value, int):
        raise ScenarioError(f"VALUES of partition {part.name!r} must be integers", line=part.line, value=text)
    if value < 0 and _is_unsigned(partitioning, table):
        what = "Partition constant is out of partition function domain"
        raise ScenarioError(what, line=part.line, value=text)
    return 1, int(value)


def _is_unsigned(partitioning: Partitioning, table: TableInfo) -> bool:
    """Return whether the function is unsigned, in whatever sql_mode. Source: tidb ``isPartExprUnsigned``."""
    tree, scope = expression_of(partitioning.expression), Scope(STRICT, table)
    if isinstance(tree, exp.Column):
        return scope.column(tree.name).unsigned
    return type_of(tree, scope).kind in (EvalType.UNSIGNED, EvalType.SHORT_UNSIGNED)


def _has_kind_of(column: ColumnInfo, value: SQLValue) -> bool:
    """Return whether a value has the form of a column's type: a text for a date, a number for an integer.

    TiDB does not check this for VARCHAR. Source: tidb ``checkAndGetColumnsTypeAndValuesMatch``.
    """
    if column.type in (T.DATE, T.DATETIME, T.DURATION, T.STRING):
        return isinstance(value, str | bytes)
    return column.type not in INTEGERS or (isinstance(value, int) and not isinstance(value, BinaryLiteral))


def validate_bounds(partitioning: Partitioning, parts: Sequence[PartitionDraft]) -> Partitioning:
    """Check the bounds, and set ``default`` of a LIST partitioning.

    :raises ScenarioError: for range bounds that do not increase, or a value in two lists.
    """
    line = parts[0].line if parts else 0
    if partitioning.kind == "RANGE":
        bounds = [bound for (bound,) in partitioning.bounds]
        if any(later <= earlier for earlier, later in pairwise(bounds)):
            raise ScenarioError(
                "VALUES LESS THAN value must be strictly increasing for each partition", line=line
            )
    if partitioning.kind == "LIST":
        values = [bound for accepted in partitioning.bounds for bound in accepted]
        if len(set(values)) < len(values):
            raise ScenarioError("Multiple definition of same constant in list partitioning", line=line)
        default_partitions = [position for position, bounds in enumerate(partitioning.bounds) if () in bounds]
        return replace(partitioning, default=default_partitions[0] if default_partitions else -1)
    return partitioning


def _check_names(names: Sequence[str], line: int) -> None:
    if len({name.lower() for name in names}) < len(names):
        raise ScenarioError("Duplicate partition name", line=line)


def check_keys(partitioning: Partitioning | None, table: TableInfo, line: int) -> None:
    """Check that each unique key that is not GLOBAL has all columns of the partition function, not prefixes.

    :raises ScenarioError: if one lacks a column, and for a GLOBAL index of a table without partitions.
    """
    if partitioning is None:
        if any(index.is_global for index in table.indexes):
            raise ScenarioError("Unsupported Global Index on non-partitioned table", line=line)
        return
    needed = partitioning.uses()
    for index in table.indexes:
        parts = zip(index.offsets, index.lengths, strict=True)
        has = {table.columns[offset].name.lower() for offset, length in parts if length < 0}
        if index.unique and (index.clustered or not index.is_global) and not needed <= has:
            kind = "PRIMARY KEY" if index.primary else f"UNIQUE INDEX {index.name!r}"
            raise ScenarioError(
                f"A {kind} must include all columns in the table's partitioning function", line=line
            )
