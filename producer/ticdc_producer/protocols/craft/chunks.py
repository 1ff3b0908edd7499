"""Craft's chunks of integers, whole columns at a time; ``varint`` defines the format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import Fragments, merge_runs
from ticdc_producer.protocols.varint_columns import uvarints, varints


def delta_uvarint_chunks(numbers: np.ndarray, starts: np.ndarray) -> Fragments:
    """Encode each run of numbers (int64) as a chunk: the first number, then the differences.

    :param starts: index of the first number of each run, ascending from 0.
    """
    return _delta_chunks(numbers, starts, lambda steps: uvarints(steps.view(np.uint64)))


def delta_varint_chunks(numbers: np.ndarray, starts: np.ndarray) -> Fragments:
    """Like ``delta_uvarint_chunks``, for signed numbers."""
    return _delta_chunks(numbers, starts, varints)


def _delta_chunks(
    numbers: np.ndarray, starts: np.ndarray, encode: Callable[[np.ndarray], pa.Array]
) -> Fragments:
    """Encodes first numbers separately: differences are mostly small, and faster without them."""
    steps = encode(np.delete(np.diff(numbers), starts[1:] - 1))
    return encode(numbers[starts]), merge_runs(steps, starts - np.arange(len(starts)))
