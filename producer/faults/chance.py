"""Chance that depends on what an event is, and on nothing else: the same on every run."""

from __future__ import annotations

from hashlib import blake2b

from pyspark.sql import Column
from pyspark.sql import functions as F

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
