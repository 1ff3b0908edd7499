"""Which parameters of a test are fast: the slow half has the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from _pytest.mark import ParameterSet


def one_in(number: int, cases: Iterable[Sequence[object]]) -> list[ParameterSet]:
    """Return the parameters of a test, of which one in ``number`` is fast.

    The cases of a table, row after row, keep a fast one in each column if ``number`` is prime to the number
    of columns, and in each row if it is not larger than that.
    """
    return [
        pytest.param(*case, marks=() if index % number == 0 else pytest.mark.slow)
        for index, case in enumerate(cases)
    ]
