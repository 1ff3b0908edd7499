"""Craft's chunks of integers, whole columns at a time; ``varint`` has the rules."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import Pieces, regrouped
from ticdc_producer.protocols.varint_columns import uvarints, varints


def delta_uvarint_chunks(numbers: np.ndarray, starts: np.ndarray) -> Pieces:
    """Runs of numbers (int64) as a chunk each: the first, then each difference to the one before it.

    :param starts: place of the first number of each run, from 0 up.
    """
    return _delta_chunks(numbers, starts, lambda steps: uvarints(steps.view(np.uint64)))


def delta_varint_chunks(numbers: np.ndarray, starts: np.ndarray) -> Pieces:
    """The same of signed numbers."""
    return _delta_chunks(numbers, starts, varints)


def _delta_chunks(
    numbers: np.ndarray, starts: np.ndarray, written: Callable[[np.ndarray], pa.Array]
) -> Pieces:
    """First numbers stand apart, for differences are mostly small and the quicker to write by themselves."""
    steps = written(np.delete(np.diff(numbers), starts[1:] - 1))
    return written(numbers[starts]), regrouped(steps, starts - np.arange(len(starts)))
