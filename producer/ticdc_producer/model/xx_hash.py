"""Spark's hash ``xxHash64`` of the values of columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
    )
)  # fmt: skip
_SEED = 42
_STRIPE = 32


def xx_hash(rows: int, *columns: pa.Array | int | str) -> Hashes:
    """Hash each row with xxHash64, as Spark does.

    >>> xx_hash(2, pa.array([1, 2]), pa.array(["a", None])).tolist()
    [9918859697708259526, 15105041264409158605]

    :param columns: 32- or 64-bit integers, strings or binary; an int or str is the value of all rows. The
        hash of a column is the seed of the next one's; NULL changes nothing.
    """
    hashes = np.full(rows, _SEED, np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            hashes = _combined(hashes, column if isinstance(column, pa.Array) else _repeated(column, rows))
    return hashes


def _repeated(value: int | str, rows: int) -> pa.Array:
    if isinstance(value, str):
        return pa.repeat(value, rows)
    return pa.repeat(pa.scalar(value, pa.int32() if -(1 << 31) <= value < 1 << 31 else pa.int64()), rows)


def _combined(seeds: Hashes, column: pa.Array) -> Hashes:
    """Hash the values of a column with the hashes of the columns before it as seeds; NULL keeps its seed.

    >>> _combined(np.array([42, 42], np.uint64), pa.array([1, None])).tolist()
    [11445071438006506034, 42]
    """
    if pa.types.is_integer(column.type):
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        if column.type.bit_width == 64:
            hashes = _mixed(_with_word(seeds + _P5 + np.uint64(8), values.astype(np.uint64)))
        else:
            low = values.astype(np.int64).astype(np.uint64) & np.uint64(0xFFFFFFFF)
            hashes = _mixed(_with_half(seeds + _P5 + np.uint64(4), low))
    else:
        hashes = _of_bytes(seeds, column.cast(pa.binary()))
    return np.where(column.is_null().to_numpy(zero_copy_only=False), seeds, hashes)


def _of_bytes(seeds: Hashes, values: pa.Array) -> Hashes:
    """Hash byte strings, all of one length at a time.

    >>> _of_bytes(np.array([42, 42], np.uint64), pa.array([b"a", b"bc"])).tolist()
    [9864288744972464332, 8405177242434991006]

    :param seeds: the seed of each hash.
    """
    hashes = seeds.copy()
    raw = np.frombuffer(values.buffers()[1], np.int32) if len(values) else np.zeros(1, np.int32)
    offsets = raw[values.offset : values.offset + len(values) + 1].astype(np.int64)
    data = np.frombuffer(values.buffers()[2] or b"", np.uint8)
    lengths = np.diff(offsets)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        hashes[rows] = _of_equal_lengths(seeds[rows], data[offsets[rows][:, None] + np.arange(length)])
    return hashes


def _of_equal_lengths(seeds: Hashes, data: npt.NDArray[np.uint8]) -> Hashes:
    """Hash byte strings of equal lengths.

    >>> _of_equal_lengths(np.array([42, 42], np.uint64), np.array([[97, 98], [98, 99]], np.uint8)).tolist()
    [2710560539726725091, 8405177242434991006]

    :param data: one row of bytes per hash.
    """
    length = data.shape[1]
    words = np.ascontiguousarray(data[:, : length // 8 * 8]).view("<u8").astype(np.uint64).T
    stripes = length // _STRIPE * 4
    hashes = _of_stripes(seeds, words[:stripes]) if stripes else seeds + _P5
    hashes = hashes + np.uint64(length)
    for word in words[stripes:]:
        hashes = _with_word(hashes, word)
    at = length // 8 * 8
    if at + 4 <= length:
        half = np.ascontiguousarray(data[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64)
        hashes, at = _with_half(hashes, half), at + 4
    for position in range(at, length):
        hashes = _rotated(hashes ^ data[:, position].astype(np.uint64) * _P5, 11) * _P1
    return _mixed(hashes)


def _of_stripes(seeds: Hashes, words: npt.NDArray[np.uint64]) -> Hashes:
    lanes = [seeds + _P1 + _P2, seeds + _P2, seeds, seeds - _P1]
    for number, word in enumerate(words):
        lanes[number % 4] = _rotated(lanes[number % 4] + word * _P2, 31) * _P1
    rotated = [_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)]
    hashes = rotated[0] + rotated[1] + rotated[2] + rotated[3]
    for lane in lanes:
        hashes = (hashes ^ _rotated(lane * _P2, 31) * _P1) * _P1 + _P4
    return hashes


def _with_word(hashes: Hashes, word: Hashes) -> Hashes:
    return _rotated(hashes ^ _rotated(word * _P2, 31) * _P1, 27) * _P1 + _P4


def _with_half(hashes: Hashes, half: Hashes) -> Hashes:
    return _rotated(hashes ^ half * _P1, 23) * _P2 + _P3


def _mixed(hashes: Hashes) -> Hashes:
    """Spread every bit over all 64 (the last step of xxHash64).

    >>> [hex(number) for number in _mixed(np.array([1, 2], np.uint64)).tolist()]
    ['0x283a72a5b9ab93d3', '0x4230b513611377ff']
    """
    hashes = (hashes ^ hashes >> np.uint64(33)) * _P2
    hashes = (hashes ^ hashes >> np.uint64(29)) * _P3
    return hashes ^ hashes >> np.uint64(32)


def _rotated(values: Hashes, bits: int) -> Hashes:
    return values << np.uint64(bits) | values >> np.uint64(64 - bits)
