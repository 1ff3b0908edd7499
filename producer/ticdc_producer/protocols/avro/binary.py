"""Avro's binary form of primitive values, whole columns at a time.

Integers are zig-zag varints, floating point numbers little-endian, texts and byte strings have their length
before them. Text that is not UTF-8 goes out as it is, as TiCDC copies it; a library that takes Python's
texts could not write it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import Numbers, Pieces, fixed_width, joined, lengths
from ticdc_producer.protocols.varint_columns import varints

FIRST, SECOND = b"\x00", b"\x02"
"""Index of a branch of a union."""


def longs(numbers: Numbers) -> pa.Array:
    """Numbers of Avro's ``int`` or ``long``."""
    return varints(numbers)


def signed(values: pa.Array) -> Pieces:
    """Decimal digits as numbers."""
    return (longs(_parsed(values, pa.int64())),)


def unsigned(values: pa.Array) -> Pieces:
    """Digits of unsigned numbers as the signed ones of the same 64 bits."""
    return (longs(_parsed(values, pa.uint64()).view(np.int64)),)


def floats(values: pa.Array) -> Pieces:
    """Digits as numbers of 32 bits."""
    return (fixed_width(_parsed(values, pa.float64()).astype("<f4").tobytes(), 4),)


def doubles(values: pa.Array) -> Pieces:
    """Digits as numbers of 64 bits."""
    return (fixed_width(_parsed(values, pa.float64()).astype("<f8").tobytes(), 8),)


def counted(texts: pa.Array) -> Pieces:
    """Texts or byte strings; NULL is written like an empty one."""
    return longs(lengths(texts)), pc.fill_null(texts, b"") if texts.null_count else texts


def literal(text: bytes) -> bytes:
    """One short text."""
    return bytes((len(text) << 1,)) + text


def nullable(values: pa.Array, written: Callable[[pa.Array], Pieces], *, null_first: bool) -> Pieces:
    """A union of NULL and another type.

    :param null_first: whether NULL is its first branch.
    """
    null, other = (FIRST, SECOND) if null_first else (SECOND, FIRST)
    if not values.null_count:
        return other, *written(values)
    if values.null_count == len(values):
        return (null,)
    there = joined((other, *written(values)), len(values))
    return (pc.if_else(values.is_null(), pa.scalar(null, pa.binary()), there),)


def _parsed(values: pa.Array, kind: pa.DataType) -> np.ndarray:
    """Canonical texts as numbers, 0 for NULL."""
    numbers: np.ndarray = pc.fill_null(values.cast(pa.string()).cast(kind), 0).to_numpy()
    return numbers
