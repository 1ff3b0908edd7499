"""The collections of garbage in a Python worker."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ticdc_producer.spark.worker_daemon import OBJECTS, rare_collections


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(("before", "within"), [(700, OBJECTS), (0, 0), (2 * OBJECTS, 2 * OBJECTS)])
def test_collections_are_rare_within_the_context(thresholds: None, before: int, within: int) -> None:
    gc.set_threshold(before, 10, 10)
    with rare_collections():
        assert gc.get_threshold() == (within, 10, 10)
    assert gc.get_threshold() == (before, 10, 10)
