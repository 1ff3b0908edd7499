"""The rows of set operations: their columns, their shared types, and which rows are among others.

Rules: tidb ``pkg/planner/core/logical_plan_builder.go`` (``buildUnion``, ``buildSemiJoinForSetOperator``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import reduce

from ticdc_producer.model.values.number_text import EXACT, rounded
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.arithmetic import scale_of
from ticdc_producer.scenario.sql.expression.collation import merged_collation
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, compare
from ticdc_producer.scenario.sql.expression.eval_type import (
    OF_INTEGER,
    WHOLE,
    Digits,
    EvalType,
    ExpressionType,
    converted,
    merged_digits,
    merged_type,
)
from ticdc_producer.scenario.sql.query.equality import ValueIndex, distinct_key
from ticdc_producer.scenario.sql.query.plan import QueryRow
from ticdc_producer.scenario.sql.query.source import Field


@dataclass(frozen=True, slots=True)
class SetRows:
    """The columns and rows of a query, or of several that are combined."""

    fields: Sequence[Field]
    rows: list[QueryRow]

    def distinct(self) -> SetRows:
        """Return the different rows, each as it is first."""
        collations = [field.collation or DEFAULT_COLLATION for field in self.fields]
        rows_by_key: dict[object, QueryRow] = {}
        for row in self.rows:
            rows_by_key.setdefault(_key(row, collations), row)
        return SetRows(self.fields, [with_scales(row, self.fields) for row in rows_by_key.values()])

    def matching(self, other: SetRows, mode: SQLMode, *, expected: bool) -> SetRows:
        """Return the different rows that are, or are not, among others. NULL equals NULL here.

        Source: tidb ``buildSemiJoinForSetOperator``.
        """
        pairs = [*zip(self.fields, other.fields, strict=True)]
        collations = [
            merged_collation(own.collation, field.collation) or DEFAULT_COLLATION for own, field in pairs
        ]
        if all(own.type.kind is field.type.kind is not EvalType.UNKNOWN for own, field in pairs):
            keys = {_key(row, collations) for row in other.rows}
            rows = [row for row in self.distinct().rows if (_key(row, collations) in keys) is expected]
        else:
            is_among = _finder(other.rows, collations, mode)
            rows = [row for row in self.distinct().rows if is_among(row) is expected]
        return SetRows(self.fields, rows)


def with_scales(row: QueryRow, fields: Sequence[Field]) -> QueryRow:
    """Return one of the different rows, whose DECIMALs have the scales of their types.

    Source: tidb ``firstRow4Decimal``.
    """
    return [_with_scale(value, field.type) for value, field in zip(row, fields, strict=True)]


def _with_scale(value: SQLValue, of: ExpressionType) -> SQLValue:
    if of.kind is not EvalType.DECIMAL or of.digits is None or not isinstance(value, int | Decimal):
        return value
    return rounded(value, of.digits.decimals)


def _key(row: QueryRow, collations: Sequence[str]) -> object:
    return tuple(map(distinct_key, row, collations))


def _finder(rows: list[QueryRow], collations: list[str], mode: SQLMode) -> Callable[[QueryRow], bool]:
    """Return a function that says whether a row with values of other types is among rows."""
    index = ValueIndex([row[0] for row in rows], collations[0])
    nulls = [row for row in rows if row[0] is None]

    def equals(row: QueryRow, candidate: QueryRow) -> bool:
        return all(
            left is right is None or compare(left, right, collation, mode) == 0
            for left, right, collation in zip(row, candidate, collations, strict=True)
        )

    def is_among(row: QueryRow) -> bool:
        candidates = (rows[position] for position in index.candidates(row[0]))
        return any(equals(row, candidate) for candidate in (nulls if row[0] is None else candidates))

    return is_among


def union_of(parts: Sequence[SetRows], distinct: Sequence[bool], mode: SQLMode) -> SetRows:
    """Return the rows of a UNION.

    :param distinct: whether each part after the first is added by UNION, not by UNION ALL.
    """
    columns = [[part.fields[number] for part in parts] for number in range(len(parts[0].fields))]
    collations = [reduce(merged_collation, map(_collation, column)) for column in columns]
    fields = [
        Field(column[0].name, collation, _shared_type(column))
        for column, collation in zip(columns, collations, strict=True)
    ]
    results = _with_shared_types(parts, fields, mode) if len(parts) > 1 else [part.rows for part in parts]
    combined = SetRows(fields, results[0])
    for is_distinct, rows in zip(distinct, results[1:], strict=True):
        combined = SetRows(fields, [*combined.rows, *rows])
        combined = combined.distinct() if is_distinct else combined
    return combined


def _collation(field: Field) -> str:
    """Return the collation of a column; a document has that of its text."""
    return DEFAULT_COLLATION if field.type.kind is EvalType.JSON else field.collation


def _shared_type(column: Sequence[Field]) -> ExpressionType:
    types = [field.type for field in column]
    merged = merged_type(types)
    if merged.kind is EvalType.DOUBLE:
        return merged
    digits = merged_digits(
        ExpressionType(kind, OF_INTEGER if digits is None and kind in WHOLE else digits)
        for kind, digits in types
        if kind is not EvalType.NULL
    )
    if digits is not None and any(each.kind in WHOLE for each in types):
        digits = Digits(max(digits.whole, OF_INTEGER.whole - digits.decimals), digits.decimals)
    return ExpressionType(merged.kind, digits)


def _with_shared_types(
    parts: Sequence[SetRows], fields: Sequence[Field], mode: SQLMode
) -> list[list[QueryRow]]:
    """Convert the values of each column to the merged type of its expressions."""
    scales = [_shared_scale([part.rows for part in parts], *column) for column in enumerate(fields)]
    converted_results = []
    for part in parts:
        columns = list(zip(part.fields, fields, scales, strict=True))
        converted_results.append(
            [
                [_as_type(value, *column, mode) for value, column in zip(row, columns, strict=True)]
                for row in part.rows
            ]
        )
    return converted_results


def _shared_scale(results: Sequence[Sequence[QueryRow]], column: int, field: Field) -> int:
    """Return the scale of a DECIMAL column: of its type, or the largest of its values; -1 for other types."""
    if field.type.kind is not EvalType.DECIMAL:
        return -1
    if field.type.digits is not None:
        return field.type.digits.decimals
    values = (row[column] for rows in results for row in rows)
    return max((scale_of(value) for value in values if isinstance(value, Decimal)), default=0)


def _as_type(value: SQLValue, of: Field, merged: Field, scale: int, mode: SQLMode) -> SQLValue:
    """Convert a value of one query to the merged type.

    TiDB converts it, and rounds quotients, where types differ.
    """
    kind, digits = merged.type
    is_rounded = kind in (EvalType.DATETIME, EvalType.DOUBLE)
    value = converted(value, kind, mode, digits.decimals if digits is not None and is_rounded else None)
    if scale < 0 or not isinstance(value, Decimal) or scale_of(value) == scale:
        return value
    if of.type.digits == merged.type.digits and scale_of(value) > scale:
        return value
    return value.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=EXACT)
