"""Reads and makes the columns of row images, which are maps from names to values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def columns_of(images: pa.MapArray, names: Sequence[str]) -> list[pa.Array]:
    """The values of some columns in each image; NULL where it has no such column."""
    offsets = images.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    present = images.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.where(present, np.diff(offsets), 0)
    flat = np.repeat(offsets[:-1], lengths) + (
        np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    )
    row_of = np.repeat(np.arange(len(images)), lengths)
    keys = images.keys.take(pa.array(flat))
    codes = pc.fill_null(pc.index_in(keys, pa.array(names, pa.string())), -1).to_numpy()
    found = []
    for number, name in enumerate(names):
        at = np.full(len(images), -1)
        members = np.flatnonzero(codes == (names.index(name) if name in names else number))
        at[row_of[members]] = flat[members]
        found.append(images.items.take(pa.array(at, mask=at < 0)))
    return found


def image_array(names: Sequence[str], columns: Sequence[pa.Array]) -> pa.MapArray:
    """Images with the same names, from the values of their columns."""
    rows, width = len(columns[0]), len(names)
    # With the columns one after the other, the values of one row are ``rows`` apart.
    order = (np.arange(rows)[:, None] + np.arange(width)[None, :] * rows).ravel()
    values = pa.concat_arrays([column.cast(pa.binary()) for column in columns]).take(pa.array(order))
    keys = pa.array(list(names), pa.string()).take(pa.array(np.tile(np.arange(width), rows)))
    return pa.MapArray.from_arrays(pa.array(np.arange(rows + 1) * width, pa.int32()), keys, values)
