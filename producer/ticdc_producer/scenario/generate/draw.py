"""Seeded random draws as functions on columns: hashes, their distributions, and texts of the drawn values.

All steps are integer arithmetic, or operations that IEEE 754 rounds correctly: the same bits on every CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import shake_128
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, float_texts
from ticdc_producer.model.mysql_type import TEMPORALS, MySQLType
from ticdc_producer.scenario.generate.arrays import Hashes, Longs, Octets, Reals, exponential, logarithm
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS

_MASK = (1 << 64) - 1
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of the generator SplitMix64."""
_BLOCK = 0xD1342543DE82EF95
"""An odd number that separates several hashes of one number."""
_UNIT = 2.0**-53
_PARTS = 4
_PART_BITS = 16
_BELL = 12 << _PART_BITS
"""The sum of twelve uniform parts approximates a normal distribution up to six deviations."""
_OFFSET_BITS, _OFFSETS_PER_HASH = 12, 5
_FRAGMENTS = ((16, 4), (64, 16))
_LONG_FRAGMENT = 32
"""Lengths of the fragments of texts up to a length; longer texts have long fragments."""
_LONGEST_UNREPEATED = 256
_OCTETS = shake_128(b"ticdc-producer").digest((1 << _OFFSET_BITS) + _LONG_FRAGMENT)
_LETTERS = bytes(b"aehilmnoprstuvwy"[octet & 15] for octet in _OCTETS)


def draw(salt: int, of: Longs, block: int = 0) -> Hashes:
    """Hash each number by SplitMix64.

    >>> draw(5, np.array([0, 1])).tolist()
    [13168350753275463132, 7134611160154358618]

    :param salt: separates the hashes of different purposes (``GeneratePlan.salt``).
    :param block: index among several hashes of one number.
    """
    mixed = of.astype(np.uint64) * np.uint64(_GOLDEN)
    mixed += np.uint64((salt + block * _BLOCK) & _MASK)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(_FIRST)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(_SECOND)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def share(hashes: Hashes) -> Reals:
    """Convert hashes to doubles from 0 (inclusive) to 1 (exclusive)."""
    return (hashes >> np.uint64(11)).astype(np.float64) * _UNIT


def happens(chance: float, hashes: Hashes) -> Flags:
    """Return whether each event of probability ``chance`` happens."""
    return (hashes >> np.uint64(11)) < np.uint64(ceil(chance * (1 << 53)))


def uniform(hashes: Hashes, count: int) -> Hashes:
    """Draw 0 … count-1, uniformly distributed; ``count`` is at most 2**64."""
    return hashes if count == 1 << 64 else hashes % np.uint64(count)


def uniform_of(hashes: Hashes, counts: Longs) -> Longs:
    """Draw 0 … count-1, uniformly distributed; 0 if a count is 0."""
    return (hashes % np.maximum(counts, 1).astype(np.uint64)).astype(np.int64)


def zipf(hashes: Hashes, counts: Longs | int, exponent: float) -> Longs:
    """Draw 0 … count-1; the frequency of ``n`` is about proportional to ``1 / (n + 1) ** exponent``.

    The distribution is the continuous one of that density from 1 to ``count + 1``, truncated to integers.

    >>> quarters = np.array([0, 1 << 62, 1 << 63, 3 << 62], np.uint64)  # at 0, 1/4, 1/2 and 3/4
    >>> zipf(quarters, 100, 1.0).tolist()
    [0, 2, 9, 30]
    """
    ends = logarithm(np.atleast_1d(np.asarray(counts)).astype(np.float64) + 1.0)
    chance = share(hashes)
    if exponent == 1:
        position = exponential(ends * chance)
    else:
        rest = 1.0 - exponent
        area = (exponential(ends * rest) - 1.0) * chance + 1.0
        position = exponential(logarithm(area) / rest)
    rows: Longs = np.clip(position.astype(np.int64) - 1, 0, np.maximum(np.asarray(counts) - 1, 0))
    return rows


