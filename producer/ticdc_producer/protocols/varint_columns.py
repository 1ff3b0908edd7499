"""LEB128 integers, whole columns at a time: seven bits per byte, lowest first; signed ones as zig-zag.

Craft and Avro encode integers in this way.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import fixed_width

ONE_BYTE = 1 << 7
"""The smallest number that takes more than one byte."""
_TWO_BYTES = 1 << 14


def uvarints(numbers: np.ndarray) -> pa.Array:
    """Encode unsigned integers."""
    most = numbers.max(initial=0)
    if most < ONE_BYTE:
        return fixed_width(numbers.astype(np.uint8).tobytes(), 1)
    return _SHORT.take(pa.array(numbers)) if most < _TWO_BYTES else _of_any_size(numbers)


def varints(numbers: np.ndarray) -> pa.Array:
    """Encode signed integers (int64)."""
    return uvarints(zigzag(numbers).view(np.uint64))


def zigzag(numbers: np.ndarray) -> np.ndarray:
    """Zig-zag encoding of signed integers, in an array of the same type."""
    return numbers << 1 ^ numbers >> 8 * numbers.itemsize - 1


def _of_any_size(numbers: np.ndarray) -> pa.Array:
    """Encode one byte of all numbers at a time, until the longest number is complete."""
    sizes = np.zeros(len(numbers), np.int32)
    rounds = []
    indices = np.arange(len(numbers))
    while len(indices):
        more = numbers >= ONE_BYTE
        rounds.append((indices, numbers.astype(np.uint8) & 0x7F | more.view(np.uint8) << 7))
        sizes[indices] += 1
        indices, numbers = indices[more], numbers[more] >> 7
    bounds = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
    content = np.empty(bounds[-1], np.uint8)
    for offset, (indices, byte) in enumerate(rounds):
        content[bounds[indices] + offset] = byte
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(bounds), pa.py_buffer(content)])


_SHORT = _of_any_size(np.arange(_TWO_BYTES, dtype=np.uint64))
