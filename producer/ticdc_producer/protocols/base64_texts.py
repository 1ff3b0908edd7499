"""Base64 with padding, whole columns at a time."""

from __future__ import annotations

from binascii import b2a_base64

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import contents, joined, lengths, text_array, with_nulls_of

_FILLERS = pa.array([b"", b"\0", b"\0\0"], pa.binary())


def base64_texts(values: pa.Array) -> pa.Array:
    """Base64 of each value.

    All are encoded in one go, each filled up to whole groups of three bytes; ``=`` then takes the place of
    what the filling became.
    """
    sizes = lengths(values)
    missing = -sizes % 3
    filled = pc.fill_null(values, b"") if values.null_count else values
    if missing.any():
        filled = joined((filled, _FILLERS.take(pa.array(missing))), len(values))
    text = np.frombuffer(b2a_base64(contents(filled), newline=False), np.uint8).copy()
    widths = (sizes + missing) // 3 * 4
    ends = np.cumsum(widths)
    for least in (1, 2):
        text[ends[missing >= least] - least] = ord("=")
    return with_nulls_of(values, text_array(text.tobytes(), widths))
