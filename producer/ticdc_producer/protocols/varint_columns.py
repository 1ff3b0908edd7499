"""LEB128 integers, whole columns at a time: seven bits a byte, the lowest first; signed ones in zig-zag.

Craft and Avro write integers so.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import fixed_width

ONE_BYTE = 1 << 7
"""The first number that takes more than one byte."""
_TWO_BYTES = 1 << 14


def uvarints(numbers: np.ndarray) -> pa.Array:
    """Each of many unsigned numbers."""
    most = numbers.max(initial=0)
    if most < ONE_BYTE:
        return fixed_width(numbers.astype(np.uint8).tobytes(), 1)
    return _SHORT.take(pa.array(numbers)) if most < _TWO_BYTES else _of_any_size(numbers)


def varints(numbers: np.ndarray) -> pa.Array:
    """Each of many signed numbers (int64)."""
    return uvarints(zigzag(numbers).view(np.uint64))


def zigzag(numbers: np.ndarray) -> np.ndarray:
    """Signed numbers of some width as the unsigned ones that stand for them, which have the same type."""
    return numbers << 1 ^ numbers >> 8 * numbers.itemsize - 1


def _of_any_size(numbers: np.ndarray) -> pa.Array:
    """Byte after byte of all numbers, as long as some are not at their end."""
    sizes = np.zeros(len(numbers), np.int32)
    rounds = []
    places = np.arange(len(numbers))
    while len(places):
        more = numbers >= ONE_BYTE
        rounds.append((places, numbers.astype(np.uint8) & 0x7F | more.view(np.uint8) << 7))
        sizes[places] += 1
        places, numbers = places[more], numbers[more] >> 7
    bounds = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
    content = np.empty(bounds[-1], np.uint8)
    for place, (places, byte) in enumerate(rounds):
        content[bounds[places] + place] = byte
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(bounds), pa.py_buffer(content)])


_SHORT = _of_any_size(np.arange(_TWO_BYTES, dtype=np.uint64))