def normal(salt: int, of: Longs, counts: Longs | int) -> Longs:
    """Draw 0 … count-1, normally distributed around the middle; the standard deviation is ``count / 12``.

    >>> normal(5, np.arange(8), 100).tolist()
    [50, 54, 45, 51, 43, 43, 50, 56]
    """
    total = np.zeros(len(of), np.uint64)
    for block in range(12 // _PARTS):
        hashes = draw(salt, of, block)
        for part in range(_PARTS):
            total += (hashes >> np.uint64(_PART_BITS * part)) & np.uint64((1 << _PART_BITS) - 1)
    fine = share(draw(salt, of, -1)) * 12.0
    position = (total.astype(np.float64) + fine) / float(_BELL) * np.asarray(counts).astype(np.float64)
    rows: Longs = np.minimum(position.astype(np.int64), np.asarray(counts) - 1)
    return rows


def letters(salt: int, of: Longs, most: int, lengths: Longs | None = None) -> pa.Array:
    """Draw texts of lower-case letters, as binary; they repeat after 256 letters.

    >>> letters(5, np.array([0, 1]), 6, np.array([3, 6])).to_pylist()
    [b'vhs', b'umhsrv']

    :param most: the maximum length.
    :param lengths: the length of each text, at most ``most``; None: all have that length.
    """
    return _texts(_LETTERS, salt, of, most, lengths)


def octets(salt: int, of: Longs, most: int, lengths: Longs | None = None) -> pa.Array:
    """Draw byte strings; the parameters are those of ``letters``."""
    return _texts(_OCTETS, salt, of, most, lengths)


def _texts(pool: bytes, salt: int, of: Longs, most: int, lengths: Longs | None) -> pa.Array:
    """Draw byte strings from a pool; the other parameters are those of ``letters``.

    >>> _texts(bytes(range(65, 91)) * 160, 5, np.array([0, 1]), 4, None).to_pylist()
    [b'STUV', b'ABCD']
    >>> _texts(bytes(range(65, 91)) * 160, 5, np.array([0, 1]), 4, np.array([1, 3])).to_pylist()
    [b'S', b'ABC']
    """
    columns = _fragments(pool, salt, of, min(most, _LONGEST_UNREPEATED))
    if most > _LONGEST_UNREPEATED:
        columns = np.tile(columns, (1, -(-most // _LONGEST_UNREPEATED)))[:, :most]
    if lengths is None:
        return binary_array(np.arange(len(of) + 1, dtype=np.int64) * most, columns)
    used = np.arange(most) < lengths[:, None]
    return binary_array(np.concatenate([[0], np.cumsum(lengths)]), columns[used])


def _fragments(pool: bytes, salt: int, of: Longs, most: int) -> Octets:
    """Draw ``most`` bytes for each number: fragments of a pool at offsets given by hashes.

    A hash gives five offsets of 12 bits each.

    >>> _fragments(bytes(range(64)) * 80, 5, np.array([0, 1]), 8).tolist()
    [[28, 29, 30, 31, 52, 53, 54, 55], [26, 27, 28, 29, 28, 29, 30, 31]]
    """
    size = next((size for longest, size in _FRAGMENTS if most <= longest), _LONG_FRAGMENT)
    offsets = np.empty((len(of), -(-most // size)), np.int64)
    for number in range(offsets.shape[1]):
        if number % _OFFSETS_PER_HASH == 0:
            hashes = draw(salt, of, number // _OFFSETS_PER_HASH)
        shift = np.uint64(_OFFSET_BITS * (number % _OFFSETS_PER_HASH))
        offsets[:, number] = (hashes >> shift) & np.uint64((1 << _OFFSET_BITS) - 1)
    if not offsets.size:
        return np.empty((len(of), most), np.uint8)
    fragments: Octets = _windows(pool, size).take(offsets).view(np.uint8)
    return fragments[:, :most]


@lru_cache
def _windows(pool: bytes, size: int) -> npt.NDArray[np.void]:
    """Return the fragment of a pool at each offset, as one element that is copied at once.

    >>> _windows(b"abcd", 2).tolist()
    [b'ab', b'bc', b'cd']
    """
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(pool, np.uint8), size)
    return np.ascontiguousarray(windows[: 1 << _OFFSET_BITS]).view(f"V{size}").ravel()


def binary_array(ends: Longs, data: Octets) -> pa.Array:
    """Build an Arrow array of byte strings.

    >>> binary_array(np.array([0, 2, 3]), np.frombuffer(b"abc", np.uint8)).to_pylist()
    [b'ab', b'c']

    :param ends: 0, and the end of each value in the data.
    """
    offsets = pa.py_buffer(ends.astype(np.int32))
    return pa.Array.from_buffers(
        pa.binary(), len(ends) - 1, [None, offsets, pa.py_buffer(np.ascontiguousarray(data))]
    )


T = MySQLType

_DATETIME_LENGTH = len("2021-12-20 13:30:49")


def integer_texts(numbers: Longs | Hashes) -> pa.Array:
    """Print decimal numbers, as binary."""
    return pa.array(numbers).cast(pa.string()).cast(pa.binary())


def ordinal_texts(column: ColumnInfo, ordinals: Longs) -> pa.Array:
    """Print the values with the ordinals, for all types except strings, JSON, FLOAT and DOUBLE."""
    fsp = max(column.decimal, 0)
    if column.type == T.NEW_DECIMAL:
        return _decimal_texts(ordinals, fsp)
    if column.type in (T.DATE, T.NEW_DATE):
        return pa.array(ordinals.astype(np.int32)).cast(pa.date32()).cast(pa.string()).cast(pa.binary())
    if column.type == T.DURATION:
        return _duration_texts(ordinals, fsp)
    if column.type in TEMPORALS:
        return _datetime_texts(ordinals, fsp)
    return integer_texts(ordinals)


def real_texts(column: ColumnInfo, numbers: Reals) -> pa.Array:
    """Print FLOAT and DOUBLE values."""
    if column.decimal >= 0:
        # Source: tidb types.Round: scale up, round half to even, scale down.
        numbers = np.rint(numbers * 10.0**column.decimal) / 10.0**column.decimal
    return float_texts(pa.array(numbers.astype(np.float32) if column.type == T.FLOAT else numbers))


def _decimal_texts(units: Longs, scale: int) -> pa.Array:
    """Print numbers with exactly ``scale`` fraction digits, of which the first 18 are drawn.

    >>> _decimal_texts(np.array([125, -7]), 2).to_pylist()
    [b'1.25', b'-0.07']
    """
    digits = min(scale, DECIMAL_DIGITS)
    if not digits:
        return integer_texts(units)
    whole, fraction = np.divmod(np.abs(units), 10**digits)
    zeros = "0" * (scale - digits)
    return _joined(_signs(units), pa.array(whole).cast(pa.string()), ".", _padded(fraction, digits), zeros)


def _datetime_texts(units: Longs, fsp: int) -> pa.Array:
    """Print times since 1970 in units of the last digit.

    >>> _datetime_texts(np.array([10, -5]), 1).to_pylist()
    [b'1970-01-01 00:00:01.0', b'1969-12-31 23:59:59.5']
    """
    digits = 0 if fsp == 0 else 3 if fsp <= 3 else 6
    unit = {0: "s", 3: "ms", 6: "us"}[digits]
    texts = pa.array(units * 10 ** (digits - fsp)).cast(pa.timestamp(unit)).cast(pa.string())
    length = _DATETIME_LENGTH + (1 + fsp if fsp else 0)
    return pc.utf8_slice_codeunits(texts, 0, length).cast(pa.binary())


def _duration_texts(units: Longs, fsp: int) -> pa.Array:
    """Print times since midnight in units of the last digit; hours have at least two digits.

    >>> _duration_texts(np.array([-36610, 3600000]), 1).to_pylist()
    [b'-01:01:01.0', b'100:00:00.0']
    """
    seconds, fraction = np.divmod(np.abs(units), 10**fsp)
    hours = pa.array(seconds // 3600).cast(pa.string())
    hours = pc.if_else(pa.array(seconds < 100 * 3600), _padded(seconds // 3600 % 100, 2), hours)
    parts = [_signs(units), hours, ":", _padded(seconds // 60 % 60, 2), ":", _padded(seconds % 60, 2)]
    return _joined(*parts, *((".", _padded(fraction, fsp)) if fsp else ()))


def _signs(units: Longs) -> pa.Array:
    return pc.if_else(pa.array(units < 0), "-", "")


def _padded(numbers: Longs, digits: int) -> pa.Array:
    """Print numbers with leading zeros."""
    return pc.utf8_slice_codeunits(pa.array(numbers + 10**digits).cast(pa.string()), 1)


def _joined(*parts: pa.Array | str) -> pa.Array:
    return joined_texts(parts).cast(pa.binary())


def joined_texts(parts: Sequence[pa.Array | str]) -> pa.Array:
    """Join texts row by row; at least one of the parts is a column."""
    return pc.binary_join_element_wise(*parts, "")
