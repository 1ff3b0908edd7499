"""Base64 with padding, whole columns at a time."""

from __future__ import annotations

from binascii import b2a_base64

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import concat, contents, lengths, text_array, with_nulls_of

_PADDINGS = pa.array([b"", b"\0", b"\0\0"], pa.binary())


def base64_texts(values: pa.Array) -> pa.Array:
    """Base64 of each value.

    Each value is padded to a multiple of three bytes, so that one call encodes all of them; ``=`` then
    replaces what the padding became.
    """
    sizes = lengths(values)
    padding = -sizes % 3
    padded = pc.fill_null(values, b"") if values.null_count else values
    if padding.any():
        padded = concat((padded, _PADDINGS.take(pa.array(padding))), len(values))
    text = np.frombuffer(b2a_base64(contents(padded), newline=False), np.uint8).copy()
    widths = (sizes + padding) // 3 * 4
    ends = np.cumsum(widths)
    for least in (1, 2):
        text[ends[padding >= least] - least] = ord("=")
    return with_nulls_of(values, text_array(text.tobytes(), widths))
