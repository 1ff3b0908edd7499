"""Craft's integers, whole columns at a time; ``varint`` has the rules."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from producer.codec.pieces import fixed_width, regrouped

_SHORT_LIMIT = 1 << 14


def uvarints(numbers: np.ndarray) -> pa.Array:
    """Each of many unsigned numbers.

    :param numbers: 64 bits each; signed ones stand for themselves modulo 2^64.
    """
    numbers = numbers.view(np.uint64)
    most = numbers.max(initial=0)
    if most < 0x80:
        return fixed_width(numbers.astype(np.uint8).tobytes(), 1)
    return _SHORT.take(pa.array(numbers)) if most < _SHORT_LIMIT else _of_any_size(numbers)


def varints(numbers: np.ndarray) -> pa.Array:
    """Each of many signed numbers (int64)."""
    return uvarints(zigzag(numbers))


def zigzag(numbers: np.ndarray) -> np.ndarray:
    """The unsigned numbers that stand for signed ones."""
    return numbers << 1 ^ numbers >> 63


def delta_uvarint_chunks(numbers: np.ndarray, starts: np.ndarray) -> pa.Array:
    """Runs of numbers as chunks of differences.

    :param starts: place of the first number of each run, from 0 up.
    """
    return regrouped(uvarints(_steps(numbers, starts)), starts)


def delta_varint_chunks(numbers: np.ndarray, starts: np.ndarray) -> pa.Array:
    """The same, signed."""
    return regrouped(varints(_steps(numbers, starts)), starts)


def _steps(numbers: np.ndarray, starts: np.ndarray) -> np.ndarray:
    steps = np.diff(numbers, prepend=0)
    steps[starts] = numbers[starts]
    return steps


def _of_any_size(numbers: np.ndarray) -> pa.Array:
    """Byte after byte of all numbers, as long as some are not at their end."""
    sizes = np.zeros(len(numbers), np.int32)
    rounds = []
    places = np.arange(len(numbers))
    while len(places):
        more = numbers >= 0x80
        rounds.append((places, numbers.astype(np.uint8) & 0x7F | more.view(np.uint8) << 7))
        sizes[places] += 1
        places, numbers = places[more], numbers[more] >> 7
    bounds = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
    content = np.empty(bounds[-1], np.uint8)
    for place, (places, byte) in enumerate(rounds):
        content[bounds[places] + place] = byte
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(bounds), pa.py_buffer(content)])


_SHORT = _of_any_size(np.arange(_SHORT_LIMIT, dtype=np.uint64))
