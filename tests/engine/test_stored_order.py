"""Stored rows of a kind that has an order come in it, on both engines."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

import pyarrow as pa
import pytest

from ticdc_producer.engine.dataset import Batches, Engine, Part, Tagged
from ticdc_producer.engine.local import LocalEngine


@pytest.mark.parametrize("name", ["local", "spark"])
def test_a_kind_is_read_in_its_order(name: Literal["local", "spark"], request: pytest.FixtureRequest) -> None:
    def of_part(number: int) -> Batches:  # the workers of Spark cannot import the module of a test
        yield pa.record_batch([pa.array(parts[number])], schema=numbers)

    def in_two_kinds(_part: Part, batches: Batches) -> Generator[Tagged, None, int]:
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            yield "ordered", batch
            yield "others", batch
        return rows

    parts, numbers = [[5, 3], [4, 1], [2]], pa.schema([("number", pa.int64())])
    engine: Engine = LocalEngine()
    if name == "spark":
        from ticdc_producer.engine.spark import SparkEngine

        engine = SparkEngine(request.getfixturevalue("spark"))
    rows = engine.of_parts(len(parts), of_part, numbers)
    kinds = dict.fromkeys(("ordered", "others"), numbers)
    with rows.stored(in_two_kinds, kinds, orders={"ordered": ("number",)}) as stored:
        ordered = pa.Table.from_batches(stored["ordered"].batches(), numbers)
        others = pa.Table.from_batches(stored["others"].batches(), numbers)
        assert ordered.column("number").to_pylist() == [1, 2, 3, 4, 5]
        assert sorted(others.column("number").to_pylist()) == [1, 2, 3, 4, 5]
        assert sorted(stored.results) == [1, 2, 2]
