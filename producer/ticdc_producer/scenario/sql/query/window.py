"""The values of window functions: partitions, their order, and the frames of their rows.

Rules: tidb ``pkg/executor/window.go``, ``pkg/planner/core/logical_plan_builder.go``
(``checkOriginWindowFrameBound``, ``checkOriginWindowSpec``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import Aggregate
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import NUMBERS, TEMPORALS
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate, type_of
from ticdc_producer.scenario.sql.expression.ordering import SortKey, null_order, sort_rows
from ticdc_producer.scenario.sql.expression.window_call import (
    Bound,
    Window,
    WindowCall,
    named_windows,
    window_call,
    window_of,
    windows_in,
)
from ticdc_producer.scenario.sql.functions.aggregate import Group
from ticdc_producer.scenario.sql.functions.window import Span, WindowRows
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope

State: TypeAlias = tuple[Combination, Mapping[int, SQLValue], int]
"""A row of a query before its SELECT list: rows of FROM, values of aggregate functions, number of keys."""


class Windows:
    """The window functions of a query.

    :param uses: the expressions that may have some: SELECT list and ORDER BY.
    :param definitions: the WINDOW clause.
    """

    def __init__(self, uses: Iterable[exp.Expr], definitions: Sequence[exp.Expr]) -> None:
        named = named_windows(definitions)
        self._unused = [window_of(definition, named) for definition in definitions]
        # ORDER BY 2 is the same node as in the SELECT list.
        distinct = {id(node): node for node in windows_in(uses)}.values()
        self.calls = [(node, window_call(node), window_of(node, named)) for node in distinct]

    def check(self, scope: QueryScope) -> None:
        """Check the windows.

        :raises ScenarioError: for an unknown column, a nested window function, or a wrong frame.
        """
        for window in (*self._unused, *(window for _, _, window in self.calls)):
            ordered = [term.this for term in window.order]
            for node in (*window.partition, *ordered, *window.distances):
                if not isinstance(node, exp.Interval):
                    check_expression(node, scope)
            if window.distances:
                _check_distances(window, scope)

    def entered(self, rows: Iterable[None], scope: QueryScope) -> Iterator[None]:
        """Make each row in turn the current one, with the values of its window functions.

        The rows are in the order of the last window.

        :param rows: makes each row the current one.
        """
        if not self.calls:
            for _ in rows:
                yield
            return
        states: list[State] = [(scope.combination, scope.aggregates, scope.grouped_by) for _ in rows]
        values: list[dict[int, SQLValue]] = [{} for _ in states]
        order = list(range(len(states)))
        with scope.clause({}, groups=True):
            for node, call, window in self.calls:
                computed = _WindowValues(call, window, states, scope)
                for number, value in computed.values(node):
                    values[number][id(node)] = value
                order = computed.order
        for number in order:
            scope.combination, scope.aggregates, scope.grouped_by = states[number]
            scope.windows = values[number]
            yield


class _WindowValues:
    """The values of one window function."""

    def __init__(self, call: WindowCall, window: Window, states: Sequence[State], scope: QueryScope) -> None:
        self._call, self._window, self._states, self._scope = call, window, states, scope
        self._collations = [collation_of(node, scope) or DEFAULT_COLLATION for node in window.partition]
        self._order_keys = [self._sort_key(term.this, term) for term in window.order]

    def _value(self, node: exp.Expr, number: int) -> SQLValue:
        scope = self._scope
        scope.combination, scope.aggregates, scope.grouped_by = self._states[number]
        return evaluate(node, scope)

    def _sort_key(self, node: exp.Expr, term: exp.Expr | None = None) -> SortKey[int]:
        values = [self._value(node, number) for number in range(len(self._states))]
        collation = collation_of(node, self._scope) or DEFAULT_COLLATION
        return SortKey(values.__getitem__, collation, bool(term is not None and term.args.get("desc")))

    @cached_property
    def order(self) -> list[int]:
        """The numbers of the rows, partition by partition, in the order of the window."""
        keys = [*map(self._sort_key, self._window.partition), *self._order_keys]
        return sort_rows(range(len(self._states)), keys, self._scope.mode)

    def values(self, node: exp.Expr) -> Iterator[tuple[int, SQLValue]]:
        """Yield the number and the value of each row."""
        for rows in self._partitions():
            yield from zip(rows, self._of_partition(rows, node), strict=True)

    def _partitions(self) -> list[list[int]]:
        partitions: dict[object, list[int]] = {}
        for number in self.order:
            values = [self._value(node, number) for node in self._window.partition]
            key = tuple(distinct_key(*pair) for pair in zip(values, self._collations, strict=True))
            partitions.setdefault(key, []).append(number)
        return list(partitions.values())

    def _of_partition(self, rows: list[int], node: exp.Expr) -> Sequence[SQLValue]:
        arguments = [[self._value(argument, row) for argument in self._call.arguments] for row in rows]
        peers = self._peers(rows)
        frames = [self._frame(position, rows, peers) for position in range(len(rows))]
        function = self._call.function
        if isinstance(function, Aggregate):
            return self._aggregated(function, arguments, frames)
        for values in arguments[:1]:
            function.check_number(self._call.name, values)
        kind = type_of(node, self._scope)
        return function.run(WindowRows(arguments, peers, frames, kind, self._scope.mode))

    def _aggregated(
        self, call: Aggregate, arguments: Sequence[Sequence[SQLValue]], frames: Sequence[Span]
    ) -> list[SQLValue]:
        mode, function = self._scope.mode, call.function
        collations = [collation_of(argument, self._scope) or DEFAULT_COLLATION for argument in call.arguments]

        def value(frame: Span) -> SQLValue:
            rows = arguments[slice(*frame)]
            counted = rows if function.with_nulls else [row for row in rows if None not in row]
            return function.run(Group(counted, mode, "".join(collations[:1])))

        by_frame = {frame: value(frame) for frame in dict.fromkeys(frames)}
        return [by_frame[frame] for frame in frames]

    def _peers(self, rows: Sequence[int]) -> list[Span]:
        """Return per row the span of the rows that are equal in the order."""
        starts = [0]
        for position in range(1, len(rows)):
            pair = rows[position - 1], rows[position]
            if any(
                null_order(key.value(pair[0]), key.value(pair[1]), key.collation, self._scope.mode)
                for key in self._order_keys
            ):
                starts.append(position)
        ends = [*starts[1:], len(rows)]
        return [span for span in zip(starts, ends, strict=True) for _ in range(*span)]

    def _frame(self, position: int, rows: Sequence[int], peers: Sequence[Span]) -> Span:
        window, size = self._window, len(rows)
        if not window.unit and not window.order:
            return 0, size
        if window.unit == "ROWS":
            start = self._row_bound(window.start, position, 0)
            end = self._row_bound(window.end, position, size - 1) + 1
        else:
            start = self._range_bound(window.start, position, rows, peers, is_end=False)
            end = self._range_bound(window.end, position, rows, peers, is_end=True)
        start, end = min(max(start, 0), size), min(max(end, 0), size)
        return (start, end) if start < end else (start, start)

    def _row_bound(self, bound: Bound, position: int, unbounded: int) -> int:
        side, distance = bound
        if side == "CURRENT ROW":
            return position
        if distance is None:
            return unbounded
        number = int(str(distance.this))
        return position - number if side == "PRECEDING" else position + number

    def _range_bound(
        self, bound: Bound, position: int, rows: Sequence[int], peers: Sequence[Span], *, is_end: bool
    ) -> int:
        """Return the start of a frame of RANGE, or the row after its end."""
        side, distance = bound
        if side == "CURRENT ROW":
            return peers[position][is_end]
        if distance is None:
            return len(rows) if side == "FOLLOWING" else 0
        (term,), (key,) = self._window.order, self._order_keys
        if key.value(rows[position]) is None:
            return peers[position][is_end]
        subtracts = (side == "PRECEDING") != key.descending
        sum_ = (exp.Sub if subtracts else exp.Add)(this=term.this, expression=distance)
        limit, sign = self._value(sum_, rows[position]), -1 if key.descending else 1

        def is_after(row: int) -> bool:
            order = sign * null_order(key.value(row), limit, key.collation, self._scope.mode)
            return order > 0 if is_end else order >= 0

        return bisect_left(rows, True, key=is_after)


def _check_distances(window: Window, scope: QueryScope) -> None:
    """Check the distances of a frame.

    :raises ScenarioError: for one that is no whole number, or that does not fit the ORDER BY.
    """
    intervals = [isinstance(distance, exp.Interval) for distance in window.distances]
    for distance, is_interval in zip(window.distances, intervals, strict=True):
        value = distance.this if is_interval else distance
        is_number = isinstance(value, exp.Literal) and (is_interval or not value.is_string)
        if not is_number or (window.unit == "ROWS" and not str(value.this).isdigit()):
            raise ScenarioError("frame start or end is negative, NULL or of non-integral type")
    if window.unit == "ROWS":
        return
    kinds = [type_of(term.this, scope).kind for term in window.order]
    if len(kinds) != 1 or kinds[0] not in NUMBERS | TEMPORALS:
        what = "requires exactly one ORDER BY expression, of numeric or temporal type"
        raise ScenarioError(f"A window with RANGE N PRECEDING/FOLLOWING frame {what}")
    for is_interval in intervals:
        if is_interval != (kinds[0] in TEMPORALS):
            what = "INTERVAL value only with temporal" if is_interval else "numeric value only with numeric"
            raise ScenarioError(f"A window with a RANGE frame has an {what} ORDER BY expression")
