"""The window functions of a query: their checks, and their values.

Rules: tidb ``pkg/executor/window.go``, ``pkg/planner/core/logical_plan_builder.go``
(``checkOriginWindowFrameBound``, ``checkOriginWindowSpec``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import Aggregate
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import NUMBERS, TEMPORALS
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, type_of
from ticdc_producer.scenario.sql.expression.window_call import (
    Window,
    WindowCall,
    named_windows,
    window_call,
    window_of,
    windows_in,
)
from ticdc_producer.scenario.sql.functions.accumulator import AggregateSettings
from ticdc_producer.scenario.sql.functions.window import Span, WindowRows
from ticdc_producer.scenario.sql.query.scope import QueryScope
from ticdc_producer.scenario.sql.query.window_order import State, WindowOrder, WindowPartition, frames_of


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
            orders: dict[tuple[int, ...], WindowOrder] = {}
            for node, call, window in self.calls:
                key = tuple(map(id, (*window.partition, None, *window.order)))
                if key not in orders:  # windows of one name have the same nodes
                    orders[key] = WindowOrder(window, states, scope)
                for number, value in _WindowValues(call, window, orders[key], scope).values(node):
                    values[number][id(node)] = value
                order = orders[key].order
        for number in order:
            scope.combination, scope.aggregates, scope.grouped_by = states[number]
            scope.windows = values[number]
            yield


class _WindowValues:
    """The values of one window function.

    :param rows: the rows in the order of the window.
    """

    def __init__(self, call: WindowCall, window: Window, rows: WindowOrder, scope: QueryScope) -> None:
        self._call, self._window, self._rows, self._scope = call, window, rows, scope

    def values(self, node: exp.Expr) -> Iterator[tuple[int, SQLValue]]:
        """Yield the number and the value of each row."""
        for partition in self._rows.partitions:
            yield from zip(partition.rows, self._of_partition(partition, node), strict=True)

    def _of_partition(self, partition: WindowPartition, node: exp.Expr) -> Sequence[SQLValue]:
        arguments = [
            [self._rows.value(argument, row) for argument in self._call.arguments] for row in partition.rows
        ]
        frames = frames_of(self._window, partition, self._rows)
        function = self._call.function
        if isinstance(function, Aggregate):
            return self._aggregated(function, arguments, frames)
        for values in arguments[:1]:
            function.check_number(self._call.name, values)
        kind = type_of(node, self._scope)
        return function.run(WindowRows(arguments, partition.peers, frames, kind, self._scope.mode))

    def _aggregated(
        self, call: Aggregate, arguments: Sequence[Sequence[SQLValue]], frames: Sequence[Span]
    ) -> list[SQLValue]:
        """Return a value per frame, whose state is that of the frame before it where both overlap."""
        function = call.function
        collations = [collation_of(argument, self._scope) or DEFAULT_COLLATION for argument in call.arguments]
        settings = AggregateSettings(self._scope.mode, "".join(collations[:1]))
        values: list[SQLValue] = []
        state, before = function.start(settings), (0, 0)
        for frame in frames:
            if values and frame == before:
                values.append(values[-1])
                continue
            gone = [row for row in arguments[before[0] : frame[0]] if function.counts(row)]
            overlaps = before[0] <= frame[0] <= before[1] <= frame[1]
            if not (overlaps and all(map(state.remove, gone))):
                state, before = function.start(settings), (frame[0], frame[0])
            for row in arguments[before[1] : frame[1]]:
                if function.counts(row):
                    state.add(row)
            values.append(state.value())
            before = frame
        return values


def _check_distances(window: Window, scope: QueryScope) -> None:
    """Check the distances of a frame.

    :raises ScenarioError: for one that is not a whole number, or that does not fit the ORDER BY.
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
