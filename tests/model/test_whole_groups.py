"""Groups of rows over batches."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.column_functions import whole_groups

GROUPS = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([b"", b"a", b"b"])), max_size=20)


@given(GROUPS, st.lists(st.integers(0, 20), max_size=6))
def test_batches_end_with_their_groups_and_lose_no_row(
    keys: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    columns = {
        "number": pa.array(range(len(keys)), pa.int64()),
        "ts": pa.array([ts for ts, _ in keys], pa.int64()),
        "key": pa.array([key for _, key in keys], pa.binary()),
    }
    rows = pa.record_batch(columns)
    bounds = sorted({0, len(keys), *(cut for cut in cuts if cut < len(keys))})
    batches = [rows.slice(start, end - start) for start, end in pairwise(bounds)]
    grouped = [batch.to_pylist() for batch in whole_groups([*batches, rows.slice(0, 0)], ("ts", "key"))]
    assert [row for batch in grouped for row in batch] == rows.to_pylist()
    assert all(_key(before[-1]) != _key(after[0]) for before, after in pairwise(filter(None, grouped)))


def _key(row: dict[str, object]) -> tuple[object, object]:
    return row["ts"], row["key"]


def test_a_group_is_held_back_until_its_end_is_known() -> None:
    batches = [pa.record_batch({"key": pa.array(keys)}) for keys in ([1, 1, 2], [2, 2], [2, 3, 3], [4])]
    grouped = [batch["key"].to_pylist() for batch in whole_groups(batches, ("key",))]
    assert grouped == [[1, 1], [2, 2, 2, 2], [3, 3], [4]]


def test_a_large_batch_is_not_copied_to_join_it_with_the_rows_before() -> None:
    count = 20_000
    first = pa.record_batch({"key": pa.array([1, 2, 2])})
    large = pa.record_batch({"key": pa.array([2, 2, *range(3, count)])})
    head, joint, whole, last = whole_groups([first, large], ("key",))
    assert [batch["key"].to_pylist() for batch in (head, joint, last)] == [[1], [2, 2, 2, 2], [count - 1]]
    assert whole["key"].to_pylist() == [*range(3, count - 1)]
    assert whole["key"].buffers()[1].address == large["key"].buffers()[1].address
