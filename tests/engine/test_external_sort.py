"""More rows than fit into memory are sorted as few rows are."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ticdc_producer.engine.spool import OrderedRows, divided_rows

SCHEMA = pa.schema([("part", pa.int64()), ("key", pa.binary()), ("number", pa.int64())])
COLUMNS = ("key", "number")
_RANDOM = random.Random(3)


def some_rows(count: int) -> list[pa.RecordBatch]:
    """Batches of rows in no order; keys repeat, and some are NULL."""
    keys = [None, b"", b"a", b"b", b"ba"]
    rows = [{"part": number % 3, "key": _RANDOM.choice(keys), "number": number} for number in range(count)]
    _RANDOM.shuffle(rows)
    return pa.Table.from_pylist(rows, SCHEMA).to_batches(max_chunksize=7)


def in_order(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.take(pc.sort_indices(batch, [(name, "ascending") for name in COLUMNS]))


@pytest.mark.parametrize("most", [1, 500, 1 << 20], ids=["a run per batch", "some runs", "in memory"])
@pytest.mark.parametrize("run_rows", [3, 8192])
def test_all_rows_come_in_order(most: int, run_rows: int) -> None:
    batches = some_rows(200)
    rows = OrderedRows(batches, SCHEMA, COLUMNS, in_order, most, run_rows)
    expected = in_order(pa.concat_batches(batches))
    for _ in range(2):  # they can be read again
        assert pa.concat_batches([*rows]).equals(expected)


def test_no_rows_are_sorted() -> None:
    assert [batch.num_rows for batch in OrderedRows([], SCHEMA, COLUMNS, in_order)] == [0]


def test_many_rows_are_divided_as_few_rows_are() -> None:
    batches = some_rows(200)

    def parts(most: int) -> list[pa.Table]:
        divided = divided_rows(batches, SCHEMA, "part", 4, COLUMNS, in_order, most)
        return [pa.Table.from_batches(rows, SCHEMA) for rows in divided]

    few, many = parts(1 << 20), parts(500)
    assert [rows.num_rows for rows in few] == [67, 67, 66, 0]
    assert all(left.equals(right) for left, right in zip(few, many, strict=True))
