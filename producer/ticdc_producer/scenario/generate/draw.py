"""Chance as Spark expressions: hashes of numbers, and what a distribution makes of them.

Only multiplication, division, powers and logarithms of Java's ``StrictMath`` are used, which give the same
bits on every machine.
"""

from __future__ import annotations

from decimal import Decimal
from hashlib import shake_128

from pyspark.sql import Column
from pyspark.sql import functions as F

_LONGS, _TWO_64 = (1 << 63) - 1, Decimal(1 << 64)
_UNIT = 2.0**-53
_PIECES = 4
_PIECE_BITS = 16
_BELL = 12 << _PIECE_BITS
"""Twelve pieces added up look like a normal distribution of six deviations to either side."""
_PLACE_BITS, _PLACES = 12, 5
_SHORT_TEXT, _SHORT_PIECE, _PIECE = 32, 4, 8
_LONGEST_UNREPEATED = 256
_OCTETS = shake_128(b"ticdc-producer").digest((1 << _PLACE_BITS) + _PIECE)
_LETTERS = bytes(b"aehilmnoprstuvwy"[octet & 15] for octet in _OCTETS)


def draw(salt: int, *of: Column) -> Column:
    """A hash as a long.

    :param salt: parts one purpose from all others (``GeneratePlan.salt``).
    """
    return F.xxhash64(F.lit(salt), *of)


def share(drawn: Column) -> Column:
    """A hash as a double from 0 up to, but not, 1."""
    return F.shiftrightunsigned(drawn, 11).cast("double") * _UNIT


def happens(chance: float, drawn: Column) -> Column:
    """Whether something of a probability is the case."""
    return share(drawn) < chance


def quotient(number: Column, by: int) -> Column:
    """Whole division of longs."""
    return F.call_function("div", number, F.lit(by))


def uniform(drawn: Column, count: int) -> Column:
    """0 … count-1, all alike; a decimal where they are more than a long holds."""
    if count <= _LONGS:
        return F.pmod(drawn, F.lit(count))
    unsigned = drawn.cast("decimal(20,0)")
    unsigned = F.when(drawn < 0, unsigned + F.lit(_TWO_64)).otherwise(unsigned).cast("decimal(20,0)")
    return unsigned if count == 1 << 64 else unsigned % F.lit(Decimal(count))


def uniform_of(drawn: Column, count: Column) -> Column:
    """0 … count-1, all alike; 0 where there are none."""
    return F.pmod(drawn, F.greatest(count, F.lit(1)))


def zipf(drawn: Column, count: Column | int, exponent: float) -> Column:
    """0 … count-1, of which ``n`` comes about as often as ``1 / (n + 1) ** exponent``.

    A continuous distribution of that density, from 1 to ``count + 1``, cut to whole numbers.
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
    """0 … count-1 around the middle; a deviation is a twelfth of all."""
    drawn = [draw(salt, of, F.lit(block)) for block in range(12 // _PIECES)]
    pieces = [
        F.shiftrightunsigned(block, _PIECE_BITS * piece).bitwiseAND(F.lit((1 << _PIECE_BITS) - 1))
        for block in drawn
        for piece in range(_PIECES)
    ]
    total = pieces[0]
    for piece in pieces[1:]:
        total = total + piece
    fine = share(draw(salt, of, F.lit(-1))) * 12.0
    number = F.lit(count) if isinstance(count, int) else count
    place = (total.cast("double") + fine) / float(_BELL) * number.cast("double")
    return F.least(place.cast("long"), number - 1)


def letters(salt: int, of: Column, most: int) -> Column:
    """A text of ``most`` lower-case letters, as binary; beyond 256 it repeats itself."""
    return _pieces(_LETTERS, salt, of, most)


def octets(salt: int, of: Column, most: int) -> Column:
    """So many bytes; beyond 256 they repeat themselves."""
    return _pieces(_OCTETS, salt, of, most)


def _pieces(pool: bytes, salt: int, of: Column, most: int) -> Column:
    """Pieces of a pool that begin wherever a hash says.

    Cutting bytes out of a literal is what Spark does cheapest: turning the hashes themselves into text
    took ten times as long.
    """
    whole = min(most, _LONGEST_UNREPEATED)
    size = _SHORT_PIECE if whole <= _SHORT_TEXT else _PIECE
    starts = range(0, whole, size)
    # A hash serves for five pieces.
    drawn = [draw(salt, of, F.lit(number)) for number in range(-(-len(starts) // _PLACES))]
    pieces = [
        F.substring(F.lit(pool), _place(drawn[number // _PLACES], number), F.lit(min(size, whole - start)))
        for number, start in enumerate(starts)
    ]
    if not pieces:
        return F.lit(b"")
    text = F.concat(*pieces)
    if most == whole:
        return text
    repeated = F.repeat(text.cast("string"), -(-most // whole)).cast("binary")
    return F.substring(repeated, F.lit(1), F.lit(most))


def _place(drawn: Column, number: int) -> Column:
    """Where in its pool a piece begins, counted from 1."""
    place = F.shiftrightunsigned(drawn, _PLACE_BITS * (number % _PLACES))
    return place.bitwiseAND(F.lit((1 << _PLACE_BITS) - 1)).cast("int") + F.lit(1)
