"""Datasets that are read into this process."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ticdc_producer.engine.dataset import Batches, RowLimit
from ticdc_producer.engine.local import LocalEngine

SCHEMA = pa.schema([("n", pa.int64())])


def test_a_dataset_with_too_many_rows_is_not_read_to_its_end() -> None:
    numbers: list[int] = []

    def batches(_part: int) -> Batches:
        for number in range(10):
            numbers.append(number)
            yield pa.record_batch({"n": [number]}, schema=SCHEMA)

    rows = LocalEngine().of_parts(1, batches, SCHEMA)
    with pytest.raises(RowLimit):
        rows.small(3)
    assert numbers == [0, 1, 2, 3]
    assert rows.small(10).num_rows == 10
