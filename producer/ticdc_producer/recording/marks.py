"""How far each partition has come before each of its messages."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags, Numbers, of_partitions
from ticdc_producer.model.fingerprint import combined
from ticdc_producer.model.shapes import DecodedBatch


@dataclass(frozen=True)
class Marked:
    """The marks of a partition before each event of a batch.

    :ivar highest: the highest commit-ts of a row or DDL.
    :ivar is_late: whether a resolved-ts is not lower than the commit-ts of the event.
    :ivar position_ts: the highest time: of rows and DDLs their commit-ts, of a resolved event the TSO after
        whose commits it came.
    :ivar position_count: the number of different events with this time.
    """

    highest: Numbers
    is_late: Flags
    position_ts: Numbers
    position_count: Numbers


@dataclass
class _Frontier:
    """The highest time of a partition, the number of events that have it, and their digests.

    :ivar runs: the digests in sorted runs, each more than twice as long as the next: a large transaction of
        many batches is merged a few times, and not as a whole for each batch.
    """

    ts: int = 0
    count: int = 0
    runs: list[Numbers] = field(default_factory=list)

    def has(self, digests: Numbers) -> Flags:
        """Return whether each digest is that of an event of this time.

        >>> _Frontier(runs=[np.array([4, 7, 9]), np.array([2])]).has(np.array([2, 4, 5])).tolist()
        [True, True, False]
        """
        known = np.zeros(len(digests), np.bool_)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, digests), len(run) - 1)
            known |= run[at] == digests
        return known

    def add(self, digests: Numbers) -> None:
        """Add the digests of events of this time.

        >>> frontier = _Frontier(runs=[np.array([4, 7, 9])])
        >>> for digest in (8, 1):
        ...     frontier.add(np.array([digest]))
        ...     print([run.tolist() for run in frontier.runs])
        [[4, 7, 9], [8]]
        [[1, 4, 7, 8, 9]]
        """
        run = np.sort(digests)
        while self.runs and len(self.runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate([self.runs.pop(), run]), kind="stable")  # which merges sorted runs
        if len(run):
            self.runs.append(run)


class Marks:
    """The state of each partition so far."""

    def __init__(self) -> None:
        self._commit_ts: dict[tuple[str, int], int] = {}
        self._resolved: dict[tuple[str, int], int] = {}
        self._frontiers: dict[tuple[str, int], _Frontier] = {}
        self._events = 0

    def advance(
        self, batch: DecodedBatch, is_resolved: Flags, is_damage: Flags, digests: Numbers, has_key: Flags
    ) -> Marked:
        """Return the marks before each event.

        >>> import pyarrow as pa
        >>> batch = pa.record_batch({"topic": ["t"] * 4, "partition": [0] * 4, "commit_ts": [5, 5, 6, 6]})
        >>> is_resolved, no = np.array([False, False, True, False]), np.zeros(4, bool)
        >>> marked = Marks().advance(batch, is_resolved, no, np.array([70, 71, 72, 73]), ~no)
        >>> marked.highest.tolist(), marked.is_late.tolist()
        ([0, 5, 5, 5], [False, False, False, True])
        >>> marked.position_ts.tolist(), marked.position_count.tolist()
        ([0, 5, 5, 6], [0, 1, 2, 1])

        :param is_damage: which are messages that do not decode; no position counts them.
        :param digests: equal for equal events.
        :param has_key: whether equal events are the same event.
        """
        ts = pc.fill_null(batch.column("commit_ts"), 0).to_numpy()
        highest, position_ts, count = np.zeros((3, len(ts)), np.int64)
        late = np.zeros(len(ts), np.bool_)
        for name, rows in of_partitions(batch):
            resolved, own = is_resolved[rows], ts[rows]
            highest[rows] = maxima(np.where(resolved, 0, own), self._commit_ts, name)
            resolved_ts = maxima(np.where(resolved, own, 0), self._resolved, name)
            late[rows] = resolved_ts >= own
            times = np.where(resolved, np.maximum(highest[rows], own), own)
            # A resolved-ts that does not advance is a repetition; rows without a key may be several.
            times[resolved & late[rows]] = 0
            times[is_damage[rows]] = -1
            codes = np.where(has_key[rows] | late[rows], digests[rows], -1 - self._events - rows)
            frontier = self._frontiers.setdefault(name, _Frontier())
            position_ts[rows], count[rows] = _positions(times, codes, frontier)
        self._events += len(ts)
        return Marked(highest, late, position_ts, count)


def maxima(values: Numbers, highest: dict[tuple[str, int], int], name: tuple[str, int]) -> Numbers:
    """Return the highest value before each, and keep the last one for the next values of this name.

    >>> highest = {("t", 0): 6}
    >>> maxima(np.array([5, 9, 7]), highest, ("t", 0)).tolist(), highest
    ([6, 6, 9], {('t', 0): 9})
    """
    maxima: Numbers = np.maximum.accumulate(np.maximum(values, highest.get(name, 0)))
    before = np.concatenate([[highest.get(name, 0)], maxima[:-1]])
    highest[name] = int(maxima[-1])
    return before


def _positions(times: Numbers, digests: Numbers, frontier: _Frontier) -> tuple[Numbers, Numbers]:
    """Return the highest time before each event, and the number of different events that have it.

    >>> frontier = _Frontier(5, 1, [np.array([70])])
    >>> ts, count = _positions(np.array([5, 5, 4, 9, 9]), np.array([70, 71, 60, 90, 91]), frontier)
    >>> ts.tolist(), count.tolist(), (frontier.ts, frontier.count, frontier.runs[0].tolist())
    ([5, 5, 5, 5, 9], [1, 1, 2, 2, 1], (9, 2, [90, 91]))
    """
    highest = np.maximum.accumulate(np.maximum(times, frontier.ts))
    new = _first_of_time(highest, digests, times == highest, frontier)
    total, before = np.cumsum(new), np.concatenate([[frontier.ts], highest[:-1]])
    starts = np.maximum.accumulate(np.where(highest != before, np.arange(len(times)), -1))
    base = np.where(starts < 0, -frontier.count, np.where(starts > 0, total[np.maximum(starts, 1) - 1], 0))
    counts: Numbers = total - base
    positions = before, np.concatenate([[frontier.count], counts[:-1]])
    last = int(highest[-1])
    if last != frontier.ts:
        frontier.runs.clear()
    frontier.add(digests[new & (highest == last)])
    frontier.ts, frontier.count = last, int(counts[-1])
    return positions


def _first_of_time(highest: Numbers, digests: Numbers, is_highest: Flags, frontier: _Frontier) -> Flags:
    """Return which of the chosen events are the first with their digest among those of their time.

    >>> times, digests = np.array([5, 5, 5, 7, 7]), np.array([1, 2, 1, 1, 1])
    >>> is_highest = np.array([True, True, True, False, True])
    >>> _first_of_time(times, digests, is_highest, _Frontier(ts=5, runs=[np.array([2])])).tolist()
    [True, False, False, False, True]
    """
    at = np.flatnonzero(is_highest)
    first = np.zeros(len(highest), np.bool_)
    if not len(at):
        return first
    own = highest[at]
    if own[0] != frontier.ts and (own[1:] > own[:-1]).all():  # each transaction has one event here
        first[at] = True
        return first
    _, firsts = np.unique(combined(own, digests[at]), return_index=True)
    first[at[firsts]] = True
    of_frontier = at[own == frontier.ts]
    first[of_frontier] &= ~frontier.has(digests[of_frontier])
    return first
