"""The order of equal elements after Go's ``sort.Sort``, and the stage that orders large transactions so.

TiCDC sorts the rows of a transaction with ``sort.Sort`` by kind alone. It is not stable above 12 elements,
but its result is deterministic, because its "random" choices are seeded with the length. Source: Go
``src/sort/zsortinterface.go`` (pattern-defeating quicksort, since Go 1.19).

After splitting an update, TiCDC sorts the rows of a table in a transaction again, by kind alone. Up to 12
rows this is the stable order of ``mutations``; above that, the order of ``go_sort``. Which transactions of
SQL are large is known on the driver; those of large DataFrames are found among the keys of their rows.
Generated volume, ``data`` steps and dumps have the stable order, which is also valid: TiCDC guarantees no
order within a kind.

Source: tiflow ``TrySplitAndSortUpdateEvent`` (``sort.Sort`` of ``txnRows``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags, first_of_groups
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.pipeline.row_images import numbers

_SMALL = 12
_NINTHER_FROM = 50
_MAX_SWAPS = 4 * 3
_MAX_STEPS = 5
_SHORTEST_SHIFTED = 50
_MASK = (1 << 64) - 1

_UNKNOWN, _INCREASING, _DECREASING = range(3)


def go_sorted(ranks: Sequence[int]) -> list[int]:
    """Return the indexes of the elements in the order in which ``sort.Sort`` leaves them.

    :param ranks: sort keys of the elements.
    """
    run = _Run(ranks)
    run.sort(0, len(ranks), len(ranks).bit_length())
    return run.indexes


class _Run:
    """One sort: the ranks and, moved together with them, their original indexes."""

    def __init__(self, ranks: Sequence[int]) -> None:
        self.ranks = list(ranks)
        self.indexes = list(range(len(ranks)))

    def less(self, i: int, j: int) -> bool:
        return self.ranks[i] < self.ranks[j]

    def swap(self, i: int, j: int) -> None:
        self.ranks[i], self.ranks[j] = self.ranks[j], self.ranks[i]
        self.indexes[i], self.indexes[j] = self.indexes[j], self.indexes[i]

    def sort(self, a: int, b: int, limit: int) -> None:
        """Sort ``[a, b)``; ``limit`` bad pivots are allowed before heapsort takes over."""
        balanced = partitioned = True
        while True:
            length = b - a
            if length <= _SMALL:
                self.insertion_sort(a, b)
                return
            if limit == 0:
                self.heap_sort(a, b)
                return
            if not balanced:
                self.break_patterns(a, b)
                limit -= 1
            pivot, hint = self.choose_pivot(a, b)
            if hint == _DECREASING:
                self.reverse(a, b)
                pivot, hint = (b - 1) - (pivot - a), _INCREASING
            if balanced and partitioned and hint == _INCREASING and self.partial_insertion_sort(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):
                a = self.partition_equal(a, b, pivot)
                continue
            middle, partitioned = self.partition(a, b, pivot)
            below, above, enough = middle - a, b - middle, length // 8
            if below < above:
                balanced = below >= enough
                self.sort(a, middle, limit)
                a = middle + 1
            else:
                balanced = above >= enough
                self.sort(middle + 1, b, limit)
                b = middle

    def insertion_sort(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self.less(j, j - 1):
                self.swap(j, j - 1)
                j -= 1

    def sift_down(self, low: int, high: int, first: int) -> None:
        root = low
        while (child := 2 * root + 1) < high:
            if child + 1 < high and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def heap_sort(self, a: int, b: int) -> None:
        length = b - a
        for i in range((length - 1) // 2, -1, -1):
            self.sift_down(i, length, a)
        for i in range(length - 1, -1, -1):
            self.swap(a, a + i)
            self.sift_down(0, i, a)

    def partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Move smaller elements before the pivot, others after it; return whether they were so already."""
        self.swap(a, pivot)
        i, j = self._inward(a, a + 1, b - 1)
        if i > j:
            self.swap(j, a)
            return j, True
        while i <= j:
            self.swap(i, j)
            i, j = self._inward(a, i + 1, j - 1)
        self.swap(j, a)
        return j, False

    def _inward(self, a: int, i: int, j: int) -> tuple[int, int]:
        """Advance past the elements that are on the correct side of the pivot, which is at ``a``."""
        while i <= j and self.less(i, a):
            i += 1
        while i <= j and not self.less(j, a):
            j -= 1
        return i, j

    def partition_equal(self, a: int, b: int, pivot: int) -> int:
        """Move elements equal to the pivot before larger ones; return the index after them."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def partial_insertion_sort(self, a: int, b: int) -> bool:
        """Swap a few pairs; return whether all elements are in order then."""
        i = a + 1
        for _ in range(_MAX_STEPS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < _SHORTEST_SHIFTED:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                for j in range(i - 1, 0, -1):
                    if not self.less(j, j - 1):
                        break
                    self.swap(j, j - 1)
            if b - i >= 2:
                for j in range(i + 1, b):
                    if not self.less(j, j - 1):
                        break
                    self.swap(j, j - 1)
        return False

    def break_patterns(self, a: int, b: int) -> None:
        """Scatter three elements around the middle, by a generator seeded with the length."""
        length = b - a
        if length < 8:
            return
        random = length
        modulus = 1 << length.bit_length()
        middle = a + (length // 4) * 2
        for index in range(middle - 1, middle + 2):
            random ^= random << 13 & _MASK
            random ^= random >> 7
            random ^= random << 17 & _MASK
            other = random & (modulus - 1)
            if other >= length:
                other -= length
            self.swap(index, a + other)

    def choose_pivot(self, a: int, b: int) -> tuple[int, int]:
        """Return a median of three, or of three medians, and a hint about the order of the elements."""
        length = b - a
        swaps = [0]
        i, j, k = a + length // 4, a + length // 4 * 2, a + length // 4 * 3
        if length >= 8:
            if length >= _NINTHER_FROM:
                i, j, k = (self.median(index - 1, index, index + 1, swaps) for index in (i, j, k))
            j = self.median(i, j, k, swaps)
        if swaps[0] == 0:
            return j, _INCREASING
        return j, _DECREASING if swaps[0] == _MAX_SWAPS else _UNKNOWN

    def median(self, i: int, j: int, k: int, swaps: list[int]) -> int:
        i, j = self._ordered(i, j, swaps)
        j, k = self._ordered(j, k, swaps)
        i, j = self._ordered(i, j, swaps)
        return j

    def _ordered(self, i: int, j: int, swaps: list[int]) -> tuple[int, int]:
        if self.less(j, i):
            swaps[0] += 1
            return j, i
        return i, j

    def reverse(self, a: int, b: int) -> None:
        for i, j in zip(range(a, a + (b - a) // 2), range(b - 1, a, -1), strict=False):
            self.swap(i, j)


_TABLE, _KIND, _KIND_BEFORE = slice(0, 8), slice(8, 9), slice(9, 10)


TRANSACTION = ("commit_ts", "table_id")
"""The columns that identify the rows of one table in a transaction."""
ORDER_KEYS = pa.schema([("commit_ts", pa.int64()), ("table_id", pa.int64()), ("txn_order_key", pa.binary())])
NEW_ORDER_KEYS = ORDER_KEYS.append(pa.field("new_txn_order_key", pa.binary()))


def order_keys(rows: EventBatch, large_transactions: Collection[tuple[int, int]]) -> pa.RecordBatch:
    """Return the keys (:data:`ORDER_KEYS`) of the rows in large transactions.

    >>> columns = {"commit_ts": [5, 5, 9], "table_id": [1, 2, 1], "txn_order_key": [b"a", b"b", b"c"]}
    >>> order_keys(pa.record_batch(columns), {(5, 2), (9, 2)}).to_pylist()
    [{'commit_ts': 5, 'table_id': 2, 'txn_order_key': b'b'}]

    :param rows: row events (shape ``EVENT_STREAM``).
    :param large_transactions: commit-ts and physical table id of the transactions; few.
    """
    times = np.unique(np.array([ts for ts, _ in large_transactions], np.int64))
    candidates = rows.select(ORDER_KEYS.names)
    candidates = candidates.filter(pa.array(np.isin(numbers(rows.column("commit_ts")), times)))
    names = zip(*(candidates.column(name).to_pylist() for name in TRANSACTION), strict=True)
    return candidates.filter(pa.array([name in large_transactions for name in names], pa.bool_()))


def order_keys_of_tables(rows: EventBatch, tables: Collection[int]) -> pa.RecordBatch:
    """Return the keys (:data:`ORDER_KEYS`) of the rows of some tables.

    :param rows: row events (shape ``EVENT_STREAM``).
    :param tables: their physical ids.
    """
    own = pc.is_in(rows.column("table_id"), pa.array(sorted(tables), pa.int64()))
    return rows.select(ORDER_KEYS.names).filter(own)


def new_order_keys(keys: pa.RecordBatch) -> pa.RecordBatch:
    """Return the keys of whole transactions with those that replace them (:data:`NEW_ORDER_KEYS`).

    :param keys: :data:`ORDER_KEYS`; the rows of a transaction follow each other.
    """
    starts = np.flatnonzero(first_of_groups(keys, TRANSACTION)).tolist()
    before = keys.column("txn_order_key").to_pylist()
    after = [
        key for start, end in pairwise([*starts, len(before)]) for key in renumbered_keys(before[start:end])
    ]
    return pa.record_batch([*keys.columns, pa.array(after, pa.binary())], schema=NEW_ORDER_KEYS)


def unstable_order_keys(keys: pa.RecordBatch) -> pa.RecordBatch:
    """Return the keys of the transactions with a split update and more rows than Go sorts stably.

    >>> split = [b"12345678\\0\\0", b"12345678\\0\\1"]
    >>> keys = {"commit_ts": [1] * 13 + [2] * 2 + [3] * 13, "table_id": [1] * 28}
    >>> keys["txn_order_key"] = [split[0]] * 12 + [split[1]] * 3 + [split[0]] * 13
    >>> unstable_order_keys(pa.record_batch(keys)).column("commit_ts").to_pylist() == [1] * 13
    True

    :param keys: :data:`ORDER_KEYS`; the rows of a transaction follow each other.
    """
    first = first_of_groups(keys, TRANSACTION)
    groups = np.cumsum(first) - 1
    unstable = (np.bincount(groups) > _SMALL) & (np.bincount(groups, are_split(keys)) > 0)
    return keys.filter(pa.array(unstable[groups]))


def are_split(keys: pa.RecordBatch) -> Flags:
    """Return which rows are halves of split updates.

    :param keys: :data:`ORDER_KEYS`.
    """
    column = keys.column("txn_order_key")
    kinds = (pc.binary_slice(column, part.start, part.stop) for part in (_KIND, _KIND_BEFORE))
    split: Flags = pc.not_equal(*kinds).to_numpy(zero_copy_only=False)
    return split


def with_order_keys(rows: EventBatch, keys: pa.Table) -> EventBatch:
    """Replace ``txn_order_key`` of the rows that have a new key.

    >>> rows = pa.record_batch({"commit_ts": [5, 5, 9], "txn_order_key": [b"a", b"b", b"b"]})
    >>> keys = pa.table({"commit_ts": [5], "txn_order_key": [b"b"], "new_txn_order_key": [b"new"]})
    >>> with_order_keys(rows, keys).column("txn_order_key").to_pylist()
    [b'a', b'new', b'b']

    :param rows: row events (shape ``EVENT_STREAM``) in any order.
    :param keys: the new keys (:data:`NEW_ORDER_KEYS`), each once, in any order.
    :return: the same shape and order of rows.
    """
    concerned = np.isin(numbers(rows.column("commit_ts")), keys.column("commit_ts").to_numpy())
    if not concerned.any():
        return rows
    row = np.flatnonzero(concerned)
    own = pa.Table.from_batches([rows.select(_NAMES).take(pa.array(row))]).append_column("row", pa.array(row))
    new_keys = keys.select([*_NAMES, "new_txn_order_key"])
    joined = own.join(new_keys, [*_NAMES], join_type="inner", use_threads=False).sort_by("row")
    replaced = np.zeros(rows.num_rows, bool)
    replaced[joined.column("row").to_numpy()] = True
    index = rows.schema.get_field_index("txn_order_key")
    new = joined.column("new_txn_order_key").combine_chunks()
    column = pc.replace_with_mask(rows.column(index), pa.array(replaced), new)
    return rows.set_column(index, rows.schema.field(index), column)


_NAMES = ("commit_ts", "txn_order_key")


def renumbered_keys(order_keys: list[bytes]) -> list[bytes]:
    """Return the new ``txn_order_key`` of each row of one table in one transaction."""
    sources = sorted(range(len(order_keys)), key=lambda row: _before_sorting(order_keys[row]))
    before = [order_keys[row] for row in sources]
    is_split = any(key[_KIND] != key[_KIND_BEFORE] for key in before)
    order = go_sorted([key[_KIND][0] for key in before]) if is_split else range(len(before))
    renumbered = [b""] * len(before)
    for number, at in enumerate(order):
        renumbered[sources[at]] = before[at][_TABLE] + number.to_bytes(8, "big")
    return renumbered


def _before_sorting(key: bytes) -> tuple[bytes, bytes]:
    """Return the sort key before Go's sort: the halves of a split are adjacent, the delete first."""
    return key[_KIND_BEFORE] + key[10:], key[_KIND]
