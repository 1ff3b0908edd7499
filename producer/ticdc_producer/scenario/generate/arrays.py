"""NumPy columns: their types, logarithms with the same bits everywhere, and runs of the events of a row.

``np.power``, ``np.log`` and ``np.exp`` round differently from CPU to CPU. Here every step is one operation
that IEEE 754 rounds correctly: sums, products, quotients, and scaling by powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ticdc_producer.model.column_functions import Flags

Longs: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Reals: TypeAlias = npt.NDArray[np.float64]
Octets: TypeAlias = npt.NDArray[np.uint8]


_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
"""The logarithm of 2 in two parts: products of the first with small integers are exact."""
_ROOT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
_LOG_TERMS, _EXP_TERMS = 11, 14
"""Numbers of terms of the series. The next term would be below the last bit of the result."""


def logarithm(numbers: Reals) -> Reals:
    """Compute the natural logarithm of positive numbers.

    >>> logarithm(np.array([1.0, 10.0])).round(12).tolist()
    [0.0, 2.302585092994]
    """
    mantissa, exponent = np.frexp(numbers)
    small = mantissa < _ROOT_HALF
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    exponent = exponent - small
    # ln m = 2 artanh f, with |f| < 0.172
    fraction = (mantissa - 1.0) / (mantissa + 1.0)
    square = fraction * fraction
    series = np.full_like(square, 1.0 / (2 * _LOG_TERMS + 1))
    for term in range(_LOG_TERMS - 1, -1, -1):
        series = series * square + 1.0 / (2 * term + 1)
    of_mantissa = 2.0 * fraction * series
    return exponent * _LN2_HIGH + (exponent * _LN2_LOW + of_mantissa)


def exponential(numbers: Reals) -> Reals:
    """Compute powers of e; at most 1e300.

    >>> exponential(np.array([0.0, 1.0, -1.0])).round(12).tolist()
    [1.0, 2.718281828459, 0.367879441171]
    """
    numbers = np.minimum(numbers, 690.0)
    exponent = np.rint(numbers / (_LN2_HIGH + _LN2_LOW))
    rest = numbers - exponent * _LN2_HIGH - exponent * _LN2_LOW
    series = np.ones_like(rest)
    for term in range(_EXP_TERMS, 0, -1):
        series = series * rest / term + 1.0
    powers: Reals = np.ldexp(series, exponent.astype(np.int32))
    return powers


Column = TypeVar("Column", Longs, Flags)
_INDEX_BITS = 24
"""At most 2**24 events are sorted at once; the rest of a sort key is the number of the row, below 2**31."""


@dataclass(frozen=True, slots=True)
class Distance:
    """The number of events since the latest marked one of the run, for each event.

    :param steps: 0 at a marked event; without one in the run, 1 at the first event.
    :param from_start: whether the run has no marked event so far.
    """

    steps: Longs
    from_start: Flags


class RowRuns:
    """The events of each row, in runs. All columns are in the order of ``order``.

    >>> runs = RowRuns(np.array([7, 3, 7, 7]))  # one event of row 3, three of row 7
    >>> runs.order.tolist(), runs.begins.tolist()
    ([1, 0, 2, 3], [True, True, False, False])

    :param rows: the row of each event, at most 2**24, in the order of the events.
    :ivar order: indexes of the events sorted by row.
    :ivar begins: whether each event is the first of its run.
    """

    def __init__(self, rows: Longs) -> None:
        keys = (rows << _INDEX_BITS) | np.arange(len(rows))
        keys.sort()  # distinct keys: much faster than a stable sort of the rows
        self.order = keys & ((1 << _INDEX_BITS) - 1)
        sorted_rows = keys >> _INDEX_BITS
        self.begins = np.ones(len(rows), bool)
        np.not_equal(sorted_rows[1:], sorted_rows[:-1], out=self.begins[1:])
        self._indexes = np.arange(len(rows))

    @cached_property
    def ends(self) -> Flags:
        """Whether an event is the last one of its run."""
        return np.append(self.begins[1:], True)[: len(self.begins)]

    @cached_property
    def _starts(self) -> Longs:
        starts: Longs = np.maximum.accumulate(np.where(self.begins, self._indexes, 0))
        return starts

    def in_first_order(self, selected: Longs) -> Longs:
        """Sort positions of events by the order that the events had before they were sorted.

        >>> RowRuns(np.array([7, 3, 7, 7])).in_first_order(np.array([0, 1])).tolist()
        [1, 0]

        :param selected: positions in the sorted columns.
        """
        positions = np.full(len(self.order), -1, np.int64)
        positions[self.order[selected]] = selected
        return positions[positions >= 0]

    def previous(self, column: Column, earlier: Column) -> Column:
        """Return the value at the previous event of the run.

        >>> values, earlier = np.array([10, 20, 30, 40]), np.array([-3, -7, -7, -7])
        >>> RowRuns(np.array([7, 3, 7, 7])).previous(values, earlier).tolist()
        [-3, -7, 20, 30]

        :param earlier: the values before the first events.
        """
        shifted = np.empty_like(column)
        shifted[1:] = column[:-1]
        return np.where(self.begins, earlier, shifted)

    def latest(self, marked: Flags, column: Longs, earlier: Longs) -> Longs:
        """Return the value at the latest marked event of the run.

        >>> values, earlier = np.array([10, 20, 30, 40]), np.array([-3, -7, -7, -7])
        >>> marked = np.array([False, False, True, False])
        >>> RowRuns(np.array([7, 3, 7, 7])).latest(marked, values, earlier).tolist()
        [-3, -7, 30, 30]

        :param earlier: the values before the first marked events.
        """
        at = self._latest(marked)
        return np.where(at >= self._starts, column[np.maximum(at, 0)], earlier)

    def distance(self, marked: Flags) -> Distance:
        """Count the events since the latest marked event of the run.

        >>> RowRuns(np.array([7, 3, 7, 7])).distance(np.array([False, False, True, False])).steps.tolist()
        [1, 1, 0, 1]
        """
        at, starts = self._latest(marked), self._starts
        from_start = at < starts
        return Distance(self._indexes - np.where(from_start, starts - 1, at), from_start)

    def sums(self, amounts: Longs, restarts: Flags, earlier: Longs) -> Longs:
        """Sum amounts in the run so far, since the latest event that restarts the sum.

        The amount of an event that restarts the sum does not count.

        >>> amounts, earlier = np.array([5, 1, 2, 3]), np.array([100, 200, 200, 200])
        >>> restarts = np.array([False, False, True, False])
        >>> RowRuns(np.array([7, 3, 7, 7])).sums(amounts, restarts, earlier).tolist()
        [105, 201, 0, 3]

        :param earlier: the sums before the first events.
        """
        total = np.cumsum(amounts)
        at, starts = self._latest(restarts), self._starts
        restarted = at >= starts
        before_run = (total - amounts)[starts]
        return total - np.where(restarted, total[np.maximum(at, 0)], before_run - earlier)

    def _latest(self, marked: Flags) -> Longs:
        latest: Longs = np.maximum.accumulate(np.where(marked, self._indexes, -1))
        return latest
