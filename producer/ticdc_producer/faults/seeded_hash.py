"""Deterministic pseudo-random numbers: hashes of the seed, a purpose and properties of the event.

They depend on nothing else, so every run of a scenario gets the same faults.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ticdc_producer.model.column_functions import xx_hash
from ticdc_producer.protocols.arrow_text import Numbers

_BITS = 53


def seeded_hash(seed: int, purpose: str, rows: int, *parts: pa.Array | int | str) -> Numbers:
    """Hash of some columns, row by row: integers from 0 to 2^53 - 1.

    :param parts: columns, or values that all rows share; the width of integers matters.
    """
    salt = int.from_bytes(blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest(), "big", signed=True)
    return (xx_hash(rows, salt, *parts) >> np.uint64(64 - _BITS)).astype(np.int64)


def threshold(rate: float) -> int:
    """The bound below which the share ``rate`` of all values of ``seeded_hash`` lies."""
    return round(rate * (1 << _BITS))


def seeded_integer(seed: int, purpose: str, number: int) -> int:
    """Hash of one number on the driver: an unsigned 64-bit integer."""
    return int.from_bytes(blake2b(f"{seed}/{purpose}/{number}".encode(), digest_size=8).digest(), "big")


def seeded_floats(seed: int, purpose: str, numbers: Numbers) -> NDArray[np.float64]:
    """Hashes of many numbers, from 0 up to but excluding 1, by SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = numbers.astype(np.uint64) + np.uint64(seeded_integer(seed, purpose, 0))
    with np.errstate(over="ignore"):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    floats: NDArray[np.float64] = (mixed ^ (mixed >> np.uint64(31))) / 2.0**64
    return floats
