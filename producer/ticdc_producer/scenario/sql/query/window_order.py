"""The rows of a window: partitions, their order, and the frames of their rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.ordering import SortKey, null_order, sort_rows
from ticdc_producer.scenario.sql.expression.window_call import Bound, Window
from ticdc_producer.scenario.sql.functions.window import Span
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope

State: TypeAlias = tuple[Combination, Mapping[int, SQLValue], int]
"""A row of a query before its SELECT list: rows of FROM, values of aggregate functions, number of keys."""
_MOST_DIGITS = 18
"""Digits of a number of rows, of which no table has that many."""


@dataclass(frozen=True, slots=True)
class WindowPartition:
    """The rows of a partition.

    :param rows: their numbers, in the order of the window.
    :param peers: per row, the span of the rows with the same place in the order.
    """

    rows: Sequence[int]
    peers: Sequence[Span]


class WindowOrder:
    """The rows of a query in the order of a window.

    :ivar keys: the values of its ORDER BY, by the number of the row.
    """

    def __init__(self, window: Window, states: Sequence[State], scope: QueryScope) -> None:
        self._states, self._scope = states, scope
        self._partition_keys = [self._sort_key(node) for node in window.partition]
        self.keys = [self._sort_key(term.this, term) for term in window.order]

    def value(self, node: exp.Expr, number: int) -> SQLValue:
        """Return the value of an expression in a row."""
        scope = self._scope
        scope.combination, scope.aggregates, scope.grouped_by = self._states[number]
        return evaluate(node, scope)

    def compare(self, left: SQLValue, right: SQLValue, key: SortKey[int]) -> int:
        """Compare two values as a key of ORDER BY does, without DESC."""
        return null_order(left, right, key.collation, self._scope.mode)

    def _sort_key(self, node: exp.Expr, term: exp.Expr | None = None) -> SortKey[int]:
        values = [self.value(node, number) for number in range(len(self._states))]
        collation = collation_of(node, self._scope) or DEFAULT_COLLATION
        return SortKey(values.__getitem__, collation, bool(term is not None and term.args.get("desc")))

    @cached_property
    def order(self) -> list[int]:
        """The numbers of the rows, partition by partition."""
        keys = [*self._partition_keys, *self.keys]
        return sort_rows(range(len(self._states)), keys, self._scope.mode)

    @cached_property
    def partitions(self) -> list[WindowPartition]:
        """The partitions, in their order."""
        partitions: dict[object, list[int]] = {}
        for number in self.order:
            key = tuple(distinct_key(key.value(number), key.collation) for key in self._partition_keys)
            partitions.setdefault(key, []).append(number)
        return [WindowPartition(rows, self._peers(rows)) for rows in partitions.values()]

    def _peers(self, rows: Sequence[int]) -> list[Span]:
        starts = [0]
        for position in range(1, len(rows)):
            before, row = rows[position - 1], rows[position]
            if any(self.compare(key.value(before), key.value(row), key) for key in self.keys):
                starts.append(position)
        ends = [*starts[1:], len(rows)]
        return [span for span in zip(starts, ends, strict=True) for _ in range(*span)]


def frames_of(window: Window, partition: WindowPartition, order: WindowOrder) -> list[Span]:
    """Return the frame of each row of a partition."""
    size = len(partition.rows)
    if not window.unit and not window.order:
        return [(0, size)] * size
    bound = _row_bound if window.unit == "ROWS" else _range_bound
    frames = []
    for position in range(size):
        start = bound(window, window.start, position, partition, order, is_end=False)
        end = bound(window, window.end, position, partition, order, is_end=True)
        start, end = min(max(start, 0), size), min(max(end, 0), size)
        frames.append((start, max(start, end)))
    return frames


def _row_bound(
    _: Window, bound: Bound, position: int, partition: WindowPartition, __: WindowOrder, *, is_end: bool
) -> int:
    """Return the start of a frame of ROWS, or the row after its end."""
    side, distance = bound
    if side != "CURRENT ROW" and distance is None:
        return len(partition.rows) if side == "FOLLOWING" else 0
    number = 0 if distance is None else _rows_of(str(distance.this))
    return position + is_end + (-number if side == "PRECEDING" else number)


def _rows_of(digits: str) -> int:
    """Return a number of rows; a larger one than a table can have is as good as any."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def _range_bound(
    window: Window,
    bound: Bound,
    position: int,
    partition: WindowPartition,
    order: WindowOrder,
    *,
    is_end: bool,
) -> int:
    """Return the start of a frame of RANGE, or the row after its end."""
    side, distance = bound
    rows, peers = partition.rows, partition.peers[position]
    if side == "CURRENT ROW":
        return peers[is_end]
    if distance is None:
        return len(rows) if side == "FOLLOWING" else 0
    (term,), (key,) = window.order, order.keys
    if key.value(rows[position]) is None:
        return peers[is_end]
    subtracts = (side == "PRECEDING") != key.descending
    sum_ = (exp.Sub if subtracts else exp.Add)(this=term.this, expression=distance)
    limit, sign = order.value(sum_, rows[position]), -1 if key.descending else 1

    def is_after(row: int) -> bool:
        compared = sign * order.compare(key.value(row), limit, key)
        return compared > 0 if is_end else compared >= 0

    return bisect_left(rows, True, key=is_after)
