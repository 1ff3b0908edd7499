"""How many rows the commits of a frame have, if its parts are in the order of the commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ticdc_producer.model.column_functions import Numbers

_Size = tuple[int, int]
"""The number of a commit, and that of its rows."""


@dataclass
class CommitSizes:
    """The sizes of the commits in one part.

    :ivar first, last: of the commits at its ends, of which other parts may have rows, too; None: no rows.
    :ivar most: rows of the largest of the commits between them.
    :ivar ascends: whether the rows are in the order of their commits; if not, the others mean nothing.
    """

    first: _Size | None = None
    last: _Size | None = None
    most: int = 0
    ascends: bool = True

    def add(self, commits: Numbers) -> None:
        """Add rows, by the numbers of their commits.

        >>> sizes = CommitSizes()
        >>> for commits in ([1, 1, 2], [2, 2, 3, 4], [4]):
        ...     sizes.add(np.array(commits))
        >>> sizes
        CommitSizes(first=(1, 2), last=(4, 2), most=3, ascends=True)
        """
        if not self.ascends or not len(commits):
            return
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
