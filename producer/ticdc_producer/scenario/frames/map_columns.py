"""The columns of row images that are maps from names to values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags, Numbers, flat_positions, row_codes
from ticdc_producer.model.fingerprint import Lists

ImageColumn: TypeAlias = tuple[str, pa.Array, Flags | None]
"""Name, values, and which images have the column; None: all."""


def map_columns(images: pa.MapArray, rows: Numbers | None = None) -> Sequence[ImageColumn]:
    """Return the columns of maps: names, values and the rows that have them.

    >>> images = pa.array([[("id", 1)], None, [("id", 2), ("c", 3)]], pa.map_(pa.string(), pa.int8()))
    >>> [(name, values.to_pylist(), given.tolist()) for name, values, given in map_columns(images)]
    [('id', [1, None, 2], [True, False, True]), ('c', [None, None, 3], [False, False, True])]
    >>> [(name, values.to_pylist()) for name, values, _ in map_columns(images, np.array([1, 0]))]
    [('id', [None, 1])]

    :param rows: the numbers of the maps that are read; None: all.
    """
    offsets = images.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    starts = offsets[:-1]
    lengths = np.where(images.is_valid().to_numpy(zero_copy_only=False), np.diff(offsets), 0)
    if rows is not None:
        starts, lengths = starts[rows], lengths[rows]
    entries = _entries(images, rows, starts, lengths)
    return [(name, images.items.take(pa.array(at, mask=at < 0)), at >= 0) for name, at in entries]


def _entries(
    images: pa.MapArray, rows: Numbers | None, starts: Numbers, lengths: Numbers
) -> Iterator[tuple[str, Numbers]]:
    """Yield each name with the position of its entry in each map; -1: the map has none.

    >>> images = pa.array([[("id", 1), ("c", 2)], [], [("c", 3)]], pa.map_(pa.string(), pa.int8()))
    >>> [(name, at.tolist()) for name, at in _entries(images, None, np.array([0, 2, 2]), np.array([2, 0, 1]))]
    [('id', [0, -1, -1]), ('c', [1, -1, 2])]

    :param rows: as of ``map_columns``.
    :param starts, lengths: of the maps that are read.
    """
    has_entries = lengths > 0
    if names := _names_of_all(images, rows, has_entries):
        for index, name in enumerate(names):
            if name in names[:index]:
                raise _two_values(name)
            yield name, np.where(has_entries, starts + index, -1)
        return
    positions = flat_positions(starts, lengths)
    row_of = np.repeat(np.arange(len(starts)), lengths)
    coded = images.keys.take(pa.array(positions)).dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    for code, name in enumerate(coded.dictionary.to_pylist()):
        members = np.flatnonzero(codes == code)
        if (np.diff(row_of[members]) == 0).any():
            raise _two_values(name)
        at = np.full(len(starts), -1)
        at[row_of[members]] = positions[members]
        yield str(name), at


def _names_of_all(images: pa.MapArray, rows: Numbers | None, has_entries: Flags) -> list[str]:
    """Return the names of the entries, if all maps have the same ones in the same order; otherwise none.

    >>> images = pa.array([[("id", 1), ("c", 2)], [], [("c", 3)]], pa.map_(pa.string(), pa.int8()))
    >>> _names_of_all(images, None, np.array([True, False, True]))
    []
    >>> _names_of_all(images, np.array([1, 0]), np.array([False, True]))
    ['id', 'c']

    :param rows: as of ``map_columns``.
    :param has_entries: which maps have entries; the others do not count.
    """
    filled = np.flatnonzero(has_entries) if rows is None else rows[has_entries]
    if not len(filled) or not pa.types.is_string(images.keys.type):
        return []
    lists = Lists(images)
    names = [column.take(pa.array(filled)) for column in lists.texts(images.keys)]
    if row_codes(names).any():
        return []
    first = int(filled[0])
    every: list[str] = images.keys[int(lists.starts[first]) : int(lists.ends[first])].to_pylist()
    return every


def _two_values(name: object) -> ScenarioError:
    return ScenarioError(f"before or after has two values of {name!r}", column=str(name))
