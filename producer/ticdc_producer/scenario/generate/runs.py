"""Runs: the events of one row in order, in columns that are sorted by row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from ticdc_producer.scenario.generate.arrays import Flags, Longs

Column = TypeVar("Column", Longs, Flags)
_INDEX_BITS = 24
"""At most 2**24 events are sorted at once; the rest of a sort key is the number of the row, below 2**31."""


@dataclass(frozen=True, slots=True)
class Distance:
    """For each event, the number of events since the latest marked one of its run.

    :param steps: 0 at a marked event; without one in the run, 1 at the first event.
    :param from_start: whether the run has no marked event so far.
    """

    steps: Longs
    from_start: Flags


class RowRuns:
    """The runs of some events. All columns are in the order of ``order``.

    :param rows: the row of each event, at most 2**24, in the order of the events.
    :ivar order: indexes of the events sorted by row.
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
        found: Longs = np.maximum.accumulate(np.where(self.begins, self._indexes, 0))
        return found

    def in_first_order(self, selected: Longs) -> Longs:
        """The positions of some events, in the order that the events had before they were sorted.

        :param selected: positions in the sorted columns.
        """
        found = np.full(len(self.order), -1, np.int64)
        found[self.order[selected]] = selected
        return found[found >= 0]

    def previous(self, column: Column, earlier: Column) -> Column:
        """The value at the previous event of the run.

        :param earlier: the values before the first events.
        """
        found = np.empty_like(column)
        found[1:] = column[:-1]
        return np.where(self.begins, earlier, found)

    def latest(self, marked: Flags, column: Longs, earlier: Longs) -> Longs:
        """The value at the latest marked event of the run.

        :param earlier: the values before the first marked events.
        """
        at = self._latest(marked)
        return np.where(at >= self._starts, column[np.maximum(at, 0)], earlier)

    def distance(self, marked: Flags) -> Distance:
        at, starts = self._latest(marked), self._starts
        from_start = at < starts
        return Distance(self._indexes - np.where(from_start, starts - 1, at), from_start)

    def sums(self, amounts: Longs, restarts: Flags, earlier: Longs) -> Longs:
        """The sum of amounts in the run so far, since the latest event that restarts it.

        :param earlier: the sums before the first events.
        """
        total = np.cumsum(amounts)
        at, starts = self._latest(restarts), self._starts
        restarted = at >= starts
        before_run = (total - amounts)[starts]
        return total - np.where(restarted, total[np.maximum(at, 0)], before_run - earlier)

    def _latest(self, marked: Flags) -> Longs:
        found: Longs = np.maximum.accumulate(np.where(marked, self._indexes, -1))
        return found
