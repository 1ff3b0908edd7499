"""The commits of a frame whose parts are in order: their sizes, and whether all positions differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ticdc_producer.model.column_functions import Numbers

_Size = tuple[int, int]
"""The number of a commit, and that of its rows."""
Position = tuple[int, int]
"""The number of a commit, and the position of a row in it."""


@dataclass
class CommitSizes:
    """The sizes of the commits in one part.

    :ivar first, last: of the commits at its ends, of which other parts may have rows, too; None: no rows.
    :ivar most: rows of the largest of the commits between them.
    :ivar ascends: whether the rows are in the order of their commits; if not, the others mean nothing.
    :ivar ends: the commits and the positions of the first and of the last row, if the positions ascend; None:
        they do not, or there are no rows.
    :ivar is_ordered: whether each row has a position after that of the row before it.
    """

    first: _Size | None = None
    last: _Size | None = None
    most: int = 0
    ascends: bool = True
    ends: tuple[Position, Position] | None = None
    is_ordered: bool = True

    def add(self, commits: Numbers, seq: Numbers) -> None:
        """Add rows, by the numbers of their commits and their positions in them.

        >>> sizes = CommitSizes()
        >>> for commits, seq in (([1, 1, 2], [0, 1, 0]), ([2, 2, 3, 4], [1, 2, 0, 0]), ([4], [5])):
        ...     sizes.add(np.array(commits), np.array(seq))
        >>> sizes.first, sizes.last, sizes.most, sizes.ascends, sizes.ends, sizes.is_ordered
        ((1, 2), (4, 2), 3, True, ((1, 0), (4, 5)), True)
        >>> sizes.add(np.array([4]), np.array([5]))
        >>> sizes.ascends, sizes.is_ordered
        (True, False)
        """
        if not self.ascends or not len(commits):
            return
        self._add_positions(commits, seq)
        starts = np.flatnonzero(np.diff(commits, prepend=commits[0] - 1))
        numbers, counts = commits[starts], np.diff(starts, append=len(commits))
        if self.last is not None:
            number, count = self.last
            if number == numbers[0]:
                counts[0] += count
            else:
                numbers, counts = np.append(number, numbers), np.append(count, counts)
        if (np.diff(numbers) < 0).any():
            self.ascends = False
            return
        if self.first is None or self.first[0] == numbers[0]:
            self.first = int(numbers[0]), int(counts[0])
        ended = counts[:-1][numbers[:-1] != self.first[0]]
        self.most = max(self.most, int(ended.max(initial=0)))
        self.last = int(numbers[-1]), int(counts[-1])

    def _add_positions(self, commits: Numbers, seq: Numbers) -> None:
        same = commits[1:] == commits[:-1]
        first, last = ((int(commits[row]), int(seq[row])) for row in (0, -1))
        follows = self.ends is None or self.ends[1] < first
        self.is_ordered &= follows and not (same & (seq[1:] <= seq[:-1])).any()
        self.ends = (first if self.ends is None else self.ends[0]), last


def are_in_order(parts: Sequence[CommitSizes]) -> bool:
    """Return whether all rows are known to have different positions.

    >>> parts = [CommitSizes(ends=((3, 1), (4, 0))), CommitSizes(ends=((1, 0), (3, 0)))]
    >>> are_in_order(parts), are_in_order([*parts, CommitSizes(ends=((3, 1), (3, 1)))])
    (True, False)

    :param parts: of all rows, in any order.
    """
    ends = sorted(part.ends for part in parts if part.ends is not None)
    ordered = all(part.ascends and part.is_ordered for part in parts)
    return ordered and all(last < first for (_, last), (first, _) in pairwise(ends))


def largest_commit(parts: Sequence[CommitSizes]) -> int | None:
    """Return the number of rows of the largest commit; None if it is not known.

    >>> largest_commit([CommitSizes((3, 2), (4, 1)), CommitSizes((1, 1), (3, 5))])
    7
    >>> largest_commit([CommitSizes((1, 1), (4, 1)), CommitSizes((2, 1), (3, 1))]) is None
    True

    :param parts: of all rows, in any order.
    """
    if not all(part.ascends for part in parts):
        return None
    ends = sorted(
        (part.first, part.last) for part in parts if part.first is not None and part.last is not None
    )
    if any(high[0] < low[0] for (_, low), (high, _) in pairwise(ends)):
        return None
    at_ends = Counter[int]()
    for first, last in ends:
        for number, count in {first, last}:
            at_ends[number] += count
    return max([*at_ends.values(), *(part.most for part in parts)], default=0)
