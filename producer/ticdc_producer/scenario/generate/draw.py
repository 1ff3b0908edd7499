"""Seeded random draws as Spark expressions: hashes of numbers, and distributions of them.

Only multiplication, division, powers and logarithms of Java's ``StrictMath`` are used; they give the same
bits on every machine.
"""

from __future__ import annotations

from decimal import Decimal
from hashlib import shake_128

from pyspark.sql import Column
from pyspark.sql import functions as F

_LONGS, _TWO_64 = (1 << 63) - 1, Decimal(1 << 64)
_UNIT = 2.0**-53
_PARTS = 4
_PART_BITS = 16
_BELL = 12 << _PART_BITS
"""The sum of twelve uniform parts approximates a normal distribution up to six deviations."""
_OFFSET_BITS, _OFFSETS_PER_HASH = 12, 5
_SHORT_TEXT, _SHORT_FRAGMENT, _FRAGMENT = 32, 4, 8
_LONGEST_UNREPEATED = 256
_OCTETS = shake_128(b"ticdc-producer").digest((1 << _OFFSET_BITS) + _FRAGMENT)
_LETTERS = bytes(b"aehilmnoprstuvwy"[octet & 15] for octet in _OCTETS)


def draw(salt: int, *of: Column) -> Column:
    """A hash as a long.

    :param salt: separates the hashes of different purposes (``GeneratePlan.salt``).
    """
    return F.xxhash64(F.lit(salt), *of)


def share(drawn: Column) -> Column:
    """A hash as a double from 0 (inclusive) to 1 (exclusive)."""
    return F.shiftrightunsigned(drawn, 11).cast("double") * _UNIT


def happens(chance: float, drawn: Column) -> Column:
    """Whether an event of probability ``chance`` happens."""
    return share(drawn) < chance


def quotient(number: Column, by: int) -> Column:
    """Integer division of longs."""
    return F.call_function("div", number, F.lit(by))


def uniform(drawn: Column, count: int) -> Column:
    """0 … count-1, uniformly distributed; a decimal if ``count`` exceeds a long."""
    if count <= _LONGS:
        return F.pmod(drawn, F.lit(count))
    unsigned = drawn.cast("decimal(20,0)")
    unsigned = F.when(drawn < 0, unsigned + F.lit(_TWO_64)).otherwise(unsigned).cast("decimal(20,0)")
    return unsigned if count == 1 << 64 else unsigned % F.lit(Decimal(count))


def uniform_of(drawn: Column, count: Column) -> Column:
    """0 … count-1, uniformly distributed; 0 if ``count`` is 0."""
    return F.pmod(drawn, F.greatest(count, F.lit(1)))


def zipf(drawn: Column, count: Column | int, exponent: float) -> Column:
    """0 … count-1; the frequency of ``n`` is about proportional to ``1 / (n + 1) ** exponent``.

    It is the continuous distribution of that density from 1 to ``count + 1``, truncated to integers.
    """
    number = F.lit(count) if isinstance(count, int) else count
    ends = number.cast("double") + 1.0
    chance = share(drawn)
    if exponent == 1:
        found = F.pow(ends, chance)
    else:
        rest = 1.0 - exponent
        found = F.pow((F.pow(ends, F.lit(rest)) - 1.0) * chance + 1.0, F.lit(1.0 / rest))
    return F.greatest(F.least(found.cast("long") - 1, number - 1), F.lit(0)).cast("long")


def normal(salt: int, of: Column, count: Column | int) -> Column:
    """0 … count-1, normally distributed around the middle; the standard deviation is ``count / 12``."""
    drawn = [draw(salt, of, F.lit(block)) for block in range(12 // _PARTS)]
    parts = [
        F.shiftrightunsigned(block, _PART_BITS * part).bitwiseAND(F.lit((1 << _PART_BITS) - 1))
        for block in drawn
        for part in range(_PARTS)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    fine = share(draw(salt, of, F.lit(-1))) * 12.0
    number = F.lit(count) if isinstance(count, int) else count
    position = (total.cast("double") + fine) / float(_BELL) * number.cast("double")
    return F.least(position.cast("long"), number - 1)


def letters(salt: int, of: Column, most: int) -> Column:
    """A text of ``most`` lower-case letters, as binary; it repeats after 256 letters."""
    return _fragments(_LETTERS, salt, of, most)


def octets(salt: int, of: Column, most: int) -> Column:
    """``most`` bytes; they repeat after 256 bytes."""
    return _fragments(_OCTETS, salt, of, most)


def _fragments(pool: bytes, salt: int, of: Column, most: int) -> Column:
    """Fragments of a pool at offsets given by hashes.

    Spark cuts substrings out of a literal quickly; converting the hashes to text took ten times as long.
    """
    whole = min(most, _LONGEST_UNREPEATED)
    size = _SHORT_FRAGMENT if whole <= _SHORT_TEXT else _FRAGMENT
    starts = range(0, whole, size)
    # One hash gives five offsets.
    drawn = [draw(salt, of, F.lit(number)) for number in range(-(-len(starts) // _OFFSETS_PER_HASH))]
    parts = [
        F.substring(
            F.lit(pool),
            _pool_offset(drawn[number // _OFFSETS_PER_HASH], number),
            F.lit(min(size, whole - start)),
        )
        for number, start in enumerate(starts)
    ]
    if not parts:
        return F.lit(b"")
    text = F.concat(*parts)
    if most == whole:
        return text
    repeated = F.repeat(text.cast("string"), -(-most // whole)).cast("binary")
    return F.substring(repeated, F.lit(1), F.lit(most))


def _pool_offset(drawn: Column, number: int) -> Column:
    """Offset of a fragment in its pool, from 1."""
    position = F.shiftrightunsigned(drawn, _OFFSET_BITS * (number % _OFFSETS_PER_HASH))
    return position.bitwiseAND(F.lit((1 << _OFFSET_BITS) - 1)).cast("int") + F.lit(1)
