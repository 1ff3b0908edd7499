"""Workers that have imported modules before the first job."""

from __future__ import annotations

import sys
from importlib import import_module

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ticdc_producer.runs.read_session import PRELOADED_MODULES
from ticdc_producer.spark import warm_up


def test_a_worker_imports_the_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.RecordBatch.from_pydict({"id": [1]})
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert list(warm_up._import_modules(("colorsys",), iter([batch]))) == [batch]
    assert "colorsys" in sys.modules


@pytest.mark.parametrize("name", PRELOADED_MODULES)
def test_preloaded_modules_exist(name: str) -> None:
    assert import_module(name)


def test_errors_of_the_warm_up_are_ignored(spark: SparkSession) -> None:
    warm_up._start_workers(spark, ("no_such_module",))
    assert spark.range(3).count() == 3
