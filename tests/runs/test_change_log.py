"""The net changes of generate steps give the same stream as their whole change log."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.runs.test_generate import SCENARIO
from ticdc_producer.runs.change_log import change_log
from ticdc_producer.runs.prepare import prepare
from ticdc_producer.spark.event_stream import ordered_events
from ticdc_producer.spark.row_events import row_events

OVERRIDES = ["steps[1].generate.transactions=40", "steps[1].generate.rows=20"]


def assert_same(spark: SparkSession, scenario: str | Path, overrides: list[str]) -> None:
    job = prepare(scenario, overrides=overrides)
    committed = change_log(spark, job.history)
    short = committed.events(job.stream)
    whole = ordered_events(row_events(committed.changes, job.stream), job.stream)
    assert committed.changes.count() == job.history.row_changes
    assert short.toArrow().equals(whole.toArrow())


def test_rows_change_keys_several_times_in_a_transaction(spark: SparkSession, tmp_path: Path) -> None:
    scenario = tmp_path / "keys.yaml"
    text = SCENARIO.replace("PROTOCOL", "open-protocol")
    scenario.write_text(text.replace("key-changes: 0.2", "key-changes: 0.5\n      changes-per-row: 3"))
    assert_same(spark, scenario, ["steps[1].generate.rows-per-transaction=9"])


def test_reinserted_rows_with_hidden_ids_get_other_ids(spark: SparkSession, tmp_path: Path) -> None:
    scenario = tmp_path / "hidden.yaml"
    text = SCENARIO.replace("PROTOCOL", "open-protocol")
    scenario.write_text(text.replace("PRIMARY KEY,", "PRIMARY KEY NONCLUSTERED,", 1))
    assert_same(spark, scenario, ["steps[1].generate.rows-per-transaction=8"])


@pytest.mark.parametrize("name", ["sysbench", pytest.param("bank", marks=pytest.mark.slow)])
def test_shipped_workloads(spark: SparkSession, name: str) -> None:
    assert_same(spark, name, OVERRIDES)
