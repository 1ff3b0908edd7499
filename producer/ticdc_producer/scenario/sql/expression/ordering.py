"""ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Generic, TypeVar

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.sql_value import Member, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.compare import compare


def row_count(node: exp.Expr) -> int:
    """Return the number of LIMIT or OFFSET.

    :raises ScenarioError: for anything but a whole number.
    """
    count = node.expression
    if (
        not isinstance(node, exp.Limit | exp.Offset)
        or node.args.get("offset")
        or type(count) is not exp.Literal
    ):
        raise UnsupportedSQL(f"{node.sql(dialect='mysql')!r} is not supported as a LIMIT")
    if count.is_string or not str(count.this).isdigit():
        raise ScenarioError(f"LIMIT needs a whole number, not {count.this!r}", value=str(count.this))
    if len(str(count.this)) > _MOST_DIGITS or int(str(count.this)) > _MOST_ROWS:
        raise ScenarioError("SQL does not parse: LIMIT needs a BIGINT UNSIGNED", value=str(count.this))
    return int(str(count.this))


_MOST_ROWS = 2**64 - 1
_MOST_DIGITS = 20


RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class SortKey(Generic[RowT]):
    """One expression of ORDER BY.

    :param value: computes it for a row.
    :param collation: of comparisons between texts.
    """

    value: Callable[[RowT], SQLValue]
    collation: str
    descending: bool


def sort_rows(rows: Iterable[RowT], keys: Sequence[SortKey[RowT]], mode: SQLMode) -> list[RowT]:
    """Sort rows; rows with equal keys remain in their order, and NULLs are smallest.

    >>> sort_rows([2, None, 1], [SortKey(lambda row: row, "", descending=True)], SQLMode())
    [2, 1, None]
    """
    sorted_rows = list(rows)
    for key in reversed(keys):
        values = [_sortable(key.value(row)) for row in sorted_rows]

        def order(a: int, b: int, values: Sequence[SQLValue] = values, collation: str = key.collation) -> int:
            return null_order(values[a], values[b], collation, mode)

        positions = sorted(range(len(values)), key=cmp_to_key(order), reverse=key.descending)
        sorted_rows = [sorted_rows[position] for position in positions]
    return sorted_rows


def null_order(left: SQLValue, right: SQLValue, collation: str, mode: SQLMode) -> int:
    """Compare two values as ORDER BY does: NULLs are equal, and smaller than other values."""
    comparison = compare(left, right, collation, mode)
    return (left is not None) - (right is not None) if comparison is None else comparison


def _sortable(value: SQLValue) -> SQLValue:
    """Return the value to sort by: ENUM and SET sort by their numbers."""
    return value.number if isinstance(value, Member) else value
