"""Selects the partitions of messages as TiCDC's client does.

Source: pulsar-client-go ``pulsar/default_router.go``, ``pulsar/internal/hash.go``. The client of Python has
another hash.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import Numbers, contents, lengths

_BASE = np.uint32(31)


class KeyRouter:
    """A router of messages: to the partition of the key, or to each in turn if there is no key.

    :param partitions: number of partitions of the topic.
    """

    def __init__(self, partitions: int) -> None:
        self._partitions, self._turn = partitions, 0

    def route(self, keys: pa.Array) -> list[int]:
        """Return the partitions of the next messages.

        >>> router = KeyRouter(3)
        >>> router.route(pa.array([None, b"a", None])), router.route(pa.array([b"a", None, None, None]))
        ([0, 1, 1], [1, 2, 0, 1])
        """
        texts = keys.fill_null(b"")
        without_key = lengths(texts) == 0
        turns = self._turn + np.cumsum(without_key) - 1
        self._turn += int(without_key.sum())
        numbers: list[int] = (np.where(without_key, turns, key_hashes(texts)) % self._partitions).tolist()
        return numbers


def key_hashes(keys: pa.Array) -> Numbers:
    """Return the hashes of keys: Java's ``String.hashCode`` over the bytes of UTF-8, unsigned.

    >>> key_hashes(pa.array([b"shop.orders", b"", b"ab"])).tolist()
    [570428637, 0, 3105]

    :param keys: binary, without nulls.
    """
    sizes = lengths(keys)
    ends = np.cumsum(sizes)
    codes = np.frombuffer(contents(keys), np.uint8).astype(np.uint32)
    powers = np.cumprod(np.full(int(sizes.max(initial=0)), _BASE), dtype=np.uint32)
    following = np.repeat(ends, sizes) - 1 - np.arange(len(codes))
    # A sum of 32 bits wraps as the hash does; so does the difference of two.
    sums = np.cumsum(codes * np.append(np.uint32(1), powers)[following], dtype=np.uint32)
    sums = np.append(np.uint32(0), sums)
    hashes: Numbers = (sums[ends] - sums[ends - sizes]).astype(np.int64)
    return hashes
