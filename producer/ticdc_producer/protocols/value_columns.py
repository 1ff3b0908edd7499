"""Columns of JSON strings as canonical text: the parsers of ``value_parsers``, for many values at once.

The canonical text of almost every value is the text itself. Functions of Arrow recognize columns of which
this is true; the values of other columns are parsed one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED, integer_range
from ticdc_producer.protocols.arrow_text import contents, lengths, text_array
from ticdc_producer.protocols.value_parsers import (
    FAST_PATTERNS,
    latin_bytes,
    parsed_type,
    parser_for,
    pattern_of,
)


def parsed_column(texts: Sequence[str | None], mysql_type: str) -> pa.Array:
    """Return the canonical texts of a column, as binary.

    >>> parsed_column(("7", None, "-1"), "int").to_pylist()
    [b'7', None, b'-1']

    :param mysql_type: the type with or without its parameters.
    :raises BadValue: for a value that the type does not have, and for a type that does not exist.
    """
    parse, values = parser_for(mysql_type), pa.array(texts, pa.string())
    if parse is str.encode:
        return values.cast(pa.binary())
    if contents(values).isascii() if parse is latin_bytes else _are_canonical(values, mysql_type):
        return values.cast(pa.binary())
    return pa.array([None if text is None else parse(text) for text in texts], pa.binary())


def _are_canonical(values: pa.Array, mysql_type: str) -> bool:
    """Return whether the parser of a type certainly returns all texts unchanged."""
    code, _, unsigned = parsed_type(mysql_type)
    if code in INTEGERS | NUMBERED:
        return _are_integers(values, *integer_range(code, unsigned=unsigned))
    if code not in FAST_PATTERNS:
        return False
    texts = values.drop_null()
    patterns = text_array(pattern_of(contents(texts)), lengths(texts)).unique()
    return FAST_PATTERNS[code].issuperset(patterns.to_pylist())


def _are_integers(values: pa.Array, low: int, high: int) -> bool:
    """Return whether texts are the shortest decimal digits of integers in a range."""
    try:
        numbers = values.cast(pa.uint64() if low == 0 else pa.int64())
    except pa.ArrowInvalid:
        return False
    least, most = pc.min_max(numbers).values()
    if not least.is_valid:
        return True
    return low <= least.as_py() and most.as_py() <= high and bool(numbers.cast(pa.string()).equals(values))
