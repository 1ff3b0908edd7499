"""Groups of consecutive rows with equal keys, also over batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def first_of_groups(rows: pa.RecordBatch, key: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Which rows begin a group of equal keys.

    :param rows: any columns, among them those of the key; the rows of a group are consecutive.
    :param key: the columns that are equal in a group.
    :return: one flag per row, in the order of the rows.
    """
    first = np.zeros(rows.num_rows, bool)
    first[:1] = True
    for name in key:
        column = rows.column(name)
        if pa.types.is_integer(column.type):
            values = column.to_numpy(zero_copy_only=False)
            first[1:] |= values[1:] != values[:-1]
        else:
            before = column.slice(0, max(len(column) - 1, 0))
            differs = pc.fill_null(pc.not_equal(column.slice(1), before), False)
            first[1:] |= differs.to_numpy(zero_copy_only=False)
    return first


def whole_groups(batches: Iterable[pa.RecordBatch], key: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that end at the end of a group.

    The last group of each batch is held back, so the memory needed is that of a batch and the largest group.

    :param batches: any columns, among them those of the key; the rows of a group are consecutive.
    :param key: the columns that are equal in a group.
    :return: the same columns, and the rows in the same order.
    """
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        if held:
            # Whether the batch begins a new group follows from the last row that is held.
            joint = pa.concat_batches([held[-1].slice(held[-1].num_rows - 1).select(key), batch.select(key)])
            starts = np.flatnonzero(first_of_groups(joint, key)[1:])
        else:
            starts = np.flatnonzero(first_of_groups(batch.select(key), key))[1:]
        if not len(starts):
            held.append(batch)
            continue
        last = int(starts[-1])
        yield pa.concat_batches([*held, batch.slice(0, last)])
        held = [batch.slice(last)]
    if held:
        yield pa.concat_batches(held)
