"""The states of aggregate functions, which take the rows of a group one after the other.

Rules: tidb ``pkg/executor/aggfuncs``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ticdc_producer.model.values.number_text import EXACT
from ticdc_producer.model.values.sql_value import (
    DateTimeValue,
    Duration,
    Member,
    Quotient,
    SQLMode,
    SQLValue,
    Unsigned,
)
from ticdc_producer.scenario.sql.expression import arithmetic
from ticdc_producer.scenario.sql.expression.compare import compare


class AggregateSettings(NamedTuple):
    """The settings of an aggregate function.

    :param collation: of the first argument.
    :param separator: SEPARATOR of GROUP_CONCAT.
    """

    mode: SQLMode
    collation: str = ""
    separator: str = ","


@dataclass(slots=True)
class Accumulator(ABC):
    """The state of an aggregate function after some rows of a group."""

    settings: AggregateSettings

    @abstractmethod
    def add(self, row: Sequence[SQLValue], /) -> None:
        """Add the arguments in a row."""

    def remove(self, _: Sequence[SQLValue], /) -> bool:
        """Remove the arguments in the row that was added first, if the value is then the same as without it.

        :return: False if the state must start again.
        """
        return False

    @abstractmethod
    def value(self) -> SQLValue:
        """Return the value of the rows so far."""


@dataclass(slots=True)
class Count(Accumulator):
    """The number of rows."""

    count: int = 0

    def add(self, _: Sequence[SQLValue], /) -> None:
        self.count += 1

    def remove(self, _: Sequence[SQLValue], /) -> bool:
        self.count -= 1
        return True

    def value(self) -> SQLValue:
        return self.count


@dataclass(slots=True)
class Sum(Accumulator):
    """The sum, exact if the values are exact numbers, else a DOUBLE; NULL without values.

    :ivar scales: per scale, the number of exact values: the sum has the largest scale.
    """

    count: int = 0
    total: SQLValue = None
    scales: Counter[int] = field(default_factory=Counter)

    def add(self, row: Sequence[SQLValue], /) -> None:
        number = self._number(row)
        self.count += 1
        if isinstance(number, Decimal):
            self.scales[_scale(row[0], number)] += 1
        self.total = number if self.total is None else arithmetic.add(self.total, number, self.settings.mode)

    def remove(self, row: Sequence[SQLValue], /) -> bool:
        number, total = self._number(row), self.total
        if type(number) is not Decimal or type(total) is not Decimal:
            return False  # a sum of DOUBLEs depends on the order
        scale = _scale(row[0], number)
        self.count, self.scales[scale] = self.count - 1, self.scales[scale] - 1
        if not self.scales[scale]:
            return False
        self.total = EXACT.subtract(total, number)
        return True

    def _number(self, row: Sequence[SQLValue]) -> float | Decimal:
        (value,) = row
        number = arithmetic.operand(value, self.settings.mode)
        is_double = isinstance(number, float) or isinstance(value, DateTimeValue | Duration | Member)
        return float(number) if is_double else Decimal(number)

    def value(self) -> SQLValue:
        """Return the sum, rounded to the digits of the type of a quotient: tidb ``sum4Decimal``."""
        total = self.total
        scale = max(self.scales, default=0)
        if not isinstance(total, Decimal) or arithmetic.scale_of(total) <= scale:
            return total
        return total.quantize(Decimal(1).scaleb(-scale), context=EXACT)


def _scale(value: SQLValue, number: Decimal) -> int:
    return value.text_scale if isinstance(value, Quotient) else arithmetic.scale_of(number)


@dataclass(slots=True)
class Avg(Sum):
    """The mean, whose scale is that of the values plus four. Source: tidb ``avgOriginal4Decimal``."""

    def value(self) -> SQLValue:
        if self.total is None or isinstance(self.total, float):
            return None if self.total is None else self.total / self.count
        exact = Decimal(self.total) if isinstance(self.total, int | Decimal) else Decimal(0)
        scale = min(max(self.scales, default=0) + arithmetic.DIV_INCREMENT, arithmetic.MAX_SCALE)
        quotient = EXACT.divide(exact, Decimal(self.count))
        return quotient.quantize(Decimal(1).scaleb(-scale), context=EXACT)


@dataclass(slots=True)
class Extreme(Accumulator):
    """The first of the largest values (sign 1), or of the smallest ones (-1).

    :ivar candidates: the values that are it, or will be after those before them are removed, and the number
        of values that were added before each.
    """

    sign: int
    candidates: deque[tuple[int, SQLValue]] = field(default_factory=deque)
    added: int = 0
    removed: int = 0

    def add(self, row: Sequence[SQLValue], /) -> None:
        (value,) = row
        while self.candidates and self._exceeds(value, self.candidates[-1][1]):
            self.candidates.pop()
        self.candidates.append((self.added, value))
        self.added += 1

    def _exceeds(self, value: SQLValue, other: SQLValue) -> bool:
        order = compare(value, other, self.settings.collation, self.settings.mode)
        return order is not None and order * self.sign > 0

    def remove(self, _: Sequence[SQLValue], /) -> bool:
        if self.candidates[0][0] == self.removed:
            self.candidates.popleft()
        self.removed += 1
        return True

    def value(self) -> SQLValue:
        return self.candidates[0][1] if self.candidates else None


@dataclass(slots=True)
class AllRows(Accumulator):
    """All rows, from which a function computes the value; NULL without rows."""

    function: Callable[[Sequence[Sequence[SQLValue]], AggregateSettings], SQLValue]
    rows: list[Sequence[SQLValue]] = field(default_factory=list)

    def add(self, row: Sequence[SQLValue], /) -> None:
        self.rows.append(row)

    def value(self) -> SQLValue:
        return self.function(self.rows, self.settings) if self.rows else None


@dataclass(slots=True)
class BitFold(Accumulator):
    """A bit operation on all values."""

    operation: Callable[[int, int], int]
    result: int

    def add(self, row: Sequence[SQLValue], /) -> None:
        self.result = self.operation(self.result, arithmetic.to_bits(row[0], self.settings.mode))

    def value(self) -> SQLValue:
        return Unsigned(self.result)


@dataclass(slots=True)
class Variance(Accumulator):
    """The variance, in doubles, row by row. Source: tidb ``func_varpop.go`` (``calculateIntermediate``).

    :param sample: 1 for the variance of a sample, which needs two values; else 0.
    :param finish: makes the result of it.
    """

    sample: int
    finish: Callable[[float], float] = float
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, row: Sequence[SQLValue], /) -> None:
        number = float(arithmetic.operand(row[0], self.settings.mode))
        self.count, self.total = self.count + 1, self.total + number
        if self.count > 1:
            distance = self.count * number - self.total
            self.squares += distance * distance / (self.count * (self.count - 1))

    def value(self) -> SQLValue:
        divisor = self.count - self.sample
        return self.finish(self.squares / divisor) if divisor > 0 else None
