"""Generated volume goes through the whole pipeline, and its events and rows are as expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.runs.run import run
from ticdc_producer.runs.verify import verify

SCENARIO = """\
version: 1
seed: 3
resolved: {every: 1m}
changefeed:
  sink-uri: "kafka:///t?protocol=PROTOCOL&partition-num=3"
  sink: {dispatchers: [{matcher: ['*.*'], partition: index-value}]}
steps:
  - sql: |
      CREATE TABLE accounts (
        id BIGINT PRIMARY KEY, owner VARCHAR(40) NOT NULL UNIQUE, balance DECIMAL(12,2), opened DATETIME(3),
        rate DOUBLE, kind ENUM('a','b'), photo VARBINARY(50)
      );
      CREATE TABLE audit (id INT PRIMARY KEY, what VARCHAR(20));
      INSERT INTO audit VALUES (1, 'begin');
  - generate:
      table: accounts
      transactions: 40
      rows-per-transaction: 4
      rows: 10
      hot-keys: 0.9
      key-changes: 0.2
  - sql: INSERT INTO audit VALUES (2, 'end');
"""


PROTOCOLS = [
    "open-protocol",
    pytest.param("canal-json&enable-tidb-extension=true", marks=pytest.mark.slow),
    pytest.param("debezium", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_with_a_generate_step_verifies(spark: SparkSession, tmp_path: Path, protocol: str) -> None:
    scenario, out = tmp_path / "accounts.yaml", tmp_path / "out"
    scenario.write_text(SCENARIO.replace("PROTOCOL", protocol))
    statuses: list[str] = []
    report = run(scenario, out=out, state_at=[429918007904436226 + (20_000 << 18)], on_status=statuses.append)
    assert statuses[0] == "scenario accounts: 45 commits, 172 row changes"
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    assert report.verdict.state is not None
    assert report.verdict.state.tables == 2
    rows = (out / "state" / "test.accounts.jsonl").read_text().splitlines()
    assert report.verdict.state.rows == len(rows) + 2
    ids = [int(json.loads(row)["id"]) for row in rows]
    assert ids == sorted(set(ids))
    [earlier] = (out / "state.at").glob("*/test.accounts.jsonl")
    assert earlier.read_text() not in ("", (out / "state" / "test.accounts.jsonl").read_text())


CHANGED = """\
version: 1
resolved: {every: 2s}
clock: {every: 100ms}
changefeed:
  sink-uri: "kafka:///t?protocol=PROTOCOL&partition-num=3"
  sink: {dispatchers: [{matcher: ['*.*'], partition: index-value}]}
steps:
  - sql: CREATE TABLE t (id BIGINT PRIMARY KEY, n INT NOT NULL, note VARCHAR(40));
  - generate:
      table: t
      rows: 10
      transactions: 80
      rows-per-transaction: 3
      ddl: {every: 8, KINDS}
"""
KINDS = {
    "all": "add-column: 2, drop-column: 1, add-index: 1, drop-index: 1, rename-table: 1, truncate-table: 1",
    "indexes and truncation": "add-index: 1, drop-index: 1, truncate-table: 1",
}


@pytest.mark.parametrize(
    ("protocol", "kinds"),
    [
        ("open-protocol", "indexes and truncation"),
        pytest.param("open-protocol", "all", marks=pytest.mark.slow),
        pytest.param("craft", "all", marks=pytest.mark.slow),
        pytest.param("simple", "all", marks=pytest.mark.slow),
        pytest.param("debezium&output-ddl=true&enable-tidb-extension=true", "all", marks=pytest.mark.slow),
        ("canal-json&enable-tidb-extension=true", "all"),
    ],
)
def test_ddl_between_generated_transactions_verifies(
    spark: SparkSession, tmp_path: Path, protocol: str, kinds: str
) -> None:
    scenario, out = tmp_path / "changed.yaml", tmp_path / "out"
    scenario.write_text(CHANGED.replace("PROTOCOL", protocol).replace("KINDS", KINDS[kinds]))
    report = run(scenario, out=out, state_at=[429918007904436226 + (4_000 << 18)])
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    assert report.verdict.of_severity("error", "warning") == []
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    assert len({event["commit_ts"] for event in events if event["kind"] == "ddl"}) == 1 + 9
    assert report.verdict.state is not None
    assert report.verdict.state.rows
    assert not report.verdict.state.not_compared


@pytest.mark.slow
def test_rows_of_another_seed_are_found(spark: SparkSession, tmp_path: Path) -> None:
    scenario, out = tmp_path / "accounts.yaml", tmp_path / "out"
    scenario.write_text(SCENARIO.replace("PROTOCOL", "open-protocol"))
    run(scenario, out=out)
    assert verify(folder=out, scenario=scenario).ok
    verdict = verify(folder=out, scenario=scenario, overrides=["seed=4"])
    assert not verdict.ok
    assert verdict.state is not None
    assert verdict.state.missing > 0
    assert verdict.comparison is not None
    assert not verdict.comparison.ok


FEW = "steps[1].generate.transactions=20"
WORKLOADS = {
    "sysbench": ([FEW, "steps[1].generate.rows=20"], 80),
    "bank": ([FEW], 100),
    "orders": ([FEW], 330),
    "all-types": ([FEW, "steps[1].generate.rows=20"], 0),
    "large-rows": ([FEW], 0),
    "wide": ([FEW], 0),
    "ddl-mix": ([FEW, *(f"steps[{step}].generate.transactions=20" for step in (3, 5, 7))], 0),
}
"""Small sizes, and the rows at the end where they are known."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_shipped_workloads_verify(spark: SparkSession, tmp_path: Path, name: str) -> None:
    overrides, rows = WORKLOADS[name]
    report = run(name, out=tmp_path / "out", overrides=overrides)
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    assert not report.skipped
    assert report.verdict.state is not None
    if rows:
        assert report.verdict.state.rows == rows


@pytest.mark.slow
def test_large_rows_are_on_both_sides_of_the_limit(spark: SparkSession, tmp_path: Path) -> None:
    run("large-rows", out=tmp_path / "out", overrides=[FEW])
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    rows = [event for event in events if event["kind"] == "row"]
    assert {bool(event.get("handle_key_only")) for event in rows} == {True, False}
