"""The short way of generated changes leads to the stream that their whole change log makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.runs.test_generate import SCENARIO
from ticdc_producer.pipeline.event_stream import event_stream
from ticdc_producer.runs.change_log import upstream
from ticdc_producer.runs.prepare import prepare

SMALL = ["steps[1].generate.transactions=40", "steps[1].generate.rows=20"]


def assert_same(spark: SparkSession, scenario: str | Path, sets: list[str]) -> None:
    job = prepare(scenario, sets=sets)
    committed = upstream(spark, job.history)
    short, whole = committed.events(job.stream), event_stream(spark, committed.changes, job.stream)
    assert committed.changes.count() == job.history.row_changes
    assert short.toArrow().equals(whole.toArrow())


def test_rows_change_keys_several_times_in_a_transaction(spark: SparkSession, tmp_path: Path) -> None:
    scenario = tmp_path / "keys.yaml"
    text = SCENARIO.replace("PROTOCOL", "open-protocol")
    scenario.write_text(text.replace("key-changes: 0.2", "key-changes: 0.5\n      changes-per-row: 3"))
    assert_same(spark, scenario, ["steps[1].generate.rows-per-transaction=9"])


def test_rows_have_hidden_ids_and_come_back_with_others(spark: SparkSession, tmp_path: Path) -> None:
    scenario = tmp_path / "hidden.yaml"
    text = SCENARIO.replace("PROTOCOL", "open-protocol")
    scenario.write_text(text.replace("PRIMARY KEY,", "PRIMARY KEY NONCLUSTERED,", 1))
    assert_same(spark, scenario, ["steps[1].generate.rows-per-transaction=8"])


@pytest.mark.parametrize("name", ["sysbench", pytest.param("bank", marks=pytest.mark.slow)])
def test_so_do_shipped_workloads(spark: SparkSession, name: str) -> None:
    assert_same(spark, name, SMALL)
