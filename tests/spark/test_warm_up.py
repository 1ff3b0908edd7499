"""Workers that are warm before the first job."""

from __future__ import annotations

import sys
from importlib import import_module

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.runs.read_session import LOADS
from ticdc_producer.spark import warm_up


def test_a_worker_has_imported_what_it_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1]})
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert list(warm_up._loaded(("colorsys",), iter([batch]))) == [batch]
    assert "colorsys" in sys.modules


@pytest.mark.parametrize("name", LOADS)
def test_what_workers_are_told_to_import_is_there(name: str) -> None:
    assert import_module(name)


def test_nobody_misses_it_if_it_fails(spark: SparkSession) -> None:
    warm_up._warmed(spark, ("no_such_module",))
    assert spark.range(3).count() == 3
