"""Stored rows of a kind that has an order come in it, on both engines."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

import pyarrow as pa
import pytest

from ticdc_producer.engine.dataset import Batches, Engine, Part, Tagged
from ticdc_producer.engine.local import LocalEngine

NUMBERS = pa.schema([("number", pa.int64())])
PARTS = ([5, 3], [4, 1], [2])


def of_part(number: int) -> Batches:
    yield pa.record_batch([pa.array(PARTS[number])], schema=NUMBERS)


def in_two_kinds(_part: Part, batches: Batches) -> Generator[Tagged, None, int]:
    """Yield each row in two kinds, and return their number."""
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        yield "ordered", batch
        yield "others", batch
    return rows


@pytest.mark.parametrize("name", ["local", "spark"])
def test_a_kind_is_read_in_its_order(name: Literal["local", "spark"], request: pytest.FixtureRequest) -> None:
    engine: Engine = LocalEngine()
    if name == "spark":
        from ticdc_producer.engine.spark import SparkEngine

        engine = SparkEngine(request.getfixturevalue("spark"))
    rows = engine.of_parts(len(PARTS), of_part, NUMBERS)
    kinds = dict.fromkeys(("ordered", "others"), NUMBERS)
    with rows.stored(in_two_kinds, kinds, orders={"ordered": ("number",)}) as stored:
        ordered = pa.Table.from_batches(stored["ordered"].batches(), NUMBERS)
        others = pa.Table.from_batches(stored["others"].batches(), NUMBERS)
        assert ordered.column("number").to_pylist() == [1, 2, 3, 4, 5]
        assert sorted(others.column("number").to_pylist()) == [1, 2, 3, 4, 5]
        assert sorted(stored.results) == [1, 2, 2]
