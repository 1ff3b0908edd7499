"""Encodes columns of primitive values in Avro's binary encoding.

Integers are zig-zag varints, floating point numbers are little-endian, texts and byte strings are preceded by
their length. Text that is not UTF-8 is copied unchanged, as TiCDC does; an Avro library that takes Python
``str`` could not write it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import Fragments, Numbers, concat, fixed_width, lengths
from ticdc_producer.protocols.varint_columns import varints

FIRST, SECOND = b"\x00", b"\x02"
"""Indexes of the two branches of a union, as encoded."""


def longs(numbers: Numbers) -> pa.Array:
    """Numbers as Avro ``int`` or ``long``."""
    return varints(numbers)


def signed(values: pa.Array) -> Fragments:
    """Decimal digits as Avro ``int`` or ``long``."""
    return (longs(_parsed(values, pa.int64())),)


def unsigned(values: pa.Array) -> Fragments:
    """Decimal digits of unsigned numbers as the signed numbers with the same 64 bits."""
    return (longs(_parsed(values, pa.uint64()).view(np.int64)),)


def floats(values: pa.Array) -> Fragments:
    """Decimal digits as Avro ``float``."""
    return (fixed_width(_parsed(values, pa.float64()).astype("<f4").tobytes(), 4),)


def doubles(values: pa.Array) -> Fragments:
    """Decimal digits as Avro ``double``."""
    return (fixed_width(_parsed(values, pa.float64()).astype("<f8").tobytes(), 8),)


def length_prefixed(texts: pa.Array) -> Fragments:
    """Texts or byte strings as Avro ``string`` or ``bytes``; NULL becomes an empty one."""
    return longs(lengths(texts)), pc.fill_null(texts, b"") if texts.null_count else texts


def literal(text: bytes) -> bytes:
    """One text of at most 63 bytes as Avro ``string``."""
    return bytes((len(text) << 1,)) + text


def nullable(values: pa.Array, written: Callable[[pa.Array], Fragments], *, null_first: bool) -> Fragments:
    """Values as a union of null and another type.

    :param written: encodes the values that are not NULL.
    :param null_first: whether null is the first branch of the union.
    """
    null, other = (FIRST, SECOND) if null_first else (SECOND, FIRST)
    if not values.null_count:
        return other, *written(values)
    if values.null_count == len(values):
        return (null,)
    non_null = concat((other, *written(values)), len(values))
    return (pc.if_else(values.is_null(), pa.scalar(null, pa.binary()), non_null),)


def _parsed(values: pa.Array, kind: pa.DataType) -> np.ndarray:
    """Parse canonical texts as numbers; NULL becomes 0."""
    numbers: np.ndarray = pc.fill_null(values.cast(pa.string()).cast(kind), 0).to_numpy()
    return numbers
