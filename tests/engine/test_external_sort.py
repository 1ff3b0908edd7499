"""More rows than fit into memory are sorted as few rows are."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ticdc_producer.engine.external_sort import SORTED_ROWS, OrderedRows, divided_rows

SCHEMA = pa.schema([("part", pa.int64()), ("key", pa.binary()), ("number", pa.int64())])
COLUMNS = ("key", "number")
_RANDOM = random.Random(3)


def some_rows(count: int) -> list[pa.RecordBatch]:
    """Batches of rows in no order; keys repeat, and some are NULL."""
    keys = [None, b"", b"a", b"b", b"ba"]
    rows = [{"part": number % 3, "key": _RANDOM.choice(keys), "number": number} for number in range(count)]
    _RANDOM.shuffle(rows)
    return pa.Table.from_pylist(rows, SCHEMA).to_batches(max_chunksize=7)


def order(rows: pa.Table, *, columns: tuple[str, ...] = COLUMNS) -> npt.NDArray[np.int64]:
    """The numbers of rows in their order."""
    numbers = pc.sort_indices(rows, [(name, "ascending") for name in columns])
    return numbers.to_numpy().astype(np.int64)


def joined(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, SCHEMA).combine_chunks()


@pytest.mark.parametrize("most", [1, 500, 1 << 20], ids=["a run per batch", "some runs", "in memory"])
@pytest.mark.parametrize("run_rows", [3, 8192])
def test_all_rows_come_in_order(most: int, run_rows: int) -> None:
    batches = some_rows(200)
    rows = OrderedRows(batches, SCHEMA, COLUMNS, order, most, run_rows)
    expected = joined(batches).take(pa.array(order(joined(batches))))
    for _ in range(2):  # they can be read again
        assert joined(rows).equals(expected)


@pytest.mark.parametrize("most", [500, 2000, 1 << 20])
def test_rows_of_partitions_that_are_in_order_make_runs_in_order(most: int) -> None:
    """A run ends where the next partition begins, so that no run has to be sorted."""
    batches = []
    for part in range(3):
        numbers = pa.array(range(part, 300, 3))
        rows = pa.table([pa.repeat(part, 100), pa.repeat(b"k", 100), numbers], schema=SCHEMA)
        batches += rows.to_batches(max_chunksize=7)
    sorted_runs: list[bool] = []

    def noted(table: pa.Table) -> npt.NDArray[np.int64]:
        in_order = order(table)
        sorted_runs.append(bool((np.diff(in_order) > 0).all()))
        return in_order

    ordered = OrderedRows(batches, SCHEMA, COLUMNS, noted, most)
    assert all(sorted_runs), "before they are merged"
    assert joined(ordered).column("number").to_pylist() == [*range(300)]


@pytest.mark.parametrize("most", [1 << 20, 1 << 30], ids=["runs", "in memory"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_no_batch_of_sorted_rows_is_large(most: int, shuffled: bool) -> None:
    numbers = np.arange(3 * SORTED_ROWS)
    if shuffled:
        np.random.default_rng(3).shuffle(numbers)
    rows = pa.table({"part": numbers, "key": pa.repeat(b"k", len(numbers)), "number": numbers})
    batches = rows.cast(SCHEMA).to_batches(max_chunksize=1000)
    in_order = [*OrderedRows(batches, SCHEMA, COLUMNS, order, most)]
    assert max(batch.num_rows for batch in in_order) <= SORTED_ROWS
    assert joined(in_order).column("number").to_pylist() == [*range(3 * SORTED_ROWS)]


def test_no_rows_are_sorted() -> None:
    assert [batch.num_rows for batch in OrderedRows([], SCHEMA, COLUMNS, order)] == [0]


def test_many_rows_are_divided_as_few_rows_are() -> None:
    batches = some_rows(200)

    by_part = partial(order, columns=("part", *COLUMNS))

    def parts(most: int) -> list[pa.Table]:
        divided = divided_rows(batches, SCHEMA, "part", 4, COLUMNS, by_part, most)
        return [joined(rows) for rows in divided]

    few, many = parts(1 << 20), parts(500)
    assert [rows.num_rows for rows in few] == [67, 67, 66, 0]
    assert all(left.equals(right) for left, right in zip(few, many, strict=True))


@pytest.mark.parametrize("batch_rows", [7, 200])
def test_parts_are_read_at_the_same_time(batch_rows: int) -> None:
    """One batch of each part in turn: the parts share runs."""
    rows = joined(some_rows(200)).to_batches(max_chunksize=batch_rows)
    by_part = partial(order, columns=("part", *COLUMNS))
    few, many = (divided_rows(rows, SCHEMA, "part", 3, COLUMNS, by_part, most) for most in (1 << 20, 500))
    alternating = [*zip_longest(*many)]
    for part, expected in enumerate(few):
        batches = [row[part] for row in alternating if row[part] is not None]
        assert joined(batches).equals(joined(expected))


def test_parts_of_many_rows_are_not_in_memory_together() -> None:
    keys = pa.repeat(b"k" * 1000, 1000)

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 160_000, 1000):
            numbers = np.arange(start, start + 1000)
            yield pa.record_batch([numbers % 8, keys, numbers], schema=SCHEMA)

    before = pa.total_allocated_bytes()
    by_part = partial(order, columns=("part", *COLUMNS))
    parts = divided_rows(batches(), SCHEMA, "part", 8, COLUMNS, by_part, 32 << 20)
    for number, part in enumerate(parts):  # most of their rows are read from files
        rows = [row for batch in part for row in batch.column("number").to_pylist()]
        assert rows == [*range(number, 160_000, 8)]
    assert pa.total_allocated_bytes() - before < 100 << 20  # of 160 MB
