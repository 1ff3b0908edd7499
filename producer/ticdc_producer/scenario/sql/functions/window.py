"""Window functions of queries: one value for each row of a rows.

Rules: tidb ``pkg/executor/aggfuncs`` (``func_rank.go``, ``func_lead_lag.go`` …),
``pkg/expression/aggregation/base_func.go`` (types of results).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression.eval_type import (
    TEMPORALS,
    E,
    EvalType,
    ExpressionType,
    converted,
    merged_type,
)
from ticdc_producer.scenario.sql.functions.function import Arguments, TypeRule, first_type

Span = tuple[int, int]
"""The first of some rows in a row, and the row after the last one."""


class WindowRows(NamedTuple):
    """The rows of a partition in the order of the window.

    :param arguments: of the function, for each row.
    :param peers: per row, the rows with the same place in the order.
    :param frames: per row, its frame.
    :param type: of the result.
    """

    arguments: Sequence[Sequence[SQLValue]]
    peers: Sequence[Span]
    frames: Sequence[Span]
    type: ExpressionType
    mode: SQLMode


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """One window function that is not an aggregate function.

    :param run: returns the values of the rows of a partition.
    :param type: of its result: a kind, or a rule.
    :param max_arguments: the largest number; ``min_arguments``: the smallest one.
    :param whole: position of the argument that is a whole number, and its smallest value; None for none.
    """

    run: Callable[[WindowRows], Sequence[SQLValue]]
    type: EvalType | TypeRule
    min_arguments: int = 0
    max_arguments: int = 0
    whole: tuple[int, int] | None = None

    def check_number(self, name: str, values: Sequence[SQLValue]) -> None:
        """Check the argument that is a whole number.

        :raises ScenarioError: for a number that is too small, or none.
        """
        if self.whole is None or self.whole[0] >= len(values):
            return
        position, least = self.whole
        value = values[position]
        if value is None and name in ("NTILE", "NTH_VALUE"):
            return
        if not isinstance(value, int) or value < least:
            raise ScenarioError(f"Incorrect arguments to {name.lower()}", value=str(value))


def _dense_rank(window: WindowRows) -> list[SQLValue]:
    ranks: dict[int, int] = {}
    return [ranks.setdefault(first, len(ranks) + 1) for first, _ in window.peers]


def _percent_rank(window: WindowRows) -> list[SQLValue]:
    others = len(window.peers) - 1
    return [first / others if others else 0.0 for first, _ in window.peers]


def _ntile(window: WindowRows) -> list[SQLValue]:
    """Divide the rows into buckets; the first ones have a row more if their number is not a multiple."""
    (count,), rows = window.arguments[0], len(window.peers)
    if not isinstance(count, int):
        return [None] * rows
    size, longer = divmod(rows, count)
    edge = longer * (size + 1)
    buckets = (row // (size + 1) if row < edge else longer + (row - edge) // size for row in range(rows))
    return [Unsigned(bucket + 1) for bucket in buckets]


def _neighbor(direction: int) -> WindowFunction:
    """Make LEAD or LAG: ``(value[, offset[, default]])``."""

    def run(window: WindowRows) -> list[SQLValue]:
        rows, values = window.arguments, list[SQLValue]()
        kind, digits = window.type
        decimals = digits.decimals if kind is EvalType.DOUBLE and digits is not None else None
        for number, (_, *rest) in enumerate(rows):
            offset = rest[0] if rest and isinstance(rest[0], int) else 1
            other = number + direction * offset
            value = rows[other][0] if 0 <= other < len(rows) else (rest[1] if len(rest) > 1 else None)
            # A date or time remains what it is: tidb ``leadLag``.
            has_type = len(rest) > 1 and kind not in TEMPORALS
            values.append(converted(value, kind, window.mode, decimals) if has_type else value)
        return values

    return WindowFunction(run, _neighbor_type, 1, 3, (1, 0))


def _neighbor_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    return merged_type((types[0], types[2])) if len(types) > 2 else types[0]


def _in_frame(choose: Callable[[Span, Sequence[SQLValue]], int]) -> Callable[[WindowRows], list[SQLValue]]:
    """Make a function that chooses a row of the frame; NULL if that row is not in it.

    :param choose: gives the row, from the frame and the arguments.
    """

    def run(window: WindowRows) -> list[SQLValue]:
        values: list[SQLValue] = []
        for frame, arguments in zip(window.frames, window.arguments, strict=True):
            row = choose(frame, arguments)
            values.append(window.arguments[row][0] if frame[0] <= row < frame[1] else None)
        return values

    return run


def _nth(frame: Span, arguments: Sequence[SQLValue]) -> int:
    number = arguments[1]
    return frame[0] + number - 1 if isinstance(number, int) else frame[1]


WINDOW_FUNCTIONS = {
    "CUME_DIST": WindowFunction(
        lambda window: [end / len(window.peers) for _, end in window.peers], E.DOUBLE
    ),
    "DENSE_RANK": WindowFunction(_dense_rank, E.INTEGER),
    "FIRST_VALUE": WindowFunction(_in_frame(lambda frame, _: frame[0]), first_type, 1, 1),
    "LAG": _neighbor(-1),
    "LAST_VALUE": WindowFunction(_in_frame(lambda frame, _: frame[1] - 1), first_type, 1, 1),
    "LEAD": _neighbor(1),
    "NTH_VALUE": WindowFunction(_in_frame(_nth), first_type, 2, 2, (1, 1)),
    "NTILE": WindowFunction(_ntile, E.UNSIGNED, 1, 1, (0, 1)),
    "PERCENT_RANK": WindowFunction(_percent_rank, E.DOUBLE),
    "RANK": WindowFunction(lambda window: [first + 1 for first, _ in window.peers], E.INTEGER),
    "ROW_NUMBER": WindowFunction(
        lambda window: [number + 1 for number in range(len(window.peers))], E.INTEGER
    ),
}
