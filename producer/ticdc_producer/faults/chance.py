"""Chance that depends on what an event is, and on nothing else: the same on every run."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.protocols.arrow_text import Numbers

_BITS = 53


def drawn(seed: int, purpose: str, *parts: Column) -> Column:
    """A number from 0 to 2^53 - 1."""
    salt = int.from_bytes(blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest(), "big", signed=True)
    return F.shiftrightunsigned(F.xxhash64(F.lit(salt), *parts), 64 - _BITS)


def below(rate: float) -> Column:
    """What a share of all drawn numbers is smaller than."""
    return F.lit(round(rate * (1 << _BITS)))


def drawn_number(seed: int, purpose: str, number: int) -> int:
    """The same on the driver: 64 bits."""
    return int.from_bytes(blake2b(f"{seed}/{purpose}/{number}".encode(), digest_size=8).digest(), "big")


def drawn_numbers(seed: int, purpose: str, numbers: Numbers) -> NDArray[np.float64]:
    """The same for many: from 0 up to 1, by SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = numbers.astype(np.uint64) + np.uint64(drawn_number(seed, purpose, 0))
    with np.errstate(over="ignore"):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn: NDArray[np.float64] = (mixed ^ (mixed >> np.uint64(31))) / 2.0**64
    return drawn
